"""workspace.search and workspace.glob."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments
from toolcrib.values.words import counted
from toolcrib.workspace.answers import fact_answer, search_answer
from toolcrib.workspace.arguments import Between, declares_search, secrets_of, spots, with_glob
from toolcrib.workspace.lexical import shown
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.reading import search_files, walk_folder
from toolcrib.workspace.search import Case, Query
from toolcrib.workspace.workspace import PROJECT, View

MATCHES, MOST_MATCHES = 50, 100
MOST_CONTEXT = 10
MOST_PATHS = 500


def add_searching(build: ToolsetBuilder, services: Services) -> None:
    """Add the tools that find files and lines."""
    add_search(build, services)
    add_glob(build, services)


def add_search(build: ToolsetBuilder, services: Services) -> None:
    here, limits = services.workspace, services.files
    search_path = declares_search(here, View.VIRTUAL, PROJECT)

    @build.read(
        targets=search_path, category="Search", tags={"filesystem"}, aliases=("workspace_search", "grep"),
        timeout=limits.search_seconds + 10,
    )  # fmt: skip
    async def search(
        context: ToolContext,
        query: str,
        path: str = PROJECT,
        glob: str | None = None,
        limit: Annotated[int, Between(1, MOST_MATCHES)] = MATCHES,
        context_lines: Annotated[int, Between(0, MOST_CONTEXT)] = 0,
        ignore_case: bool = False,
    ) -> ToolReturn:
        """Search the content of files for a regular expression; ignore files are respected, secrets left out.

        Args:
            query: A regular expression.
            path: The file or folder to search.
            glob: Only files whose path fits, such as '*.py'.
            limit: How many matches at most.
            context_lines: Lines to show before and after each match.
            ignore_case: Take capital and small letters as the same.
        """
        (spot,) = spots(context)
        case = Case.IGNORED if ignore_case else Case.SENSITIVE
        wanted = Query(query, False, glob, limit, context_lines, case, secrets_of(context), limits.search_seconds)
        verified, found = await search_files(here(), spot, wanted)
        return search_answer(spot.shown, verified, found)


def add_glob(build: ToolsetBuilder, services: Services) -> None:
    here = services.workspace

    def glob_targets(arguments: Arguments) -> Sequence[Target]:
        folder, rest = _split(str(arguments["pattern"]), str(arguments.get("path") or PROJECT))
        workspace = here()
        return [with_glob(workspace.target(folder, View.VIRTUAL, Access.READ), rest, workspace)]

    @build.read(targets=glob_targets, category="Search", tags={"filesystem"}, aliases=("find", "workspace_glob"))
    async def glob(
        context: ToolContext,
        pattern: str,
        path: str = PROJECT,
        limit: Annotated[int, Between(1, MOST_PATHS)] = MOST_PATHS,
    ) -> ToolReturn:
        """Find files and folders whose path fits a glob; `**/*.py` also finds files at the top.

        Args:
            pattern: A glob such as '**/*.py' or 'src/*/test_?.c'; `**` crosses folders.
            path: The folder that the pattern is relative to.
            limit: How many paths at most.
        """
        (spot,) = spots(context)
        _, rest = _split(pattern, path)
        entries, walk, more = await walk_folder(here(), spot, limit, rest, secrets_of(context))
        paths = [f"{spot.shown}/{entry.path}" for entry in entries]
        notes = [f"{counted(len(paths), 'path fits', 'paths fit')} {pattern}"]
        notes += ["there are more: narrow the pattern"] if more else []
        notes += [f"{walk.hidden} sensitive folders were not entered"] if walk.hidden else []
        facts = {"count": len(paths), "truncated": more, "sensitive_not_entered": walk.hidden}
        return fact_answer("\n".join([*paths, f"[{'; '.join(notes)}]"]), facts)


def _split(pattern: str, path: str) -> tuple[str, str]:
    """The folder that a pattern starts from, and the pattern below it; a pattern never climbs."""
    if ".." in pattern.split("/"):
        message = f"the pattern {shown(pattern)} climbs with '..'; give the folder as path and a pattern below it"
        raise Refusal(Reason.PATH_OUTSIDE_ROOT, message)
    if not pattern.startswith("/"):
        return path, pattern
    mount, _, rest = pattern.lstrip("/").partition("/")
    return f"/{mount}", rest or "*"
