"""ripgrep as the searcher: no configuration of its own, bounded output, killed when enough was found or time is up."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import cast

from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.words import sentence
from toolcrib.workspace.globs import expand_braces
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.search import Case, Ground, Place, Query, Searched

MAX_RECORD = 1 << 20
_CASES = {Case.SMART: "--smart-case", Case.SENSITIVE: "--case-sensitive", Case.IGNORED: "--ignore-case"}
_QUIET = ("--no-config", "--no-messages", "--hidden", "--no-require-git", "--color=never")


def find_ripgrep() -> str | None:
    """The program: the one installed beside this Python, else the one on PATH."""
    beside = Path(sys.executable).parent / "rg"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")


async def search(program: str, ground: Ground, operand: str, query: Query) -> Searched:
    """Search a folder (`.`) or one file of it; sensitive files are counted by a second, quick pass over names."""
    found = Searched([], engine="ripgrep")
    counting = asyncio.ensure_future(_count_sensitive(program, ground, operand, query))
    try:
        async with asyncio.timeout(query.timeout):
            await _collect(program, ground, operand, query, found)
            found.left_out = await counting
    except TimeoutError:
        found.timed_out = True
    finally:
        counting.cancel()
        await asyncio.wait({counting})
    return found


async def _collect(program: str, ground: Ground, operand: str, query: Query, found: Searched) -> None:
    matches = 0
    keeps = ground.screen(query)
    arguments = [*_QUIET, "--json", "--encoding=none", *_options(query, ground), "-e", query.pattern, "--", operand]
    async with contextlib.aclosing(_records(program, ground, arguments)) as records:
        async for record in records:
            place = _place(record)
            if place is None or not keeps(place.path):
                continue
            if matches == query.limit and place.match:
                found.truncated = True
                return
            matches += place.match
            found.places.append(place)


def _options(query: Query, ground: Ground) -> list[str]:
    options = [_CASES[query.case], f"--max-count={query.limit + 1}", *_excluded(query, ground)]
    if query.literal:
        options.append("--fixed-strings")
    if query.context:
        options.append(f"--context={query.context}")
    return [*options, *_wanted(query.glob)]


def _wanted(glob: str | None) -> list[str]:
    """The last name of a glob as a file type: unlike `--glob`, that does not switch ignore files off."""
    names = [alternative.rsplit("/", 1)[-1] for alternative in expand_braces(glob)] if glob else []
    if not names or any(name in ("", "**") or ":" in name for name in names):
        return []
    return [*(f"--type-add=wanted:{name}" for name in names), "--type=wanted"]


def _excluded(query: Query, ground: Ground) -> list[str]:
    excluded = ["--iglob=!**/.git"]
    if query.secrets is Secrets.LEFT_OUT:
        excluded += [f"--iglob=!**/{glob}" for glob in ground.workspace.rules.globs()]
    return excluded


async def _count_sensitive(program: str, ground: Ground, operand: str, query: Query) -> int:
    """How many sensitive files were left out, by name alone: whether one of them matches must not show."""
    if query.secrets is Secrets.INCLUDED:
        return 0
    globs = ground.workspace.rules.globs()
    folders = [f"{glob}/**" for glob in globs if not glob.startswith("*")]
    wanted = [f"--iglob=**/{glob}" for glob in (*globs, *folders)]
    arguments = [*_QUIET, "--files", "--null", *wanted, "--iglob=!**/.git", "--", operand]
    count = 0
    async with contextlib.aclosing(_chunks(program, ground, arguments)) as chunks:
        async for chunk in chunks:
            count += chunk.count(b"\0")
    return count


async def _records(program: str, ground: Ground, arguments: Sequence[str]) -> AsyncGenerator[bytes]:
    """One JSON record per line; a record too large to hold is passed over."""
    line = b""
    skipping = False
    async with contextlib.aclosing(_chunks(program, ground, arguments)) as chunks:
        async for chunk in chunks:
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                if not skipping:
                    yield line + end
                line, skipping = b"", False
            line += b"" if skipping else rest
            if len(line) > MAX_RECORD:
                line, skipping = b"", True


async def _chunks(program: str, ground: Ground, arguments: Sequence[str]) -> AsyncGenerator[bytes]:
    """What ripgrep writes. It works inside the held folder, knows nothing of our environment and dies with us."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=f"/proc/self/fd/{ground.descriptor}",
        pass_fds=(ground.descriptor,),
        env={"LC_ALL": "C.UTF-8"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    stdout, stderr = cast("asyncio.StreamReader", process.stdout), cast("asyncio.StreamReader", process.stderr)
    try:
        while chunk := await stdout.read(1 << 16):
            yield chunk
        complaint = await stderr.read(4_000)
        if await process.wait() == 2 and complaint:
            raise _refusal(complaint.decode("utf-8", "replace"))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _refusal(complaint: str) -> Refusal:
    lines = [line.strip() for line in complaint.strip().split("\n") if line.strip()]
    said = sentence(" ".join(lines)[:600])
    message = f"the query or glob cannot be searched for: {said} For a plain text set literal to true"
    return Refusal(Reason.VALIDATION_ERROR, message)


def _place(record: bytes) -> Place | None:
    try:
        read = cast("dict[str, Json]", json.loads(record))
    except ValueError:
        return None
    kind, data = read.get("type"), cast("dict[str, Json]", read.get("data"))
    if kind not in ("match", "context"):
        return None
    number, offset = data.get("line_number"), data.get("absolute_offset")
    path = _bytes(data["path"]).removeprefix(b"./")
    line = _bytes(data["lines"])
    return Place(path, cast("int", number), cast("int", offset), line, kind == "match")


def _bytes(value: Json) -> bytes:
    """ripgrep writes text where it can and base64 where it cannot."""
    fields = cast("dict[str, str]", value)
    return fields["text"].encode() if "text" in fields else base64.b64decode(fields["bytes"])
