"""code.write_file and code.edit_file: change files whole or not at all, with what was there kept for undo."""

from __future__ import annotations

from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.workspace.arguments import declares, refuse_redacted, spots
from toolcrib.workspace.changes import Changes
from toolcrib.workspace.changing import Missing, edit_text, patch_text, write_text
from toolcrib.workspace.edits import Edit
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.workspace import View
from toolcrib.workspace.writing import Folders, taken

MOST_EDITS = 200


class _Some:
    min_length = 1
    max_length = MOST_EDITS


def add_changing(build: ToolsetBuilder, services: Services) -> None:
    """Add the tools that change files."""
    add_write_file(build, services)
    add_edit_file(build, services)


def add_write_file(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.HOST, Access.WRITE, "path")

    @build.write(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("FileWrite", "write_file"))
    async def write_file(
        context: ToolContext, path: str, content: str, create_dirs: bool = True, overwrite: bool = False
    ) -> ToolReturn:
        """Write a whole file. An existing one is replaced only with overwrite; its mode and encoding stay.

        Args:
            path: The file; relative to the project, or absolute.
            content: The whole new content.
            create_dirs: Make the folders that the file needs.
            overwrite: Replace the file if it exists.
        """
        (spot,) = spots(context)
        refuse_redacted(content)
        if spot.identity is not None and not overwrite:
            spot.file()
            raise taken(spot)
        folders = Folders.MAKE if create_dirs else Folders.EXPECT
        return await write_text(
            Changes(here(), services.artifacts, services.holds_secrets, context), spot, content, folders
        )


def add_edit_file(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.HOST, Access.WRITE, "path")

    @build.write(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("FileEdit", "apply_patch"))
    async def edit_file(
        context: ToolContext,
        path: str,
        edits: Annotated[list[Edit], _Some()] | None = None,
        unified_diff: str | None = None,
        create_if_missing: bool = False,
        expected_hash: str | None = None,
    ) -> ToolReturn:
        """Change parts of a file: either edits of exact texts, or a unified diff of this one file.

        Args:
            path: The file; relative to the project, or absolute.
            edits: Each replaces `old`, which must stand in the file exactly once (or replace_all), by `new`, in order.
            unified_diff: A diff with exact context lines; no renames, deletions or binary content.
            create_if_missing: Make the file if there is none, from an edit with an empty `old`, or the diff.
            expected_hash: The content_hash that was read; refused as stale_file when the file has changed since.
        """
        (spot,) = spots(context)
        changes = Changes(here(), services.artifacts, services.holds_secrets, context)
        if (edits is None) == (unified_diff is None):
            raise Refusal(Reason.VALIDATION_ERROR, "give either edits or unified_diff, one of the two")
        missing = Missing.CREATED if create_if_missing else Missing.REFUSED
        if unified_diff is not None:
            return await patch_text(changes, spot, unified_diff, missing, expected_hash)
        refuse_redacted(*(edit.new for edit in edits or ()))
        return await edit_text(changes, spot, edits or [], missing, expected_hash)
