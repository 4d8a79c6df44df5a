"""One command from a permitted call to its result: job, streams, progress, artifacts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from toolcrib.policy.commands import CommandTarget
from toolcrib.toolsets.shell.answer import answer, clean, output_text
from toolcrib.toolsets.shell.explain import explain
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.toolsets.shell.spool import Spool
from toolcrib.values.context import ToolContext
from toolcrib.values.last_line import LastLine
from toolcrib.values.process import Captured, Ended, Job, Sink, Stdin
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ArtifactRef, ToolReturn

PROGRESS_SECONDS = 0.25


async def run_job(services: CommandServices, context: ToolContext, job: Job) -> ToolReturn:
    """Run a job for a call; what it had written is kept when the call is stopped."""
    spools = (Spool(services.kept), Spool(services.kept))
    try:
        sinks = [_sink(spool, _progress(context)) for spool in spools]
        async with services.processes.running(job, stdout=sinks[0], stderr=sinks[1]) as process:
            try:
                ended = await process.finish(job.timeout)
            except asyncio.CancelledError:
                await process.kill()
                context.partial(output_text(*process.output, services.shown))
                raise
        artifacts = await _artifacts(services, context, ended, spools)
        return answer(ended, _explained(job, ended), artifacts, services.shown)
    finally:
        for spool in spools:
            spool.close()


def _explained(job: Job, ended: Ended) -> str:
    """How it ended; when the sandbox itself failed, that it was not the command."""
    prefix = () if job.confinement is None else job.confinement.prefix
    if prefix and ended.code == 1 and ended.stderr.head.startswith(b"bwrap: "):
        return "The sandbox could not start the command; `toolcrib doctor --sandbox` says what is wrong."
    return explain(ended)


def job_of(services: CommandServices, target: CommandTarget, timeout: float, stdin: bytes | Stdin = Stdin.EMPTY) -> Job:
    """The job for a declared command with its own words; the program is the one that was declared."""
    command = target.commands[0]
    if command.executable is None:
        message = f"there is no program {command.words[0]!r}: it is not on the search path, or not executable"
        raise Refusal(Reason.FILE_NOT_FOUND, message, {"program": command.words[0]})
    return _job(services, command.executable, command.words, command.cwd, timeout, stdin)


def line_job(
    services: CommandServices, target: CommandTarget, cwd: str, timeout: float, stdin: bytes | Stdin = Stdin.EMPTY
) -> Job:
    """The job for a declared shell line."""
    return _job(services, services.shell, (services.shell, "-c", target.value), cwd, timeout, stdin)


def time_limit(services: CommandServices, timeout_ms: int | None) -> float:
    """A call may shorten the configured limit, never raise it."""
    return services.timeout if timeout_ms is None else min(services.timeout, timeout_ms / 1000)


def _job(
    services: CommandServices, executable: str, words: tuple[str, ...], cwd: str, timeout: float, stdin: bytes | Stdin
) -> Job:
    half = max(services.shown * 4, 4_096)
    return Job(
        executable=executable,
        argv=words,
        cwd=cwd,
        environment=services.environment,
        timeout=timeout,
        stdin=stdin,
        limits=services.limits,
        confinement=services.confine(executable, cwd),
        keep_head=half,
        keep_tail=half,
    )


def _sink(spool: Spool, tell: Callable[[bytes], None]) -> Sink:
    async def take(chunk: bytes) -> None:
        await spool.take(chunk)
        tell(chunk)

    return take


def _progress(context: ToolContext) -> Callable[[bytes], None]:
    """Says the last line of a stream now and then."""
    last, line = 0.0, LastLine()

    def tell(chunk: bytes) -> None:
        nonlocal last
        line.take(chunk)
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS and (said := clean(line.told()).strip()):
            last = now
            context.progress(said)

    return tell


async def _artifacts(
    services: CommandServices, context: ToolContext, ended: Ended, spools: tuple[Spool, Spool]
) -> list[ArtifactRef]:
    """Artifacts for outputs that do not fit into the result."""
    if services.keep is None:
        return []
    found: list[ArtifactRef] = []
    for name, captured, spool in (("stdout", ended.stdout, spools[0]), ("stderr", ended.stderr, spools[1])):
        if captured.total > services.shown:
            artifact_id = await services.keep(spool.chunks(), context)
            found.append(ArtifactRef(artifact_id, _summary(name, captured, spool)))
    return found


def _summary(name: str, captured: Captured, spool: Spool) -> str:
    if spool.size < captured.total:
        return f"{name}: the first {spool.size} of {captured.total} bytes; {captured.total - spool.size} were cut"
    return f"{name}: all {captured.total} bytes"
