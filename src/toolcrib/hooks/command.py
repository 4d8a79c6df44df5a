"""Hooks as commands: the occasion on standard input, the answer on standard output, the exit code as a verdict."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping

from toolcrib.hooks.declared import BadAnswer, answer_of
from toolcrib.ports import HookAnswer, HookVerdict
from toolcrib.values.json import JsonError, JsonObject, canonical, parse_json
from toolcrib.values.noun import frozen
from toolcrib.values.process import End, Ended, Job

MOST_OUTPUT = 64 * 1024
DENY_CODE = 2
GRACE = 1.0
Run = Callable[[Job], Awaitable[Ended]]


@frozen
class CommandWay:
    """Runs a program without a shell. Exit code 0: as it answers; 2: denied; any other: it failed."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    timeout: float
    run: Run

    async def __call__(self, occasion: JsonObject) -> HookAnswer:
        ended = await self.run(self._job(canonical(occasion).encode()))
        if ended.end is not End.EXITED:
            raise BadAnswer(f"{self.argv[0]} was ended: {ended.end.value}")
        if ended.code == DENY_CODE:
            return HookAnswer(HookVerdict.DENY, _reason(ended))
        if ended.code != 0:
            raise BadAnswer(f"{self.argv[0]} ended with exit code {ended.code}: {_words(ended.stderr.text())}")
        return _answer(ended)

    def _job(self, stdin: bytes) -> Job:
        # Whoever asks the hook holds the time limit and kills the process with its group; this one is a backstop.
        return Job(
            executable=resolved(self.argv[0], self.environment),
            argv=self.argv,
            cwd=self.cwd,
            environment=self.environment,
            timeout=self.timeout + GRACE,
            stdin=stdin,
            keep_head=MOST_OUTPUT,
            keep_tail=0,
        )


def resolved(program: str, environment: Mapping[str, str]) -> str:
    """The program as a path; BadAnswer when there is none."""
    if os.sep in program and not os.path.isabs(program):
        raise BadAnswer(f"{program} is a relative path; write the whole path, or a name that is in PATH")
    found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        raise BadAnswer(f"there is no program {program}")
    return os.path.realpath(found)


def _answer(ended: Ended) -> HookAnswer:
    if ended.stdout.dropped:
        raise BadAnswer(f"the answer is longer than {MOST_OUTPUT // 1024} KiB")
    written = ended.stdout.head.strip()
    if not written:
        return HookAnswer()
    try:
        return answer_of(parse_json(written))
    except JsonError as error:
        raise BadAnswer(f"the answer is {error}: {_words(written.decode(errors='replace'))}") from error


def _reason(ended: Ended) -> str:
    """Why a command denies: the reason in its answer, else what it said on standard error."""
    try:
        reason = _answer(ended).reason
    except BadAnswer:
        reason = ""
    return reason or _words(ended.stderr.text())


def _words(text: str) -> str:
    return " ".join(text.split())[:300]
