"""git as a program that does what it is asked and nothing that a repository could add to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from toolcrib.toolsets.self_evolution.services import Confine, Processes
from toolcrib.values.noun import frozen
from toolcrib.values.process import MIB, End, Ended, Job
from toolcrib.values.refusal import ConfigError, Reason, Refusal

MOST_OUTPUT = 16 * MIB
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.editor=false",
    "core.pager=cat", "core.askPass=false", "core.alternateRefsCommand=true", "core.quotePath=false",
    "credential.helper=", "commit.gpgSign=false", "push.gpgSign=false", "gc.auto=0", "maintenance.auto=false",
    "submodule.recurse=false", "push.recurseSubmodules=no", "uploadpack.packObjectsHook=true",
)  # fmt: skip
"""No hooks, no monitors, no editors, no helpers for credentials or signatures, no work in the background."""
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false",
    "GIT_EDITOR": "false", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
}  # fmt: skip
PROTOCOLS = "file:https:ssh"
IDENTITY = "agent@toolcrib.invalid"
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_DRIVER_KEYS = {"clean": "", "smudge": "", "process": "", "required": "false"}


@frozen
class Git:
    """One repository. Every command runs with an environment and settings of ours; the repository's own add nothing."""

    repository: str
    processes: Processes
    confine: Confine
    environment: Mapping[str, str]
    timeout: float
    program: str = field(init=False)

    def __post_init__(self) -> None:
        found = shutil.which("git", path=self.environment.get("PATH", ""))
        if found is None:
            raise ConfigError("self evolution needs git, and there is none on the search path")
        object.__setattr__(self, "program", found)
        if not os.path.isdir(self.folder) or os.path.islink(self.folder):
            raise ConfigError(
                f"{self.repository} is not a git repository of its own: there is no folder .git in it. Give "
                "self_evolution.repository the main folder of a clone, not one inside it nor a linked work tree"
            )

    @property
    def folder(self) -> str:
        return os.path.join(self.repository, ".git")

    def branch(self) -> str | None:
        """The branch that is checked out; None when none is. Read from the file, so that targets can be declared."""
        try:
            with open(os.path.join(self.folder, "HEAD"), encoding="utf-8") as file:
                held = file.read(1_000)
        except (OSError, UnicodeDecodeError) as error:
            raise Refusal(Reason.CONFLICT, f"the repository's HEAD cannot be read: {error}") from error
        return held.removeprefix("ref: refs/heads/").strip() if held.startswith("ref: refs/heads/") else None

    async def run(self, *words: str, stdin: bytes = b"", variables: Mapping[str, str] = NO_VARIABLES) -> bytes:
        """The output of a git command; one that fails is a refusal with git's own words."""
        ended, output = await self._run(words, stdin, variables)
        if ended.end is not End.EXITED or ended.code != 0:
            raise failed(words, ended)
        return output

    async def ask(self, *words: str) -> str | None:
        """One line of output; None when git says that there is none."""
        ended, output = await self._run(words, b"", NO_VARIABLES)
        if ended.end is not End.EXITED:
            raise failed(words, ended)
        return output.decode(errors="replace").strip() if ended.code == 0 else None

    async def push(self, confine: Confine, url: str, refspec: str) -> None:
        """Send one commit to one place. The pack program is named, so that no setting of the repository names it."""
        rewriting = [name for name in await self._settings() if name.startswith("url.")]
        if rewriting:
            message = f"the repository's settings rewrite addresses ({rewriting[0]}); remove that before a push"
            raise Refusal(Reason.CONFLICT, message)
        words = ("push", "--porcelain", "--no-verify", "--receive-pack=git-receive-pack", url, refspec)
        ended, _ = await self._run(words, b"", {"GIT_ALLOW_PROTOCOL": PROTOCOLS}, confine)
        if ended.end is not End.EXITED or ended.code != 0:
            raise failed(("push",), ended)

    async def _run(
        self, words: tuple[str, ...], stdin: bytes, more: Mapping[str, str], confine: Confine | None = None
    ) -> tuple[Ended, bytes]:
        drivers = [] if words[0] == "config" else await self._disarmed()
        settings = [part for setting in (*SETTINGS, *drivers) for part in ("-c", setting)]
        output = bytearray()

        async def take(chunk: bytes) -> None:
            if len(output) < MOST_OUTPUT:
                output.extend(chunk)

        job = Job(
            executable=self.program,
            argv=("git", *settings, *words),
            cwd=self.repository,
            environment={**self._environment(), **more},
            timeout=self.timeout,
            stdin=stdin,
            confinement=(confine or self.confine)(self.program, self.repository),
        )
        ended = await self.processes.run(job, stdout=take)
        if len(output) > MOST_OUTPUT:
            message = f"git {words[0]} answered with more than {MOST_OUTPUT // MIB} MiB; that is too much to go on with"
            raise Refusal(Reason.VALIDATION_ERROR, message)
        return ended, bytes(output)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in self.environment.items() if not name.startswith(("GIT_", "SSH_"))}
        return {**kept, **ENVIRONMENT, "GIT_DIR": self.folder, "GIT_WORK_TREE": self.repository}

    async def _settings(self) -> list[str]:
        listed = await self.run("config", "--list", "--name-only", "-z")
        return [name.decode(errors="surrogateescape") for name in listed.split(b"\0") if name]

    async def _disarmed(self) -> list[str]:
        """Settings that leave every filter of the repository without a program."""
        names = [name.removeprefix("filter.") for name in await self._settings() if name.startswith("filter.")]
        drivers = {name.rpartition(".")[0] for name in names}
        if odd := [driver for driver in drivers if "=" in driver]:
            raise Refusal(Reason.CONFLICT, f"the repository has a filter named {odd[0]!r}; rename it, without the '='")
        return [f"filter.{driver}.{key}={value}" for driver in sorted(drivers) for key, value in _DRIVER_KEYS.items()]


def failed(words: tuple[str, ...], ended: Ended) -> Refusal:
    """What git said when it could not do as it was asked."""
    said = ended.stderr.text().strip()[-1_000:] or f"exit code {ended.code}"
    if ended.end is not End.EXITED:
        return Refusal(Reason.TIMEOUT, f"git {words[0]} did not come to its end ({ended.end}): {said}")
    if ".lock" in said:
        return Refusal(Reason.CONFLICT, f"another git process is at work in the repository; try again: {said}")
    return Refusal(Reason.CONFLICT, f"git {words[0]} failed: {said}")
