"""The program at a real terminal: the question, its three answers, and everything that is not one of them."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 30.0
PROMPT = "o, s or d: "
INTERRUPT, END = "\x03", "\x04"


class Terminal:
    """A command on a pseudo-terminal of its own, as a person sees and types it."""

    def __init__(self, arguments: list[str], environment: dict[str, str]) -> None:
        self.screen = ""
        self.side, inside = pty.openpty()
        command = [sys.executable, "-m", "toolcrib.cli", *arguments]
        # A session of its own makes the terminal its controlling one, so that Ctrl-C arrives as a signal.
        self.process = subprocess.Popen(
            command, stdin=inside, stdout=inside, stderr=inside, env=environment, preexec_fn=_take_terminal
        )
        os.close(inside)

    def type(self, text: str) -> None:
        os.write(self.side, text.encode())

    def wait_for(self, text: str) -> None:
        self._read(lambda: text in self.screen)
        assert text in self.screen, self.screen

    def end(self) -> int:
        """Read to the end and return the exit code."""
        self._read(lambda: False)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.side)

    def _read(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not enough() and (left := deadline - time.monotonic()) > 0:
            if not select.select([self.side], [], [], left)[0]:
                return
            try:
                part = os.read(self.side, 4_096)
            except OSError:  # the other side was closed: Linux says so with EIO
                return
            if not part:
                return
            self.screen += part.decode().replace("\r\n", "\n")


def _take_terminal() -> None:
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(environment: dict[str, str], folder: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(list(arguments), environment))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


ADD = ("tools", "call", "notes.add", "--module", "notes.py", "--args", '{"title": "Mon\\u202eday", "body": "a\\nb"}')


def test_the_question_shows_the_whole_call_with_nothing_in_it_that_acts(
    terminal: Callable[..., Terminal], folder: Path
) -> None:
    at = terminal(*ADD)
    at.wait_for(PROMPT)
    question = re.sub(r"session_\w+", "SESSION", at.screen)
    assert question == (
        "\nnotes.add asks for permission:\n"
        "  arguments   {\n"
        '                "body": "a\\nb",\n'
        '                "title": "Mon\\u202eday"\n'
        "              }\n"
        "  effect      write\n"
        "  target      resource note Mon\\u202eday\n"
        f"  folder      {folder}\n"
        "  tags        code, notes, write\n"
        "  asked by    agent main in session SESSION\n"
        "  because     it can change things\n"
        "  rule        default (shipped)\n"
        "  CAREFUL     characters that do not show, cover or reorder others are written as escapes: \\u202e\n"
        "Allow notes.add?\n"
        "  o  once\n"
        "  s  for this session (for resource notes)\n"
        "  d  deny\n"
        "o, s or d: "
    )


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("o", 0, "added Mon\\u202eday"),
        ("o\n", 0, "added"),
        ("O", 0, "added"),
        ("s", 0, "added"),
        ("d", 3, "the person who was asked said no"),
        (" s ", 3, "' s ' is not one of the choices"),
        ("\x1b[A", 3, "is not one of the choices"),
        ("\n", 3, "'' is not one of the choices"),
        ("y\n", 3, "'y' is not one of the choices"),
        ("once\n", 3, "'once' is not one of the choices"),
        ("oo\n", 3, "'oo' is not one of the choices"),
        (END, 3, "the question was left without an answer"),
        ("o" + END, 3, "is not one of the choices"),
        (INTERRUPT, 3, "the question was left without an answer"),
        ("o" + INTERRUPT, 3, "the question was left without an answer"),
    ],
)
def test_only_a_clear_yes_is_a_yes(terminal: Callable[..., Terminal], typed: str, code: int, said: str) -> None:
    at = terminal(*ADD)
    at.wait_for(PROMPT)
    at.type(typed)
    assert (at.end(), said in at.screen) == (code, True), at.screen


def test_what_was_typed_before_the_question_does_not_answer_it(terminal: Callable[..., Terminal]) -> None:
    at = terminal(*ADD)
    at.type("o\n")
    at.wait_for(PROMPT)
    at.type("d")
    assert at.end() == 3


def test_the_terminal_is_as_it_was_after_the_question(terminal: Callable[..., Terminal]) -> None:
    at = terminal(*ADD)
    before = termios.tcgetattr(at.side)
    at.wait_for(PROMPT)
    at.type("o")
    assert at.end() == 0
    assert termios.tcgetattr(at.side)[3] == before[3]


def test_what_is_asked_about_every_time_says_so(terminal: Callable[..., Terminal]) -> None:
    at = terminal("tools", "call", "shell.run", "command=bash -c ls")
    at.wait_for(PROMPT)
    assert "  s  this call only, like o: a call like this is asked about every time\n" in at.screen
    at.type("d")
    assert at.end() == 3


def test_without_an_answer_in_time_the_call_is_denied(terminal: Callable[..., Terminal], folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    (home / "config.toml").write_text("[policy]\ndefault_ask_timeout_ms = 200\n")
    at = terminal("--home", str(home), *ADD)
    assert at.end() == 3
    assert "no answer within 0.2 s" in at.screen


def test_an_answer_for_the_session_is_recorded_as_such(terminal: Callable[..., Terminal], folder: Path) -> None:
    at = terminal(*ADD, "--session", "work")
    at.wait_for(PROMPT)
    at.type("s\n")
    assert at.end() == 0
    shown = terminal("events", "--session", "work", "--json")
    assert shown.end() == 0
    assert '"answer": "allow_for_session"' in shown.screen
    assert '"type": "grant_added"' in shown.screen


@pytest.mark.parametrize("closed", [0, 2])
def test_without_a_terminal_on_either_side_nobody_is_asked(
    environment: dict[str, str], folder: Path, closed: int
) -> None:
    side, inside = pty.openpty()
    streams: dict[str, int] = {"stdin": inside, "stderr": inside}
    streams[["stdin", "stdout", "stderr"][closed]] = subprocess.DEVNULL
    command = [sys.executable, "-m", "toolcrib.cli", *ADD]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, timeout=PATIENCE, **streams)  # type: ignore[call-overload]
    os.close(inside)
    os.close(side)
    assert (done.returncode, done.stdout) == (3, b"")


def test_a_table_on_a_terminal_fits_its_width(terminal: Callable[..., Terminal], environment: dict[str, str]) -> None:
    environment["COLUMNS"] = "40"
    at = terminal("tools", "list", "--module", "notes.py", "--all")
    assert at.end() == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", at.screen)
    assert max(map(len, plain.splitlines())) <= 40
    assert "\x1b[1m" in at.screen, "headings stand out on a terminal"
    assert "\\u202e" not in plain


def test_escapes_in_a_result_do_not_reach_the_terminal(terminal: Callable[..., Terminal], folder: Path) -> None:
    code = "from toolcrib import tool\n@tool.read\nasync def shout() -> str:\n    return 'a\\x1b[2Jb\\n\\tc'\n"
    (folder / "loud.py").write_text(code)
    at = terminal("tools", "call", "shout", "--module", "loud.py")
    assert at.end() == 0
    assert at.screen == "a\\x1b[2Jb\n\tc\n"


def test_following_events_ends_with_an_interrupt_and_no_traceback(terminal: Callable[..., Terminal]) -> None:
    call = terminal("tools", "call", "notes.read", "title=x", "--module", "notes.py", "--session", "first")
    assert call.end() == 0
    at = terminal("events", "--follow")
    at.wait_for("session_released")
    later = terminal("tools", "call", "notes.read", "title=y", "--module", "notes.py", "--session", "second")
    assert later.end() == 0
    at.wait_for("second")
    at.type(INTERRUPT)
    assert (at.end(), "Traceback" in at.screen) == (130, False)


def test_an_interrupted_call_is_on_record_as_not_finished(terminal: Callable[..., Terminal], folder: Path) -> None:
    code = (
        "import asyncio\nfrom toolcrib import tool\n"
        "@tool.read\nasync def sleep() -> str:\n    print('sleeping', flush=True)\n    await asyncio.sleep(600)\n"
    )
    (folder / "slow.py").write_text(code)
    at = terminal("tools", "call", "sleep", "--module", "slow.py", "--session", "work")
    at.wait_for("sleeping")
    at.process.send_signal(signal.SIGINT)
    assert (at.end(), "Traceback" in at.screen) == (130, False), at.screen
    shown = terminal("sessions", "show", "work", "--json")
    assert shown.end() == 0
    assert '"state": "failed"' in shown.screen
    assert '"reason": "cancelled"' in shown.screen or '"reason": "aborted"' in shown.screen, shown.screen


@pytest.mark.parametrize(
    ("answer", "code", "said"), [("y\n", 0, "Erased"), ("n\n", 3, "nothing was erased"), (END, 3, "nothing was erased")]
)
def test_erasing_asks_first(terminal: Callable[..., Terminal], answer: str, code: int, said: str) -> None:
    assert terminal("tools", "call", "notes.read", "title=x", "--module", "notes.py", "--session", "work").end() == 0
    at = terminal("sessions", "purge", "--session", "work")
    at.wait_for("Erase what the events of session work say? This cannot be undone [y/N]: ")
    at.type(answer)
    assert (at.end(), said in at.screen) == (code, True), at.screen
