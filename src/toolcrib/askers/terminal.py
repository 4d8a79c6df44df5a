"""The asker at a terminal: everything about the call, three keys, and no for anything but a clear yes."""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO

from toolcrib.askers.deny import way_out
from toolcrib.askers.question import choices_text, question_text
from toolcrib.values.identity import Principal, Standing
from toolcrib.values.noun import frozen
from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest
from toolcrib.values.visible import visible

ANSWERS = {"o": Answer.ALLOW_ONCE, "s": Answer.ALLOW_FOR_SESSION, "d": Answer.DENY}
SAID = {Answer.ALLOW_ONCE: "once", Answer.ALLOW_FOR_SESSION: "for this session", Answer.DENY: "denied"}
LONGEST_BURST = 1_024
END = "\x04"


@frozen
class TerminalAsker:
    """Asks on `screen` and reads one key from `keyboard`; where either is no terminal, nobody can be asked."""

    keyboard: TextIO
    screen: TextIO

    @property
    def principal(self) -> Principal:
        """Whoever sits at this terminal, by the name that the system knows."""
        return Principal(user_name(), Standing.TERMINAL)

    async def __call__(self, request: PermissionRequest) -> PermissionDecision:
        """The answer of the person at the terminal."""
        if not (self.keyboard.isatty() and self.screen.isatty()):
            return PermissionDecision(Answer.DENY, f"nobody can be asked without a terminal{way_out(request)}")
        typed = await self._typed(f"\n{question_text(request)}\n{choices_text(request)}\no, s or d: ")
        decision = _decision(typed)
        self.screen.write(f"{SAID[Answer(decision.answer)]}\n")
        self.screen.flush()
        return decision

    async def _typed(self, asked: str) -> str | None:
        """What one key gives after the question; None at the end of input or when the person interrupts."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str | None] = loop.create_future()
        descriptor = self.keyboard.fileno()

        def settle(keys: str | None) -> None:
            if not answered.done():
                answered.set_result(keys)

        def read() -> None:
            try:
                typed = os.read(descriptor, LONGEST_BURST).decode("utf-8", "replace")
            except OSError:  # the terminal is gone
                typed = ""
            settle(None if typed in ("", END) else typed)

        # Ready to listen before the question stands there; what was typed until then cannot be an answer to it.
        with _interrupts(loop, lambda: settle(None)), _single_keys(descriptor):
            loop.add_reader(descriptor, read)
            try:
                self.screen.write(asked)
                self.screen.flush()
                return await answered
            finally:
                loop.remove_reader(descriptor)


def user_name() -> str:
    """The user that this process runs as; what the environment says of it proves nothing."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _decision(typed: str | None) -> PermissionDecision:
    """A single key that is one of the three; several at once were pasted, or are a key that has no meaning here."""
    if typed is None:
        return PermissionDecision(Answer.DENY, "the question was left without an answer")
    key = typed.rstrip("\r\n")
    answer = ANSWERS.get(key.lower())
    if answer is None:
        return PermissionDecision(Answer.DENY, f"{visible(key[:40])!r} is not one of the choices")
    return PermissionDecision(answer)


@contextmanager
def _single_keys(descriptor: int) -> Generator[None, None, None]:
    """Each key counts as it is pressed and is not echoed; what was typed before is thrown away."""
    before = termios.tcgetattr(descriptor)
    incoming, outgoing, control, local, *speeds, keys = before
    keys = list(keys)
    keys[termios.VMIN], keys[termios.VTIME] = 1, 0
    single = [incoming, outgoing, control, local & ~(termios.ICANON | termios.ECHO), *speeds, keys]
    termios.tcsetattr(descriptor, termios.TCSAFLUSH, single)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


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
