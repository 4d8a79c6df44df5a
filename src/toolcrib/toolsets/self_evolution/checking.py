"""self_evolution.check: the operator's checks, run as they are configured, and the result on record."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from functools import partial

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.policy.commands import Command, CommandTarget, Whence, command_target
from toolcrib.toolsets.self_evolution.records import CHECK, find
from toolcrib.toolsets.self_evolution.repository import Repository
from toolcrib.toolsets.self_evolution.services import EvolutionServices
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.process import End, Ended, Job
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments
from toolcrib.workspace.answers import fact_answer

SHOWN = 3_000
GRACE_SECONDS = 5.0
_UNSEEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def add_checking(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    """Add the tool that runs the configured checks."""

    @build.write(
        targets=partial(_targets, services),
        category="Workflow",
        tags={"dangerous"},
        timeout=max(1, len(services.checks)) * services.timeout + GRACE_SECONDS,
    )
    async def check(context: ToolContext) -> ToolReturn:
        """Run the configured checks on the files as they are. A pass counts for a proposal if all is committed."""
        if not services.checks:
            raise Refusal(Reason.CONFIG_ERROR, "there are no checks: self_evolution.checks names none")
        branch, head = repository.own_branch(), await repository.head()
        clean = all(how == "??" for how in (await repository.changed()).values())
        told: list[str] = []
        passed = True
        for target in context.targets:
            ended = await services.processes.run(_job(services, target))
            passed = passed and ended.end is End.EXITED and ended.code == 0
            told.append(_told(target.value, ended))
        facts: JsonObject = {"branch": branch, "commit": head, "passed": passed, "clean": clean}
        if clean and head == await repository.head():
            record = await find(context, CHECK, f"{repository.key}:{head}")
            record.put(context, facts)
        context.emit("self_evolution_checked", facts)
        return fact_answer("\n\n".join([*told, _summary(passed, clean)]), facts)


def _targets(services: EvolutionServices, arguments: Arguments) -> Sequence[Target]:
    return [_target(services, words) for words in services.checks]


def _target(services: EvolutionServices, words: tuple[str, ...]) -> CommandTarget:
    """A check as a command: operators' command rules speak about it like about any other."""
    root, first = services.repository, words[0]
    usual = shutil.which(os.path.basename(first), path=services.environment.get("PATH", ""))
    found = shutil.which(os.path.normpath(os.path.join(root, first))) if "/" in first else usual
    if found is None:
        return command_target(shlex.join(words), (Command(words, None, usual, None, Whence.NOWHERE, root),))
    real = os.path.realpath(found)
    inside = any(path == root or path.startswith(f"{root}/") for path in (found, real))
    whence = Whence.WORKSPACE if inside else Whence.SYSTEM
    return command_target(shlex.join(words), (Command(words, found, usual, real, whence, root),))


def _job(services: EvolutionServices, target: Target) -> Job:
    command = target.commands[0] if isinstance(target, CommandTarget) else None
    if command is None or command.executable is None:
        message = f"there is no program for the check {target.value!r}; see self_evolution.checks"
        raise Refusal(Reason.FILE_NOT_FOUND, message)
    return Job(
        executable=command.executable,
        argv=command.words,
        cwd=services.repository,
        environment=services.environment,
        timeout=services.timeout,
        confinement=services.confine(command.executable, services.repository),
    )


def _told(command: str, ended: Ended) -> str:
    output = _UNSEEN.sub("", f"{ended.stdout.text()}\n{ended.stderr.text()}").strip()
    if ended.end is End.EXITED and ended.code == 0:
        return f"passed: {command} ({ended.seconds:.1f} s)"
    how = f"exit code {ended.code}" if ended.end is End.EXITED else ended.end.value.replace("_", " ")
    return f"FAILED: {command} ({how}, {ended.seconds:.1f} s)\n{output[-SHOWN:]}"


def _summary(passed: bool, clean: bool) -> str:
    if not passed:
        return "[not all checks passed]"
    return "[all checks passed]" if clean else "[all checks passed, on changes that are in no commit yet]"
