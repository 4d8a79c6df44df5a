"""code.read_file, code.list_dir, code.search: look without changing anything."""

from __future__ import annotations

from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.values.context import ToolContext
from toolcrib.values.result import ToolReturn
from toolcrib.workspace.answers import listing_answer, search_answer, window_answer
from toolcrib.workspace.arguments import AtLeast, Between, declares, declares_search, secrets_of, spots
from toolcrib.workspace.instructions import take_instructions
from toolcrib.workspace.lines import Span
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.reading import list_folder, read_window, search_files, walk_folder
from toolcrib.workspace.search import Case, Query
from toolcrib.workspace.workspace import View

WINDOW, MOST_LINES = 200, 1_000
ENTRIES, MOST_ENTRIES = 200, 1_000
MATCHES, MOST_MATCHES = 100, 1_000


def add_reading(build: ToolsetBuilder, services: Services) -> None:
    """Add the tools that only look."""
    add_read_file(build, services)
    add_list_dir(build, services)
    add_search(build, services)


def add_read_file(build: ToolsetBuilder, services: Services) -> None:
    here, limits = services.workspace, services.files
    path = declares(here, View.HOST, Access.READ, "path")

    @build.read(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("FileRead", "read_file", "cat"))
    async def read_file(
        context: ToolContext,
        path: str,
        start_line: Annotated[int, AtLeast(1)] = 1,
        max_lines: Annotated[int, Between(1, MOST_LINES)] = WINDOW,
    ) -> ToolReturn:
        """Read a window of lines of a text file, of any size.

        Args:
            path: The file; relative to the project, or absolute.
            start_line: The first line wanted, counted from 1; go on with the next_start_line of the answer.
            max_lines: How many lines at most.
        """
        (spot,) = spots(context)
        window = await read_window(here(), spot, Span(start_line, max_lines, limits.window_characters))
        await take_instructions(context, here(), spot, window)
        return window_answer(spot.shown, window, "\n".join(window.lines), f"next_start_line {window.next}")


def add_list_dir(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace
    path = declares(here, View.HOST, Access.READ, "path")

    @build.read(targets=path, category="FileSystem", tags={"filesystem"}, aliases=("list_files", "ls"))
    async def list_dir(
        context: ToolContext,
        path: str = ".",
        recursive: bool = False,
        limit: Annotated[int, Between(1, MOST_ENTRIES)] = ENTRIES,
    ) -> ToolReturn:
        """List what is in a folder.

        Args:
            path: The folder; relative to the project, or absolute.
            recursive: Also list what is in the folders below; links are not followed, sensitive folders not entered.
            limit: How many entries at most.
        """
        (spot,) = spots(context)
        hidden = 0
        if recursive:
            entries, walk, more = await walk_folder(here(), spot, limit, None, secrets_of(context))
            hidden, total = walk.hidden, None
        else:
            entries, total = await list_folder(here(), spot, limit)
            more = total > len(entries)
        return listing_answer(spot.shown, entries, more, total, hidden)


def add_search(build: ToolsetBuilder, services: Services) -> None:
    here, limits = services.workspace, services.files
    search_path = declares_search(here, View.HOST, ".")

    @build.read(
        targets=search_path, category="Search", tags={"filesystem"}, aliases=("CodeSearch", "grep", "rg"),
        timeout=limits.search_seconds + 10,
    )  # fmt: skip
    async def search(
        context: ToolContext,
        query: str,
        path: str = ".",
        glob: str | None = None,
        limit: Annotated[int, Between(1, MOST_MATCHES)] = MATCHES,
        context_lines: Annotated[int, Between(0, 10)] = 0,
        literal: bool = False,
        case: Case = Case.SMART,
    ) -> ToolReturn:
        """Search the content of files for a regular expression; ignore files are respected, secrets left out.

        Args:
            query: A regular expression (Rust syntax), or plain text with literal.
            path: The file or folder to search; the project unless given.
            glob: Only files whose path fits, such as '*.py' or 'src/**/*.{ts,tsx}'.
            limit: How many matches at most.
            context_lines: Lines to show before and after each match.
            literal: Take the query as plain text.
            case: smart ignores case unless the query has capitals.
        """
        (spot,) = spots(context)
        wanted = Query(query, literal, glob, limit, context_lines, case, secrets_of(context), limits.search_seconds)
        shown, found = await search_files(here(), spot, wanted)
        return search_answer(spot.shown, shown, found)
