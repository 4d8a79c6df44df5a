"""Commands as processes: what they see, what they cost, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.executors.environment import command_environment, sound_path
from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.tree import descendants
from toolcrib.values.process import MIB, End, Job, ProcessLimits, Stdin
from toolcrib.values.refusal import Reason, Refusal

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
GRACE = 2.0
"""How long after its limit, or after its own end, a call may take to return."""


@pytest.fixture
async def runner() -> AsyncIterator[ProcessRunner]:
    runner = ProcessRunner()
    yield runner
    await runner.close()


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    def make(*words: str, timeout: float = 20, **more: object) -> Job:
        executable = words[0] if "/" in words[0] else shutil.which(words[0]) or words[0]
        fields = {"cwd": str(tmp_path), "environment": ENVIRONMENT, **more}
        return Job(executable=executable, argv=words, timeout=timeout, **fields)  # type: ignore[arg-type]

    return make


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code)


class Held:
    """A FIFO that a command holds open: tells when it has begun, and when nothing of it is left."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "held"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.hold = f"exec 9>{self.path}; echo >&9"

    async def begun(self) -> None:
        await self._until(select.POLLIN)
        os.read(self._reader, 100)

    async def gone(self) -> None:
        os.set_blocking(self._reader, False)
        with contextlib.suppress(BlockingIOError):
            os.read(self._reader, 100)
        await self._until(select.POLLHUP)

    async def _until(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._reader, event & select.POLLIN)
        assert await asyncio.to_thread(poll.poll, 20_000)


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


@pytest.mark.parametrize(
    ("words", "end", "code", "number"),
    [
        (("true",), End.EXITED, 0, None),
        (("sh", "-c", "exit 3"), End.EXITED, 3, None),
        (("sh", "-c", "kill -9 $$"), End.SIGNALLED, None, 9),
        (("sh", "-c", "nosuchprogram"), End.EXITED, 127, None),
    ],
)
async def test_the_end_says_how_a_command_ended(
    runner: ProcessRunner,
    job: Callable[..., Job],
    words: tuple[str, ...],
    end: End,
    code: int | None,
    number: int | None,
) -> None:
    ended = await runner.run(job(*words))
    assert (ended.end, ended.code, ended.signal) == (end, code, number)


async def test_both_outputs_are_captured_apart(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    ended = await runner.run(job("sh", "-c", "echo out; echo err >&2"))
    assert (ended.stdout.text(), ended.stderr.text()) == ("out\n", "err\n")


STUBBORN = {
    "a command that ignores SIGTERM": "trap '' TERM; {hold}; sleep 300 & wait",
    "a grandchild of its group that holds the pipe": "(trap '' TERM; {hold}; sleep 300) & wait",
    "a grandchild in a session of its own": "{hold}; setsid sh -c \"trap '' TERM; sleep 300\" & wait",
    "a grandchild whose parents are gone": "{hold}; (setsid sh -c 'sleep 300' &) ; sleep 300",
}


@pytest.mark.parametrize("script", STUBBORN.values(), ids=STUBBORN.keys())
async def test_at_the_time_limit_the_whole_tree_dies_and_the_call_returns(
    runner: ProcessRunner, job: Callable[..., Job], held: Held, script: str
) -> None:
    async with runner.running(job("sh", "-c", script.format(hold=f"{held.hold}; echo begun"))) as process:
        await held.begun()
        began = time.monotonic()
        ended = await process.finish(0.5)
        assert time.monotonic() - began < 0.5 + GRACE
    assert ended.end is End.TIMED_OUT
    await held.gone()


async def test_what_a_command_leaves_behind_ends_with_it(
    runner: ProcessRunner, job: Callable[..., Job], held: Held
) -> None:
    ended = await runner.run(job("sh", "-c", f"{held.hold}; sleep 300 & setsid sleep 300 & echo done"))
    assert (ended.code, ended.stdout.text()) == (0, "done\n")
    assert ended.leftover >= 1
    await held.gone()


async def test_a_cancelled_call_keeps_its_output_and_leaves_no_process(
    runner: ProcessRunner, job: Callable[..., Job], held: Held
) -> None:
    seen: list[str] = []

    async def call() -> None:
        async with runner.running(job("sh", "-c", f"echo begun; {held.hold}; sleep 300")) as process:
            try:
                await process.finish(None)
            except asyncio.CancelledError:
                await process.kill()
                seen.append(process.output[0].text())
                raise

    task = asyncio.create_task(call())
    await held.begun()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["begun\n"]
    await held.gone()


HOST = """
import asyncio
from toolcrib.executors.process import ProcessRunner
from toolcrib.values.process import Job
words = ("sh", "-c", "{hold}; setsid sleep 300")
asyncio.run(ProcessRunner().run(Job(executable="/bin/sh", argv=words, cwd="/", environment={{}}, timeout=300)))
"""


async def test_commands_die_when_the_program_that_started_them_is_killed(held: Held) -> None:
    program = HOST.format(hold=held.hold)
    host = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", program])
    await held.begun()
    host.kill()
    host.wait()
    await held.gone()


def _folder(place: Path) -> None:
    place.mkdir()


def _plain_file(place: Path) -> None:
    place.write_text("echo hi")


def _not_a_program(place: Path) -> None:
    place.write_bytes(b"\x00\x01\x02\x03 no program at all")
    place.chmod(0o755)


def _no_interpreter(place: Path) -> None:
    place.write_text("#!/no/such/interpreter\n")
    place.chmod(0o755)


@pytest.mark.parametrize(
    ("prepare", "reason", "number"),
    [
        (lambda place: None, Reason.FILE_NOT_FOUND, errno.ENOENT),
        (_folder, Reason.VALIDATION_ERROR, errno.EACCES),
        (_plain_file, Reason.VALIDATION_ERROR, errno.EACCES),
        (_not_a_program, Reason.VALIDATION_ERROR, errno.ENOEXEC),
        (_no_interpreter, Reason.FILE_NOT_FOUND, errno.ENOENT),
    ],
    ids=["missing", "folder", "not executable", "not a program", "no interpreter"],
)
async def test_a_program_that_cannot_start_says_why(
    runner: ProcessRunner,
    job: Callable[..., Job],
    tmp_path: Path,
    prepare: Callable[[Path], None],
    reason: Reason,
    number: int,
) -> None:
    place = tmp_path / "program"
    prepare(place)
    with pytest.raises(Refusal, match="was not started") as refused:
        await runner.run(job(str(place)))
    assert (refused.value.reason, refused.value.details["errno"]) == (reason, errno.errorcode[number])


async def test_a_program_that_is_being_written_is_a_conflict(
    runner: ProcessRunner, job: Callable[..., Job], tmp_path: Path
) -> None:
    place = tmp_path / "busy"
    shutil.copy(shutil.which("true") or "/bin/true", place)
    with place.open("ab"), pytest.raises(Refusal) as refused:
        await runner.run(job(str(place)))
    assert refused.value.reason is Reason.CONFLICT


async def test_arguments_beyond_what_the_system_takes_are_refused(
    runner: ProcessRunner, job: Callable[..., Job]
) -> None:
    with pytest.raises(Refusal, match="too long") as refused:
        await runner.run(job("echo", "x" * (4 * MIB)))
    assert refused.value.reason is Reason.VALIDATION_ERROR


async def test_a_missing_folder_and_a_nul_are_refused(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    with pytest.raises(Refusal, match="cannot be entered"):
        await runner.run(job("true", cwd="/no/such/folder"))
    with pytest.raises(Refusal, match="NUL"):
        await runner.run(job("echo", "a\0b"))


async def test_input_is_empty_unless_given_and_there_is_no_terminal(
    runner: ProcessRunner, job: Callable[..., Job]
) -> None:
    assert (await runner.run(job("cat"))).stdout.total == 0
    assert (await runner.run(job("sh", "-c", "test -t 0 || (exec </dev/tty) || echo none"))).stdout.text() == "none\n"
    given = bytes(range(256)) * 8_000
    ended = await runner.run(job("cat", stdin=given, keep_head=len(given)))
    assert ended.stdout.head == given


async def test_input_that_nobody_reads_does_not_hold_up_the_end(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    assert (await runner.run(job("true", stdin=b"x" * (4 * MIB)))).code == 0


async def test_an_open_input_can_be_written_to_while_the_command_runs(
    runner: ProcessRunner, job: Callable[..., Job]
) -> None:
    async with runner.running(job("cat", stdin=Stdin.OPEN)) as process:
        await process.write(b"one\n")
        await process.write(b"two\n")
        process.close_stdin()
        assert (await process.finish(10)).stdout.text() == "one\ntwo\n"


async def test_a_command_sees_only_the_environment_it_is_given_and_no_open_files(
    runner: ProcessRunner, job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_TEST_SECRET", "hidden")
    ended = await runner.run(job("env", environment={"PATH": ENVIRONMENT["PATH"], "A": "1"}))
    assert set(ended.stdout.text().splitlines()) == {f"PATH={ENVIRONMENT['PATH']}", "A=1"}
    ended = await runner.run(
        job(*python("import os; print([n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}')])"))
    )
    assert ended.stdout.text() in ("[]\n", "[3]\n")


async def test_memory_does_not_grow_with_output(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    taken = 0

    async def sink(chunk: bytes) -> None:
        nonlocal taken
        taken += len(chunk)

    words = ("sh", "-c", "printf head; head -c 50000000 /dev/zero; printf tail")
    async with runner.running(job(*words, keep_head=4, keep_tail=4), stdout=sink) as process:
        ended = await process.finish(60)
    assert (ended.stdout.head, ended.stdout.tail, ended.stdout.total) == (b"head", b"tail", 50_000_008)
    assert taken == ended.stdout.total
    assert ended.stdout.dropped == 50_000_000
    assert "50,000,000 bytes left out" in ended.stdout.text()


async def test_a_slow_sink_slows_the_command_and_loses_nothing(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    taken = 0

    async def sink(chunk: bytes) -> None:
        nonlocal taken
        taken += len(chunk)
        await asyncio.sleep(0.005)

    async with runner.running(job("head", "-c", "20000000", "/dev/zero"), stdout=sink) as process:
        ended = await process.finish(60)
    assert (taken, ended.pipes_held) == (20_000_000, False)


FORKS = """
import os, time
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(300)
    except OSError:
        break
time.sleep(300)
"""
HOARDS = "held = []\nwhile True: held.append(bytes(10_000_000))"
WRITES = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open("big", "wb") as file:
    while True:
        file.write(bytes(100_000))
"""
BOMBS = {
    "processes": (FORKS, ProcessLimits(processes=40), End.TOO_MANY_PROCESSES, None),
    "memory": (HOARDS, ProcessLimits(memory=200 * MIB), End.OUT_OF_MEMORY, None),
    "file size": (WRITES, ProcessLimits(file_size=1_000_000), End.SIGNALLED, signal.SIGXFSZ),
}


@pytest.mark.parametrize(("code", "limits", "end", "number"), BOMBS.values(), ids=BOMBS.keys())
async def test_a_bomb_ends_at_its_limit(
    runner: ProcessRunner, job: Callable[..., Job], code: str, limits: ProcessLimits, end: End, number: int | None
) -> None:
    ended = await runner.run(replace(job(*python(code), timeout=60), limits=limits))
    assert (ended.end, ended.signal) == (end, number)


async def test_open_files_are_limited(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    code = "import os\nfiles = []\nwhile True: files.append(os.open('/dev/null', 0))"
    ended = await runner.run(replace(job(*python(code)), limits=ProcessLimits(open_files=50)))
    assert "Too many open files" in ended.stderr.text()


async def test_closing_the_runner_ends_what_still_runs(job: Callable[..., Job], held: Held) -> None:
    runner = ProcessRunner()
    await runner.start(job("sh", "-c", f"{held.hold}; sleep 300"))
    await held.begun()
    await runner.close()
    await held.gone()


async def test_a_runner_goes_on_when_its_warden_was_killed(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    await runner.run(job("true"))
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):  # the warden's own die with it
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(Refusal):
        await runner.run(job("true"))
    assert (await runner.run(job("true"))).code == 0


async def test_many_commands_run_at_once(runner: ProcessRunner, job: Callable[..., Job]) -> None:
    ended = await asyncio.gather(*(runner.run(job("echo", str(number))) for number in range(20)))
    assert [each.stdout.text() for each in ended] == [f"{number}\n" for number in range(20)]


@pytest.mark.parametrize(
    ("path", "sound"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (":/usr/bin:.:bin:../x:", "/usr/bin"),
        (".", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ],
)
def test_a_search_path_holds_absolute_folders_only(path: str, sound: str) -> None:
    assert sound_path(path) == sound


def test_the_environment_holds_what_is_allowed_and_no_prompts() -> None:
    made = command_environment({"PATH": "/bin", "HOME": "/h", "TOKEN": "secret"}, ["PATH", "HOME", "LANG"])
    assert made["HOME"] == "/h"
    assert "TOKEN" not in made
    assert made["GIT_TERMINAL_PROMPT"] == "0"
