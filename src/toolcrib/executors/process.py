"""Commands as processes: started by a warden, streamed within bounds, and gone with all they started when they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.executors.faults import check
from toolcrib.executors.running import RunningProcess
from toolcrib.values.process import Ended, Job, Sink
from toolcrib.values.refusal import Reason, Refusal, ToolcribError

TRIES = 2
BOOT = (
    "import socket, sys; sys.path[:0] = [sys.argv[2]]; from toolcrib.executors.warden import main; "
    "main(socket.socket(fileno=int(sys.argv[1])))"
)


class ProcessRunner:
    """Runs jobs. One warden serves all of them: it starts with the first job and ends with `close`, or with us."""

    def __init__(self) -> None:
        self._warden: Warden | None = None
        self._running: set[RunningProcess] = set()

    async def run(self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None) -> Ended:
        """Run a job to its end, at the latest to its time limit."""
        async with self.running(job, stdout=stdout, stderr=stderr) as process:
            return await process.finish(job.timeout)

    @asynccontextmanager
    async def running(
        self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None
    ) -> AsyncGenerator[RunningProcess]:
        """A job on its way; `finish` says when it could not start. What is left of it when the block ends is killed."""
        process = self._launch(job, stdout, stderr)
        try:
            yield process
        finally:
            await process.kill()
            self._running.discard(process)

    async def start(self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None) -> RunningProcess:
        """Start a job and come back when it has begun; Refusal when it cannot be started. The caller ends it."""
        process = self._launch(job, stdout, stderr)
        try:
            await process.started()
        except BaseException:
            await process.kill()
            self._running.discard(process)
            raise
        return process

    async def close(self) -> None:
        """Kill what still runs, then the warden."""
        for process in list(self._running):
            await process.kill()
        self._running.clear()
        if self._warden is not None:
            self._warden.close()
            self._warden = None

    def _launch(self, job: Job, stdout: Sink | None, stderr: Sink | None) -> RunningProcess:
        check(job)
        process = RunningProcess(job, stdout, stderr)
        try:
            self._hand_over(process.handed_over)
        except BaseException:
            process.discard()
            raise
        process.begin()
        self._running.add(process)
        return process

    def _hand_over(self, descriptors: list[int]) -> None:
        for _ in range(TRIES):
            if self._warden is None:
                self._warden = Warden.start()
            if self._warden.send(descriptors):
                return
            self._warden.close()
            self._warden = None
        raise Refusal(Reason.INTERNAL_ERROR, "the helper process that starts commands cannot be reached")


class Warden:
    """This side of the warden: a socket, and the process behind it."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self._process = process
        self._channel = channel

    @classmethod
    def start(cls) -> Warden:
        if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
            raise ToolcribError("commands need a POSIX system: this one cannot fork or pass descriptors")
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).parents[2])
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BOOT, str(theirs.fileno()), root],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        return cls(process, ours)

    def send(self, descriptors: list[int]) -> bool:
        """Hand a request over; False when the warden is gone."""
        try:
            socket.send_fds(self._channel, [b"+"], descriptors)
        except OSError:
            return False
        return self._process.poll() is None

    def close(self) -> None:
        """Let the warden go; it ends when its socket closes."""
        self._channel.close()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
