"""Handlers in a process of their own: at the time limit the whole process group is killed, whatever it was doing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import cast

from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn, block_of
from toolcrib.values.tool import Tool

MAX_ANSWER = 64 * 1024 * 1024
STDERR_TAIL = 2_000


async def run_isolated(tool: Tool, context: ToolContext) -> object:
    """Run an importable function in a fresh interpreter; arguments and result travel as JSON files."""
    with tempfile.TemporaryDirectory(prefix="toolcrib-") as folder:
        place = Path(folder)
        (place / "ask.json").write_text(json.dumps({"entry": tool.entry, "arguments": context.arguments}))
        with (place / "stderr").open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "toolcrib.executors.child", folder,
                stdin=asyncio.subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True,
            )  # fmt: skip
            try:
                code = await process.wait()
            finally:
                _kill_group(process.pid)
                await _reap(process)
        return _answer(tool, place, code)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


async def _reap(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(asyncio.CancelledError):
            await process.wait()


def _answer(tool: Tool, place: Path, code: int) -> object:
    answer = place / "answer.json"
    if not answer.exists():
        tail = (place / "stderr").read_bytes()[-STDERR_TAIL:].decode(errors="replace").strip()
        said = f": {tail}" if tail else ""
        raise Refusal(Reason.INTERNAL_ERROR, f"{tool.name} failed: its process ended with exit code {code}{said}")
    if answer.stat().st_size > MAX_ANSWER:
        raise Refusal(
            Reason.INTERNAL_ERROR, f"{tool.name} returned more than {MAX_ANSWER // 2**20} MiB from its process"
        )
    body = cast("dict[str, Json]", json.loads(answer.read_text()))
    if "refusal" in body:
        raise Refusal(Reason(str(body["refusal"])), f"{tool.name} failed: {body['message']}")
    blocks = cast("list[dict[str, Json]]", body["content"])
    return ToolReturn(tuple(block_of(block) for block in blocks), cast("JsonObject", body["metadata"]))
