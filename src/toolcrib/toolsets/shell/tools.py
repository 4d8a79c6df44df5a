"""The tools of the shell toolset."""

from __future__ import annotations

import asyncio
from functools import partial

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.toolsets.shell.answer import clean, cut
from toolcrib.toolsets.shell.background import BackgroundProcess
from toolcrib.toolsets.shell.explain import explain
from toolcrib.toolsets.shell.run_command import GRACE_SECONDS
from toolcrib.toolsets.shell.running import line_job, run_job, time_limit
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.toolsets.shell.targets import command_of, line_targets, working_folder
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.process import Stdin
from toolcrib.values.result import JsonBlock, ToolReturn
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments

GUIDANCE = (
    "Prefer code.run_command with argv; use shell.run for pipelines. Start what does not end by itself (servers, "
    "watchers) with shell.start and look at it with shell.poll; it ends with this run."
)
MAX_WAIT = 30.0
FOREVER = 365 * 24 * 3600.0


def toolset(services: CommandServices) -> Toolset:
    """shell.run, and the background processes start, poll, write, kill, list."""
    build = ToolsetBuilder("shell", guidance=GUIDANCE)
    _add_running(build, services)
    _add_looking(build, services)
    _add_steering(build, services)
    return build.build()


def _add_running(build: ToolsetBuilder, services: CommandServices) -> None:
    declared = partial(line_targets, services)

    @build.write(
        tags={"dangerous"},
        category="Shell",
        targets=declared,
        timeout=services.timeout + GRACE_SECONDS,
        aliases=("shell_exec",),
    )
    async def run(
        context: ToolContext, command: str, cwd: str | None = None, timeout_ms: int | None = None
    ) -> ToolReturn:
        """Run a shell command line and return its output and how it ended.

        Args:
            command: The command line, for a POSIX shell.
            cwd: The folder to run in, seen from the project; the project itself when left out.
            timeout_ms: A shorter time limit than the configured one.
        """
        folder = working_folder(services, cwd)
        job = line_job(services, command_of(context.targets), folder, time_limit(services, timeout_ms))
        return await run_job(services, context, job)

    @build.write(tags={"dangerous"}, category="Shell", targets=declared)
    async def start(context: ToolContext, command: str, cwd: str | None = None) -> ToolReturn:
        """Start a command line in the background; it goes on until it ends, is killed, or the run is over.

        Args:
            command: The command line, for a POSIX shell.
            cwd: The folder to run in, seen from the project; the project itself when left out.
        """
        job = line_job(services, command_of(context.targets), working_folder(services, cwd), FOREVER, Stdin.OPEN)
        process = await services.background.start(context.origin.run_id, command, job)
        started: JsonObject = {"process": process.name, "command": command}
        return ToolReturn((JsonBlock(started),), {"ends_with": "run"})


def _add_looking(build: ToolsetBuilder, services: CommandServices) -> None:
    @build.read(category="Shell")
    async def poll(context: ToolContext, process: str, wait_ms: int = 0) -> str:
        """Return what a background process has written since the last time, and whether it still runs.

        Args:
            process: The name that shell.start gave.
            wait_ms: How long to wait for something new, at most 30000.
        """
        found = services.background.find(context.origin.run_id, process)
        if wait_ms > 0 and not found.buffer and found.ended is None:
            await _news(found, min(wait_ms / 1000, MAX_WAIT))
        return _poll_text(found, services.shown)

    @build.read(name="shell.list", category="Shell")
    async def list_processes(context: ToolContext) -> list[JsonObject]:
        """List the background processes of this run."""
        return [
            {
                "process": process.name,
                "command": process.command,
                "running": process.ended is None,
                "exit_code": None if process.ended is None else process.ended.code,
                "unread_bytes": len(process.buffer),
            }
            for process in services.background.of_run(context.origin.run_id)
        ]


def _add_steering(build: ToolsetBuilder, services: CommandServices) -> None:
    @build.write(tags={"dangerous"}, category="Shell", targets=_input_target)
    async def write(context: ToolContext, process: str, text: str, end: bool = False) -> str:
        """Write text to the input of a background process.

        Args:
            process: The name that shell.start gave.
            text: What to write; a line needs its newline.
            end: Whether to close the input afterwards.
        """
        found = services.background.find(context.origin.run_id, process)
        assert found.running is not None
        await found.running.write(text.encode())
        if end:
            found.running.close_stdin()
        return f"wrote {len(text.encode())} bytes to {process}" + (" and closed its input" if end else "")

    @build.write(tags={"internal"}, category="Shell")
    async def kill(context: ToolContext, process: str) -> str:
        """End a background process, with everything it has started, and return the rest of its output.

        Args:
            process: The name that shell.start gave.
        """
        found = services.background.find(context.origin.run_id, process)
        await services.background.kill(found)
        return _poll_text(found, services.shown)


def _input_target(arguments: Arguments) -> tuple[Target, ...]:
    """Input to a process can be anything, a command for a shell among them: never granted for a session."""
    return (Target(TargetKind.RESOURCE, f"input of background process {arguments.get('process')}"),)


async def _news(process: BackgroundProcess, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await process.news.wait()
    except TimeoutError:
        return


def _poll_text(process: BackgroundProcess, shown: int) -> str:
    text, dropped = process.news_text()
    parts = [f"[{dropped} bytes before this were not kept]"] if dropped else []
    parts.append(cut(clean(text).rstrip("\n"), shown) or "(nothing new)")
    ended = process.ended
    parts.append("[still running]" if ended is None else f"[ended: {explain(ended) or 'exit code 0'}]")
    return "\n".join(parts)
