"""Processes that go on between calls, and end with the run that started them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolcrib.toolsets.shell.services import Processes, Running
from toolcrib.values.process import Ended, Job
from toolcrib.values.refusal import Reason, Refusal

MOST = 8
BUFFER = 256 * 1024


@dataclass(slots=True, eq=False)
class BackgroundProcess:
    """One process and the output that nobody has asked for yet."""

    name: str
    command: str
    running: Running | None = None
    ended: Ended | None = None
    buffer: bytearray = field(default_factory=bytearray)
    dropped: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    waiter: asyncio.Task[None] | None = None

    async def take(self, chunk: bytes) -> None:
        """Keep the newest output; what is pushed out is counted."""
        self.buffer += chunk
        if (over := len(self.buffer) - BUFFER) > 0:
            del self.buffer[:over]
            self.dropped += over
        self.news.set()

    def news_text(self) -> tuple[str, int]:
        """Output since the last time, and how many bytes before it were dropped."""
        text, dropped = self.buffer.decode(errors="replace"), self.dropped
        self.buffer.clear()
        self.dropped = 0
        self.news.clear()
        return text, dropped

    async def watch(self) -> None:
        assert self.running is not None
        self.ended = await self.running.finish(None)
        self.news.set()


class Background:
    """The background processes of every run, by name within their run."""

    def __init__(self, processes: Processes, most: int = MOST) -> None:
        self._processes = processes
        self._most = most
        self._runs: dict[str, dict[str, BackgroundProcess]] = {}

    async def start(self, run_id: str, command: str, job: Job) -> BackgroundProcess:
        """Start a process for a run."""
        known = self._runs.setdefault(run_id, {})
        alive = sum(process.ended is None for process in known.values())
        if alive >= self._most:
            raise Refusal(
                Reason.WORKER_BUSY, f"{alive} background processes are running; end one with shell.kill first"
            )
        process = BackgroundProcess(f"p{len(known) + 1}", command)
        known[process.name] = process
        try:
            process.running = await self._processes.start(job, stdout=process.take, stderr=process.take)
        except BaseException:
            del known[process.name]
            raise
        process.waiter = asyncio.create_task(process.watch())
        return process

    def find(self, run_id: str, name: str) -> BackgroundProcess:
        known = self._runs.get(run_id, {})
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "none was started in it, and each ends with its run"
            raise Refusal(Reason.VALIDATION_ERROR, f"there is no background process {name!r} in this run: {there}")
        return known[name]

    def of_run(self, run_id: str) -> list[BackgroundProcess]:
        return list(self._runs.get(run_id, {}).values())

    async def kill(self, process: BackgroundProcess) -> None:
        """End a process with everything it started."""
        if process.running is not None:
            await process.running.kill()
        if process.waiter is not None:
            await asyncio.wait({process.waiter}, timeout=1)

    async def end_run(self, run_id: str) -> None:
        """End everything a run has started; called when the run is over."""
        for process in self._runs.pop(run_id, {}).values():
            await self.kill(process)

    async def close(self) -> None:
        for run_id in list(self._runs):
            await self.end_run(run_id)
