"""Toolsets that ship with Toolcrib: one module (or package) each, with a function `toolset(services) -> Toolset`.

Here: tools, in words and arguments that a model understands, over the rooms below. Not here: whether a call is
permitted (that is decided before a handler runs) and where a handler runs (executors).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolcrib.values.noun import frozen

if TYPE_CHECKING:  # a toolset that touches no file need not load what file tools stand on
    from toolcrib.ports import Artifacts
    from toolcrib.workspace.workspace import Workspace


@frozen
class FileLimits:
    """How much file tools put into one answer. Windows end at a line, so that the next one begins where it should."""

    window_characters: int = 9_000
    search_seconds: float = 30.0

    @classmethod
    def within(cls, result_limit: int) -> FileLimits:
        """Windows that leave room for what is said about them, so that no window is cut a second time."""
        return cls(window_characters=result_limit * 9 // 10)


@frozen(kw_only=True)
class Services:
    """What toolsets are built from. `workspace` gives the one of the run that is being served.

    `holds_secrets` says of what a file held whether it must not be kept for undo.
    """

    workspace: Callable[[], Workspace]
    artifacts: Artifacts
    holds_secrets: Callable[[str], bool]
    files: FileLimits = FileLimits()
