"""workspace.list, workspace.read, workspace.info."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.workspace.answers import fact_answer, listing_answer, window_answer
from toolcrib.workspace.arguments import Between, declares, spots
from toolcrib.workspace.instructions import take_instructions
from toolcrib.workspace.lines import Span
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.reading import list_folder, read_window, status_of
from toolcrib.workspace.spots import Kind
from toolcrib.workspace.workspace import PROJECT, View

LISTED = 200
WINDOW, MOST_LINES = 100, 1_000
_CURSOR = re.compile(r"([1-9][0-9]{0,15})(?:@([0-9a-z]+))?")


def add_reading(build: ToolsetBuilder, services: Services) -> None:
    """Add the tools that look at one file or folder."""
    add_list(build, services)
    add_read(build, services)
    add_info(build, services)


def add_list(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.VIRTUAL, Access.READ, "path", default=PROJECT)

    @build.read(
        name="workspace.list", targets=path, category="FileSystem", tags={"filesystem"}, aliases=("list_files",)
    )
    async def list_children(context: ToolContext, path: str = PROJECT) -> ToolReturn:
        """List the direct children of a folder, at most 200.

        Args:
            path: The folder, such as 'src' or '/scratch'.
        """
        (spot,) = spots(context)
        entries, total = await list_folder(here(), spot, LISTED)
        return listing_answer(spot.shown, entries, total > len(entries), total, 0)


def add_read(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.VIRTUAL, Access.READ, "path")

    @build.read(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("workspace_read",))
    async def read(
        context: ToolContext,
        path: str,
        cursor: str | None = None,
        lines: Annotated[int, Between(1, MOST_LINES)] = WINDOW,
    ) -> ToolReturn:
        """Read a text file in windows of numbered lines; each answer holds the cursor of the next window.

        Args:
            path: The file, such as 'src/main.py' or '/scratch/notes.md'.
            cursor: Where to go on, from the answer before; or the number of a line.
            lines: How many lines at most.
        """
        (spot,) = spots(context)
        start, known = _read_cursor(cursor)
        window = await read_window(here(), spot, Span(start, lines, services.files.window_characters))
        await take_instructions(context, here(), spot, window)
        width = len(str(window.end))
        body = "\n".join(f"{number:>{width}}\t{line}" for number, line in enumerate(window.lines, start))
        mark = _mark(window.hash)
        following = f"{window.next}@{mark}" if window.next else None
        changed = known is not None and known != mark
        note = f"[{spot.shown} has changed since the cursor was given]\n" if changed else ""
        answer = window_answer(spot.shown, window, note + body, f"cursor {following}")
        return replace(answer, metadata={**answer.metadata, "cursor": following, "changed": changed})


def add_info(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.VIRTUAL, Access.READ, "path")

    @build.read(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("file_info", "file_exists", "stat"))
    async def info(context: ToolContext, path: str) -> ToolReturn:
        """Tell whether a path exists, and its kind, size, mode and time of change.

        Args:
            path: A file or folder.
        """
        (spot,) = spots(context)
        if spot.identity is None:
            return fact_answer(f"{spot.shown} does not exist", {"path": spot.shown, "exists": False})
        status = status_of(here(), spot)
        kind = spot.identity.kind
        changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
        size = status.st_size if kind is Kind.FILE else None
        mode = f"{status.st_mode & 0o7777:04o}"
        facts: JsonObject = {
            "path": spot.shown,
            "exists": True,
            "kind": kind.value,
            "size": size,
            "mode": mode,
            "modified": changed,
            "hard_links": spot.links,
        }
        of = f" of {size:,} bytes" if size is not None else ""
        return fact_answer(f"{spot.shown} is a {kind.value}{of}, mode {mode}, changed {changed}", facts)


def _read_cursor(cursor: str | None) -> tuple[int, str | None]:
    if cursor is None:
        return 1, None
    found = _CURSOR.fullmatch(cursor.strip())
    if found is None:
        message = (
            f"{cursor[:40]!r} is not a cursor: pass on the one from the answer before, or a line number such as '1'"
        )
        raise Refusal(Reason.VALIDATION_ERROR, message)
    return int(found[1]), found[2]


def _mark(digest: str) -> str:
    """A few letters that differ when the file does."""
    return re.sub(r"[^0-9a-z]", "", digest.rsplit(":", 1)[-1])[-10:]
