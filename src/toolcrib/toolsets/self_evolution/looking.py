"""self_evolution.list, read and show: look at the repository without changing anything."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets.self_evolution.guard import readable_target
from toolcrib.toolsets.self_evolution.records import find_proposal
from toolcrib.toolsets.self_evolution.repository import Repository
from toolcrib.toolsets.self_evolution.services import EvolutionServices
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments
from toolcrib.workspace.answers import fact_answer, window_answer
from toolcrib.workspace.arguments import AtLeast, Between, spots
from toolcrib.workspace.instructions import take_instructions
from toolcrib.workspace.lines import Span
from toolcrib.workspace.reading import read_window
from toolcrib.workspace.workspace import Workspace

MOST_FILES = 500
MOST_LINES = 1_000
WINDOW_CHARACTERS = 9_000
FACTS = ("title", "state", "branch", "commit", "base", "proposed_by", "approved_by", "description")
PLAIN_DIFF = ("-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")


def add_looking(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    """Add the tools that only look."""
    _add_list(build, services, repository)
    _add_read(build, services)
    _add_show(build, repository)


def _add_list(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    @build.read(name="self_evolution.list", targets=partial(_path_target, services.workspace), category="FileSystem")
    async def list_files(context: ToolContext, path: str = ".") -> ToolReturn:
        """List the files of the repository below a folder, the branch that is checked out, and what has changed.

        Args:
            path: The folder, seen from the top of the repository.
        """
        (spot,) = spots(context)
        below = ("--", "/".join(spot.parts)) if spot.parts else ()
        listed = (await repository.git.run("ls-files", "-z", *below)).decode(errors="replace")
        files = [name for name in listed.split("\0") if name]
        changed = await repository.changed()
        return fact_answer(
            _listing(repository, files, changed), {"branch": repository.git.branch(), "files": len(files)}
        )


def _add_read(build: ToolsetBuilder, services: EvolutionServices) -> None:
    here = services.workspace

    @build.read(targets=partial(_path_target, here), category="FileSystem", tags={"filesystem"})
    async def read(
        context: ToolContext,
        path: str,
        start_line: Annotated[int, AtLeast(1)] = 1,
        max_lines: Annotated[int, Between(1, MOST_LINES)] = 200,
    ) -> ToolReturn:
        """Read a window of lines of a file of the repository.

        Args:
            path: The file, seen from the top of the repository.
            start_line: The first line wanted, counted from 1.
            max_lines: How many lines at most.
        """
        (spot,) = spots(context)
        window = await read_window(here, spot, Span(start_line, max_lines, WINDOW_CHARACTERS))
        await take_instructions(context, here, spot, window)
        return window_answer(spot.shown, window, "\n".join(window.lines), f"next_start_line {window.next}")


def _add_show(build: ToolsetBuilder, repository: Repository) -> None:
    @build.read(category="Workflow")
    async def show(context: ToolContext, proposal: str) -> str:
        """Show a proposal: what it is for, where it stands, and every line that it would change.

        Args:
            proposal: The name that self_evolution.propose gave.
        """
        record = await find_proposal(context, repository.key, proposal)
        facts = [f"{name}: {record.text(name)}" for name in FACTS if record.text(name)]
        words = ("diff-tree", "-r", *PLAIN_DIFF, record.text("base"), record.text("commit"))
        diff = (await repository.git.run(*words)).decode(errors="replace")
        return "\n".join([*facts, "", diff])


def _path_target(workspace: Workspace, arguments: Arguments) -> Sequence[Target]:
    return [readable_target(workspace, _text(arguments.get("path")))]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "."


def _listing(repository: Repository, files: list[str], changed: dict[str, str]) -> str:
    branch = repository.git.branch()
    lines = [f"[on branch {branch}]" if branch else "[HEAD is detached: no branch is checked out]", *files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        lines.append(f"[{len(files) - MOST_FILES} more; list a folder further down]")
    if changed:
        lines.append("[changed, in no commit yet]")
        lines += [f"{how} {path}" for path, how in sorted(changed.items())[:MOST_FILES]]
    return "\n".join(lines)
