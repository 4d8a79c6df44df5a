"""A definition as a tool: what a call would run is declared before it is permitted, and run as it was declared."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Protocol

from toolcrib.policy.commands import CommandTarget
from toolcrib.policy.commands.command import Command
from toolcrib.policy.commands.profiles import PROFILES
from toolcrib.policy.commands.reading import read_command
from toolcrib.sources.declarative.answer import answer
from toolcrib.sources.declarative.definition import Definition
from toolcrib.sources.declarative.template import Word, fill_words
from toolcrib.values.context import ToolContext
from toolcrib.values.json import canonical
from toolcrib.values.last_line import LastLine
from toolcrib.values.noun import frozen
from toolcrib.values.process import Confinement, Ended, Job, Sink
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.spec import Source, ToolSpec, ToolType
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Tool

GRACE_SECONDS = 3.0
"""How much longer the counter waits than the command may run: the command's own limit must come first."""
MOST_TAIL = 16 * 1024


class RunJob(Protocol):
    """Runs a job to its end, with everything it started."""

    def __call__(self, job: Job, *, stderr: Sink) -> Awaitable[Ended]: ...


@frozen(kw_only=True)
class CommandDesk:
    """What a command needs from outside. The folder in `declare` is seen from the project; None is the project."""

    declare: Callable[[tuple[str, ...], str | None], Sequence[Target]]
    declare_line: Callable[[str, str | None], Sequence[Target]]
    folder: Callable[[str | None], str]
    environment: Callable[[Iterable[str]], Mapping[str, str]]
    confine: Callable[[str, str], Confinement | None]
    run: RunJob
    shell: str = "/bin/sh"


def declared_tool(definition: Definition, desk: CommandDesk) -> Tool:
    """The tool of a definition; a definition that changes by one byte that matters is another contract."""
    spec = ToolSpec(
        name=definition.name,
        description=definition.description,
        input_schema=definition.input_schema,
        effect=definition.effect,
        tags=definition.tags,
        category="Shell",
        tool_type=ToolType.DECLARATIVE,
        timeout=definition.timeout_ms / 1000 + GRACE_SECONDS,
        source=Source("declarative", PurePath(definition.place).name),
        metadata={
            "place": definition.place,
            "command": definition.command,
            "environment": ", ".join(sorted(desk.environment(definition.env_allowlist))),
        },
    )
    return Tool(
        spec,
        partial(_call, definition, desk),
        targets=partial(_targets, definition, desk),
        implementation=partial(_implementation, definition),
    )


def _targets(definition: Definition, desk: CommandDesk, arguments: Arguments) -> Sequence[Target]:
    """What a call would run: the program with its words, or the line with every value quoted in its place."""
    if definition.line is None:
        words = fill_words(definition.words, arguments, definition.properties, definition.command)
        found = desk.declare((definition.command, *words), definition.working_dir)
        return [_vouched(each, definition) for each in found] if definition.is_plain_read else found
    words = fill_words(definition.words, arguments, definition.properties)
    values = definition.line.values(arguments, definition.properties)
    if words:
        return desk.declare(_shell_words(definition, desk, words, values), definition.working_dir)
    return desk.declare_line(definition.line.shown(values), definition.working_dir)


def _vouched(target: Target, definition: Definition) -> Target:
    """The operator's word for the command, as long as the values make it do no more than it would without them."""
    if not isinstance(target, CommandTarget) or any(_exceeds(definition, each) for each in target.commands):
        return target
    return replace(target, declared=definition.place)


def _exceeds(definition: Definition, command: Command) -> bool:
    """Whether a program whose words are known (a script of sed, an address of curl) objects to these values alone."""
    if not read_command(command).trouble or PROFILES.get(command.program) is None:
        return False
    plain = (replace(command, words=(definition.command, *words)) for words in _plain_words(definition.words))
    return any(not read_command(each).trouble for each in plain)


def _plain_words(words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """The words of a definition with values that mean no harm to anybody: a name, a number, a step that prints."""
    for value in ("x", "1", "p", "."):
        yield tuple("".join(part if isinstance(part, str) else value for part in word.parts) for word in words)


async def _call(definition: Definition, desk: CommandDesk, context: ToolContext, arguments: Arguments) -> ToolReturn:
    job, line = _job(definition, desk, context, arguments), LastLine()

    async def log(chunk: bytes) -> None:
        line.take(chunk)
        if said := "".join(filter(str.isprintable, line.told())):
            context.progress(said)

    return answer(definition, await desk.run(job, stderr=log))


def _job(definition: Definition, desk: CommandDesk, context: ToolContext, arguments: Arguments) -> Job:
    folder = desk.folder(definition.working_dir)
    executable, argv = _program(definition, desk, context, arguments)
    tail = min(MOST_TAIL, definition.stdout_limit_bytes // 4)
    return Job(
        executable=executable,
        argv=argv,
        cwd=folder,
        environment=desk.environment(definition.env_allowlist),
        timeout=definition.timeout_ms / 1000,
        stdin=canonical(arguments).encode() + b"\n",
        confinement=desk.confine(executable, folder),
        keep_head=definition.stdout_limit_bytes - tail,
        keep_tail=tail,
    )


def _program(
    definition: Definition, desk: CommandDesk, context: ToolContext, arguments: Arguments
) -> tuple[str, tuple[str, ...]]:
    """The file that was declared, with its words; a shell gets the script and, apart from it, the values."""
    if definition.line is not None:
        words = fill_words(definition.words, arguments, definition.properties)
        values = definition.line.values(arguments, definition.properties)
        return desk.shell, _shell_words(definition, desk, words, values)
    declared = next(target for target in context.targets if isinstance(target, CommandTarget))
    command = declared.commands[0]
    if command.executable is None:
        message = f"there is no program {definition.command!r}: it is not on the search path, or not executable"
        raise Refusal(Reason.FILE_NOT_FOUND, message, {"program": definition.command})
    return command.executable, command.words


def _shell_words(
    definition: Definition, desk: CommandDesk, words: tuple[str, ...], values: tuple[str, ...]
) -> tuple[str, ...]:
    script = "" if definition.line is None else definition.line.script
    return (desk.shell, "-c", script, definition.name, *words, *values)


def _implementation(definition: Definition) -> str:
    """Everything the file says, without regard to its layout."""
    return hashlib.sha256(canonical(definition.written).encode()).hexdigest()
