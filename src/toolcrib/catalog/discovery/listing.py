"""What opens a session: every tool with a line, only names, or only groups: whatever a budget has room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from toolcrib.catalog.discovery.lines import one_line, summary
from toolcrib.catalog.discovery.showing import LISTING_TOKENS
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolSpec, ToolType

LABEL_LENGTH = 40
LABELS: Mapping[str, str] = {
    "FileSystem": "files and folders",
    "Network": "web and hosts",
    "Shell": "commands and processes",
    "Search": "finding things",
    "Memory": "what was remembered",
    "Knowledge": "documents and facts",
    "Agent": "other agents",
    "Workflow": "steps and plans",
    "Schedule": "timed work",
    "Interaction": "questions to people",
}
"""The shipped categories, each in a few words."""


class Level(StrEnum):
    """How much of the catalog is told at the start of a session."""

    LINES = "lines"
    NAMES = "names"
    GROUPS = "groups"


@frozen
class Listing:
    """The text, how much it tells, and which tools or groups it names."""

    level: Level
    text: str
    named: tuple[str, ...]


def listing(
    specs: Sequence[ToolSpec], budget: int = LISTING_TOKENS, estimator: TokenEstimator | None = None
) -> Listing:
    """The fullest listing that fits; the same tools give the same text, in whatever order they were registered."""
    weigh = estimator or TokenEstimator()
    ordered = sorted(specs, key=lambda spec: spec.name)
    groups = grouped(ordered)
    names = tuple(spec.name for spec in ordered)
    # A name costs two tokens at least: longer lists than that need not be written to see that they do not fit.
    if 2 * len(ordered) <= budget:
        for level, text in ((Level.LINES, _lines(ordered)), (Level.NAMES, _names(groups))):
            if weigh.tokens(text) <= budget:
                return Listing(level, text, names)
    return _groups(groups, budget, weigh)


def is_true(told: Listing, specs: Iterable[ToolSpec]) -> bool:
    """Whether everything that a listing says is so; there may be tools besides that it does not tell of."""
    known = {spec.name: spec for spec in specs}
    if told.level is Level.GROUPS:
        return grouped(known.values()).keys() >= set(told.named)
    if not known.keys() >= set(told.named):
        return False
    named = [known[name] for name in told.named]
    return told.text == (_lines(named) if told.level is Level.LINES else _names(grouped(named)))


def grouped(specs: Iterable[ToolSpec]) -> dict[str, list[ToolSpec]]:
    """Specs by group, groups by name."""
    groups: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        groups.setdefault(group_of(spec), []).append(spec)
    return dict(sorted(groups.items()))


def group_of(spec: ToolSpec) -> str:
    """Where a tool belongs for a reader: its category, else its server, else the first part of its name."""
    return one_line(spec.category or server_of(spec) or spec.name.partition(".")[0], LABEL_LENGTH)


def server_of(spec: ToolSpec) -> str:
    """The server a tool comes from; empty for a tool that comes from none."""
    told = spec.metadata.get("server")
    if isinstance(told, str) and told:
        return told
    return spec.source.name if spec.tool_type is ToolType.MCP or spec.source.kind == "mcp" else ""


def _lines(specs: Sequence[ToolSpec]) -> str:
    return "\n".join(f"{spec.name}: {summary(spec)}" for spec in specs)


def _names(groups: Mapping[str, list[ToolSpec]]) -> str:
    return "\n".join(f"{group}: {', '.join(spec.name for spec in specs)}" for group, specs in groups.items())


def _groups(groups: Mapping[str, list[ToolSpec]], budget: int, weigh: TokenEstimator) -> Listing:
    """Groups with their size, the largest first where not all fit."""
    largest = sorted(groups, key=lambda group: (-len(groups[group]), group))
    kept: list[str] = []
    spent = 8
    for group in largest:
        spent += weigh.tokens(f"{_group(group, len(groups[group]))}, ")
        if spent > budget:
            break
        kept.append(group)
    shown = list(_shown(sorted(kept), groups))
    if len(kept) < len(groups):
        shown.append(f"{len(groups) - len(kept)} more groups")
    return Listing(Level.GROUPS, ", ".join(shown), tuple(sorted(kept)))


def _shown(kept: Iterable[str], groups: Mapping[str, list[ToolSpec]]) -> Iterator[str]:
    return (_group(group, len(groups[group])) for group in kept)


def _group(group: str, size: int) -> str:
    label = LABELS.get(group)
    return f"{group} ({label}; {size})" if label else f"{group} ({size})"
