"""What file tools share in their arguments: bounds, declared paths, and text that must not be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.marker import MARKER
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments
from toolcrib.workspace.mounts import HOST, Access
from toolcrib.workspace.patterns import Secrets, names_sensitive
from toolcrib.workspace.spots import Final, PathTarget, Spot, spot_of
from toolcrib.workspace.workspace import View, Workspace

Declare = Callable[[Arguments], Sequence[Target]]
Here = Callable[[], Workspace]


@frozen
class Between:
    """Bounds of a whole number, both included."""

    ge: int
    le: int


@frozen
class AtLeast:
    ge: int


def declares(here: Here, view: View, access: Access, *names: str, default: str = ".") -> Declare:
    """Targets of a tool whose arguments with these names are paths."""

    def targets(arguments: Arguments) -> Sequence[Target]:
        workspace = here()
        return [workspace.target(_text(arguments.get(name), default), view, access) for name in names]

    return targets


def with_glob(target: PathTarget, glob: str, workspace: Workspace) -> PathTarget:
    """A folder in which a glob is looked for; one that names secrets is sensitive.

    A grant for the folder would cover every later look for secrets in it, so there is none.
    """
    if not names_sensitive(glob, workspace.rules):
        return target
    return replace(target, value=f"{target.value}/{glob}", marks=target.marks | {"sensitive"}, scope="")


def declares_itself(here: Here, view: View, *names: str) -> Declare:
    """Targets of a tool that deletes or moves: a link at the end of a path is meant itself, not what it leads to."""

    def targets(arguments: Arguments) -> Sequence[Target]:
        workspace = here()
        return [workspace.target(_text(arguments.get(name), "."), view, Access.WRITE, Final.ITSELF) for name in names]

    return targets


def declares_search(here: Here, view: View, default: str) -> Declare:
    """Targets of a search: its path; outside of all mounts it asks, and so does a glob that names secrets."""

    def targets(arguments: Arguments) -> Sequence[Target]:
        workspace = here()
        target = workspace.target(_text(arguments.get("path"), default), view, Access.READ)
        glob = arguments.get("glob")
        if isinstance(glob, str):
            target = with_glob(target, glob, workspace)
        if target.spot is not None and target.spot.mount is HOST:
            target = replace(target, marks=target.marks | {"outside"})
        return [target]

    return targets


def secrets_of(context: ToolContext) -> Secrets:
    """Whether sensitive files may be included: only when the target said so and the call was permitted all the same."""
    return Secrets.INCLUDED if "sensitive" in context.targets[0].marks else Secrets.LEFT_OUT


def spots(context: ToolContext) -> tuple[Spot, ...]:
    """Where the declared paths lead, in the order they were declared."""
    return tuple(spot_of(target) for target in context.targets)


def refuse_redacted(*texts: str) -> None:
    """A marker that stands for a secret must not end up in a file: the secret itself would be lost."""
    for text in texts:
        if found := MARKER.search(text):
            message = (
                f"the text contains {found[0]}, which stands for a secret that was hidden from you; writing it would "
                "destroy the secret. Edit around it, so that the marker is not part of the new text"
            )
            raise Refusal(Reason.VALIDATION_ERROR, message)


def _text(value: Json, default: str) -> str:
    return value if isinstance(value, str) else default
