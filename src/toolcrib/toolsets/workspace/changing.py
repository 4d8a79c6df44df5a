"""workspace.write, workspace.edit, workspace.delete, workspace.move."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.workspace.answers import fact_answer
from toolcrib.workspace.arguments import AtLeast, declares, declares_itself, refuse_redacted, spots
from toolcrib.workspace.changes import Changes
from toolcrib.workspace.changing import Missing, append_text, change_text, edit_text, write_text
from toolcrib.workspace.edits import Edit, insert_lines
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.workspace import View
from toolcrib.workspace.writing import Folders, taken


class Mode(StrEnum):
    """What to do with a file that may exist."""

    OVERWRITE = "overwrite"
    APPEND = "append"
    CREATE = "create"


def add_changing(build: ToolsetBuilder, services: Services) -> None:
    """Add the tools that change files."""
    add_write(build, services)
    add_edit(build, services)
    add_delete(build, services)
    add_move(build, services)


def add_write(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.VIRTUAL, Access.WRITE, "path")

    @build.write(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("workspace_write",))
    async def write(context: ToolContext, path: str, content: str, mode: Mode = Mode.CREATE) -> ToolReturn:
        """Write a file: make a new one, replace an existing one, or append to it.

        Args:
            path: The file, such as 'src/main.py' or '/scratch/notes.md'; folders are made as needed.
            content: The text.
            mode: create refuses an existing file; overwrite replaces it; append adds at its end.
        """
        (spot,) = spots(context)
        refuse_redacted(content)
        if mode is Mode.APPEND:
            return await append_text(
                Changes(here(), services.artifacts, services.holds_secrets, context), spot, content
            )
        if mode is Mode.CREATE and spot.identity is not None:
            raise taken(spot)
        return await write_text(
            Changes(here(), services.artifacts, services.holds_secrets, context), spot, content, Folders.MAKE
        )


def add_edit(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.VIRTUAL, Access.WRITE, "path")

    @build.write(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("workspace_edit",))
    async def edit(
        context: ToolContext,
        path: str,
        new: str,
        old: str | None = None,
        before_line: Annotated[int, AtLeast(1)] | None = None,
        replace_all: bool = False,
        expected_hash: str | None = None,
    ) -> ToolReturn:
        """Replace an exact text of a file, or insert text before a line.

        Args:
            path: The file.
            new: The text to put in.
            old: The text to replace; it must stand in the file exactly once, or set replace_all.
            before_line: Instead of old: insert before this line, counted from 1; one more than the last appends.
            replace_all: Replace every place where old stands.
            expected_hash: The content_hash that was read; refused as stale_file when the file has changed since.
        """
        (spot,) = spots(context)
        refuse_redacted(new)
        if (old is None) == (before_line is None):
            raise Refusal(Reason.VALIDATION_ERROR, "give either old or before_line, one of the two")
        if old is not None:
            return await edit_text(
                Changes(here(), services.artifacts, services.holds_secrets, context),
                spot,
                [Edit(old, new, replace_all)],
                Missing.REFUSED,
                expected_hash,
            )
        line = before_line or 1
        return await change_text(
            Changes(here(), services.artifacts, services.holds_secrets, context),
            spot,
            lambda text: insert_lines(text, line, new, spot.shown),
            expected_hash,
            "",
        )


def add_delete(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares_itself(here, View.VIRTUAL, "path")

    @build.write(
        targets=path,
        category="FileSystem",
        tags={"filesystem", "dangerous"},
        aliases=("FileDelete", "delete_file", "rm"),
    )
    async def delete(context: ToolContext, path: str) -> ToolReturn:
        """Delete a file, a link, or a folder that is empty; what a file held is kept for undo.

        Args:
            path: The file, link or empty folder.
        """
        (spot,) = spots(context)
        await Changes(here(), services.artifacts, services.holds_secrets, context).delete(spot)
        return fact_answer(f"deleted {spot.shown}", {"path": spot.shown, "deleted": True})


def add_move(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    both = declares_itself(here, View.VIRTUAL, "source", "destination")

    @build.write(targets=both, category="FileSystem", tags={"filesystem"}, aliases=("FileMove", "rename", "mv"))
    async def move(context: ToolContext, source: str, destination: str) -> ToolReturn:
        """Move or rename a file or folder; nothing is ever replaced.

        Args:
            source: What to move.
            destination: Its new path; folders are made as needed.
        """
        spot, to = spots(context)
        await Changes(here(), services.artifacts, services.holds_secrets, context).move(spot, to, Folders.MAKE)
        return fact_answer(f"moved {spot.shown} to {to.shown}", {"path": spot.shown, "to": to.shown})
