"""A process under way: its pipes, its keeper's reports, and the ways to end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import cast

from toolcrib.executors.faults import start_refusal
from toolcrib.executors.limits import limits_json
from toolcrib.executors.pipes import Stream, feed
from toolcrib.values.json import Json
from toolcrib.values.process import Captured, End, Ended, Job, Sink, Stdin
from toolcrib.values.refusal import Reason, Refusal

Report = Mapping[str, Json]
TERM_SECONDS = 0.4
KILL_SECONDS = 1.3
HELD_SECONDS = 0.3
PIPE_BYTES = 2 * 1024 * 1024
"""More than a pipe holds: what comes after this once a process has ended comes from something that outlived it."""


class RunningProcess:
    """One job from its start to its end. Made by a `ProcessRunner`."""

    def __init__(self, job: Job, stdout: Sink | None, stderr: Sink | None) -> None:
        self.job = job
        self.began = time.monotonic()
        loop = asyncio.get_running_loop()
        self._theirs: list[int] = [_question(job)]
        self._stdin: int | None = self._input()
        self._streams = [self._output(stdout), self._output(stderr)]
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        self._theirs += [theirs.detach(), *(_file_of(program) for program in _filters(job))]
        self._drains: list[asyncio.Task[None]] = []
        self._others: list[asyncio.Task[None]] = []
        self._start: asyncio.Future[Report] = loop.create_future()
        self._report: asyncio.Future[Report] = loop.create_future()
        self._end: End | None = None

    @property
    def handed_over(self) -> list[int]:
        """The descriptors that go to the keeper."""
        return self._theirs

    def begin(self) -> None:
        """The keeper has it: close our copies of what it was given, and read what comes."""
        self._close_theirs()
        for stream in self._streams:
            drain = asyncio.create_task(stream.drain())
            # A task that is cancelled before its first step never runs its own clean-up, so that is done here.
            drain.add_done_callback(lambda _, stream=stream: stream.close())
            self._drains.append(drain)
        listen = asyncio.create_task(self._listen())
        listen.add_done_callback(lambda _: self._control.close())
        self._others.append(listen)
        if isinstance(self.job.stdin, bytes) and self._stdin is not None:
            feeding = asyncio.create_task(feed(self._stdin, self.job.stdin))
            feeding.add_done_callback(lambda _: self.close_stdin())
            self._others.append(feeding)

    def discard(self) -> None:
        """Let go of everything, because no keeper took it."""
        self._close_theirs()
        for stream in self._streams:
            stream.close()
        self._control.close()
        self.close_stdin()

    async def started(self) -> None:
        """Wait until the command has begun; Refusal when it could not."""
        report = await asyncio.shield(self._start)
        if "started" not in report:
            failed = report.get("failed") or ("start", None, "its keeper died")
            raise start_refusal(*cast("tuple[str, int | None, str]", failed), self.job)

    async def finish(self, timeout: float | None) -> Ended:
        """Wait for the end, at most this long; then everything is stopped. Refusal when it could not be started."""
        await self.started()
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(self._report)
        except TimeoutError:
            self._end = End.TIMED_OUT
            await self._stop()
        held = await self._settle_pipes()
        return self._ended(held)

    async def kill(self) -> None:
        """End everything at once; harmless when it has ended."""
        if not self._report.done():
            self._end = self._end or End.STOPPED
            self._say(b"K")
            await asyncio.wait({self._report}, timeout=KILL_SECONDS)
        await self._settle_pipes()
        for task in self._others:
            task.cancel()
        self.close_stdin()
        if not self._report.done():
            self._report.set_result({})

    async def write(self, data: bytes) -> None:
        """Write to the input of a process that was started with it open."""
        if self._stdin is None or self.over:
            raise Refusal(Reason.VALIDATION_ERROR, "the process takes no input: it has ended, or its input was closed")
        await feed(self._stdin, data)

    def close_stdin(self) -> None:
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None

    @property
    def over(self) -> bool:
        return self._report.done()

    @property
    def output(self) -> tuple[Captured, Captured]:
        """What is kept of stdout and stderr so far."""
        return self._streams[0].captured(), self._streams[1].captured()

    async def _stop(self) -> None:
        """First a word, then force."""
        self._say(b"T")
        await asyncio.wait({self._report}, timeout=TERM_SECONDS)
        if not self._report.done():
            self._say(b"K")
            await asyncio.wait({self._report}, timeout=KILL_SECONDS)

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # a keeper that is gone has nothing left to end
            self._control.send(word)

    async def _listen(self) -> None:
        """Take the keeper's two reports; a keeper that is gone reports nothing."""
        loop, held = asyncio.get_running_loop(), b""
        for future in (self._start, self._report):
            while b"\n" not in held:
                try:
                    more = await loop.sock_recv(self._control, 65_536)
                except OSError:
                    more = b""
                if not more:
                    held += b"{}\n"
                held += more
            line, _, held = held.partition(b"\n")
            if not future.done():
                future.set_result(cast("Report", json.loads(line)))

    def _close_theirs(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())

    async def _settle_pipes(self) -> bool:
        """Read what is left; True when something that outlived the process still holds a pipe."""
        drains = set(self._drains)
        seen = since = self._total()
        while drains and any(not task.done() for task in drains):
            await asyncio.wait(drains, timeout=HELD_SECONDS)
            if self._total() == seen or self._total() - since > PIPE_BYTES:
                break
            seen = self._total()
        held = [task for task in drains if not task.done()]
        for task in held:
            task.cancel()
        return bool(held)

    def _total(self) -> int:
        return sum(stream.total for stream in self._streams)

    def _ended(self, held: bool) -> Ended:
        report: Report = self._report.result() if self._report.done() else {}
        status = cast("int", report.get("status", 0))
        end = self._end or End(str(report.get("end", End.LOST)))
        exited = end is End.EXITED
        signalled = exited and os.WIFSIGNALED(status)
        return Ended(
            end=End.SIGNALLED if signalled else end,
            code=os.WEXITSTATUS(status) if exited and not signalled else None,
            signal=os.WTERMSIG(status) if signalled else None,
            stdout=self._streams[0].captured(),
            stderr=self._streams[1].captured(),
            seconds=time.monotonic() - self.began,
            leftover=cast("int", report.get("leftover", 0)),
            pipes_held=held,
        )

    def _input(self) -> int | None:
        if self.job.stdin is Stdin.EMPTY:
            self._theirs.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
            return None
        theirs, ours = os.pipe()
        self._theirs.append(theirs)
        return ours

    def _output(self, sink: Sink | None) -> Stream:
        ours, theirs = os.pipe()
        self._theirs.append(theirs)
        return Stream(ours, self.job.keep_head, self.job.keep_tail, sink)


def _question(job: Job) -> int:
    """The request as an open file: arguments can be longer than any socket takes at once."""
    confinement = job.confinement
    prefix = () if confinement is None else confinement.prefix
    request: dict[str, Json] = {
        "executable": prefix[0] if prefix else job.executable,
        "prefix": list(prefix),
        "argv": [job.executable, *job.argv[1:]] if prefix else list(job.argv),
        "cwd": job.cwd,
        "environment": {**job.environment, **({} if confinement is None else confinement.environment)},
        "limits": limits_json(job.limits),
        "restrictions": {} if confinement is None else confinement.restrictions,
    }
    return _file_of(json.dumps(request).encode())


def _file_of(content: bytes) -> int:
    """Content as an open file without a name."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("toolcrib")
    else:
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _filters(job: Job) -> tuple[bytes, ...]:
    return () if job.confinement is None else job.confinement.filters
