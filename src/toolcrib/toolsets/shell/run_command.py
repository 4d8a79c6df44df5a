"""code.run_command: one program with its arguments, no shell in between."""

from __future__ import annotations

from functools import partial

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets.shell.running import job_of, run_job, time_limit
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.toolsets.shell.targets import argv_targets, command_of
from toolcrib.values.context import ToolContext
from toolcrib.values.result import ToolReturn
from toolcrib.values.tool import Tool

GRACE_SECONDS = 3.0
"""How much longer the counter waits than the command may run: the command's own limit must come first."""


def run_command_tool(services: CommandServices) -> Tool:
    """The tool `code.run_command`."""
    build = ToolsetBuilder("code")

    @build.write(
        tags={"dangerous"},
        category="Shell",
        targets=partial(argv_targets, services),
        timeout=services.timeout + GRACE_SECONDS,
        aliases=("run_command", "exec"),
    )
    async def run_command(
        context: ToolContext, argv: list[str], cwd: str | None = None, timeout_ms: int | None = None
    ) -> ToolReturn:
        """Run a program with its arguments, without a shell, and return its output and how it ended.

        Args:
            argv: The program and its arguments, one word each; no quoting, no pipes, no redirections.
            cwd: The folder to run in, seen from the project; the project itself when left out.
            timeout_ms: A shorter time limit than the configured one.
        """
        target = command_of(context.targets)
        return await run_job(services, context, job_of(services, target, time_limit(services, timeout_ms)))

    return build.build().tools[0]
