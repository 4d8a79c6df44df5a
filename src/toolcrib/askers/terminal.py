"""The asker at a terminal: everything about the call, three choices, and no for anything but a clear yes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from toolcrib.askers.visible import visible
from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest

ANSWERS = {"o": Answer.ALLOW_ONCE, "s": Answer.ALLOW_FOR_SESSION, "d": Answer.DENY}
LONGEST_ANSWER = 1_024


@dataclass(frozen=True, slots=True)
class TerminalAsker:
    """Asks on `screen` and reads the answer from `keyboard`; where either is no terminal, nobody can be asked."""

    keyboard: TextIO
    screen: TextIO

    async def __call__(self, request: PermissionRequest) -> PermissionDecision:
        """The answer of the person at the terminal."""
        if not (self.keyboard.isatty() and self.screen.isatty()):
            return PermissionDecision(
                Answer.DENY, "nobody can be asked without a terminal; a rule in config.toml could allow it"
            )
        typed = await self._answer(question(request))
        if typed is None:
            self.screen.write("\n")
            return PermissionDecision(Answer.DENY, "the question was left without an answer")
        answer = ANSWERS.get(typed.strip().lower())
        if answer is None:
            return PermissionDecision(Answer.DENY, f"{visible(typed.strip()[:40])!r} is not one of the choices")
        return PermissionDecision(answer)

    async def _answer(self, asked: str) -> str | None:
        """The line that is typed after the question; None at the end of input or when the person interrupts."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str | None] = loop.create_future()
        descriptor = self.keyboard.fileno()

        def settle(line: str | None) -> None:
            if not answered.done():
                answered.set_result(line)

        def read() -> None:
            # A terminal hands over whole lines; one that does not end in a newline was ended by Ctrl-D.
            try:
                typed = os.read(descriptor, LONGEST_ANSWER).decode("utf-8", "replace")
            except OSError:  # the terminal is gone
                typed = ""
            settle(typed if typed.endswith("\n") else None)

        # Ready to listen before the question stands there; what was typed until then cannot be an answer to it.
        with _interrupts(loop, lambda: settle(None)):
            loop.add_reader(descriptor, read)
            try:
                termios.tcflush(descriptor, termios.TCIFLUSH)
                self.screen.write(asked)
                self.screen.flush()
                return await answered
            finally:
                loop.remove_reader(descriptor)


def question(request: PermissionRequest) -> str:
    """All that a person needs to decide, with nothing in it that a terminal would act on."""
    origin = request.origin
    facts = [
        ("effect", f"{request.effect.value}, DANGEROUS" if request.dangerous else request.effect.value),
        *(("target", _target(target.kind.value, target.value, target.marks)) for target in request.targets),
        ("host", request.network_host or ""),
        ("folder", request.cwd or ""),
        ("environment", request.environment),
        ("hooks", request.hook_summary),
        ("tags", ", ".join(sorted(request.tags))),
        ("asked by", f"agent {origin.agent_id} in session {origin.session_id}"),
        ("because", request.because),
        ("rule", request.rule),
    ]
    lines = [*_beside("arguments", _arguments(request.arguments))]
    for name, value in facts:
        lines += _beside(name, [value]) if value else []
    scope = (
        f"for {request.grant_scope}" if request.grant_scope else "this call only, there is nothing to remember it by"
    )
    choices = f"  o  once\n  s  for this session ({visible(scope)})\n  d  deny"
    tool = visible(request.tool)
    return "\n".join([f"\n{tool} asks for permission:", *lines, f"Allow {tool}?", choices, "o, s or d: "])


def _beside(name: str, lines: list[str]) -> list[str]:
    """Lines with a name beside the first. A newline inside one is shown, so that no value can pass for a line."""
    return [f"  {label:<12}{visible(line)}" for label, line in zip([name, *[""] * len(lines)], lines, strict=False)]


def _arguments(text: str) -> list[str]:
    """The arguments, one per line; text that does not parse was cut, and that is said."""
    try:
        arguments: object = json.loads(text)
    except ValueError:
        return [text, "(cut here: there is more than can be shown)"]
    return json.dumps(arguments, indent=2, ensure_ascii=False).split("\n")


def _target(kind: str, value: str, marks: frozenset[str]) -> str:
    marked = f" ({', '.join(sorted(marks))})" if marks else ""
    return f"{kind} {value}{marked}"


@contextmanager
def _interrupts(loop: asyncio.AbstractEventLoop, heard: Callable[[], None]) -> Generator[None, None, None]:
    """While the question stands, Ctrl-C answers it; before and after it means what it always does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, heard)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
