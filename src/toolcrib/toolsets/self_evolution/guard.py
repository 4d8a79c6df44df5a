"""The write guard: which files of the repository may be changed. It looks at where a path really leads."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import Target, TargetKind
from toolcrib.workspace.globs import compile_glob
from toolcrib.workspace.lexical import folded
from toolcrib.workspace.mounts import Access
from toolcrib.workspace.spots import Final, PathTarget, spot_of
from toolcrib.workspace.workspace import View, Workspace

_GIT = (".git", "git~1")


@frozen
class Guard:
    """The operator's globs; git's own folder is closed whatever they say."""

    allowed: tuple[str, ...]

    def check(self, parts: Sequence[str], shown: str) -> None:
        """Refuse a path that must not be changed."""
        if any(folded(part) in _GIT for part in parts):
            raise _refused(shown, "belongs to git itself and is never changed by tools")
        path = "/".join(parts)
        if not any(compile_glob(glob).match(path) for glob in self.allowed):
            listed = ", ".join(self.allowed) or "nothing"
            raise _refused(shown, f"is not among self_evolution.allowed_paths, which allow {listed}")


def readable_target(workspace: Workspace, path: str) -> PathTarget:
    """Declare a path inside the repository to be read; git's own folder is none of it."""
    target = workspace.target(path, View.VIRTUAL, Access.READ)
    if any(folded(part) in _GIT for part in spot_of(target).parts):
        message = f"{path[:200]} belongs to git itself; list and show tell what is in the repository"
        raise Refusal(Reason.PATH_OUTSIDE_ROOT, message)
    return target


def writable_target(workspace: Workspace, guard: Guard, path: str, final: Final) -> PathTarget:
    """Declare a path inside the repository to be changed, if the guard lets it."""
    target = workspace.target(path, View.VIRTUAL, Access.WRITE, final)
    spot = spot_of(target)
    guard.check(spot.parts, spot.shown)
    return target


def branch_target(repository: str, branch: str) -> Target:
    """A branch of the repository as rules and session grants know it."""
    value = f"{repository} branch {branch}"
    return Target(TargetKind.RESOURCE, value, value)


def _refused(shown: str, why: str) -> Refusal:
    return Refusal(Reason.WRITE_OUTSIDE_ALLOWED_ROOTS, f"{shown} {why}", {"path": shown})
