"""What tools cost in tokens: each of them, at the start of a session, and over a session with a prompt cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from toolcrib.catalog.discovery.choosing import Sizes, answer_tokens, is_lazy, signature_tokens
from toolcrib.catalog.discovery.lines import summary
from toolcrib.catalog.discovery.listing import Level, group_of, listing
from toolcrib.catalog.discovery.meta import CALL, introduced
from toolcrib.catalog.discovery.minify import Omission, minify
from toolcrib.catalog.discovery.session_cost import (
    CACHE_READ,
    CACHE_WRITE,
    CALLS,
    CONVERSATION,
    SEARCH_CALL,
    SessionCost,
    append_session,
    eager_session,
)
from toolcrib.catalog.discovery.showing import ANSWERS, Mode, Showing, definition_text, definition_tokens
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolSpec


@frozen
class ToolCost:
    """Tokens of one tool in each form it can be sent in."""

    name: str
    group: str
    definition: int
    minified: int
    signature: int
    line: int
    dropped: tuple[Omission, ...] = ()


@frozen
class CatalogCost:
    """What a catalog costs, all at once and by need."""

    tools: tuple[ToolCost, ...]
    eager: SessionCost
    append: SessionCost
    replace: SessionCost
    meta: int
    """The two meta-tools, without the listing."""
    level: Level
    chosen: Mode
    """What the showing comes to for these tools."""

    @property
    def saving(self) -> float:
        """The part of the eager cost that the chosen way saves."""
        spent = {Mode.EAGER: self.eager, Mode.APPEND: self.append, Mode.REPLACE: self.replace}[self.chosen].weighted
        return 1.0 - spent / self.eager.weighted if self.eager.weighted else 0.0


def tool_cost(spec: ToolSpec, estimator: TokenEstimator) -> ToolCost:
    """One tool in every form."""
    short = minify(spec.input_schema)
    line = f"{spec.name}: {summary(spec)}"
    return ToolCost(
        spec.name,
        group_of(spec),
        definition_tokens(spec, estimator),
        estimator.tokens(definition_text(spec, short.schema)),
        signature_tokens(spec, estimator),
        estimator.tokens(line),
        short.dropped,
    )


def catalog_cost(
    specs: Sequence[ToolSpec],
    search: ToolSpec,
    showing: Showing,
    estimator: TokenEstimator,
    calls: int = CALLS,
    pinned: Collection[str] = (),
) -> CatalogCost:
    """What these tools cost over a session in which each call is of another tool and needs a search of its own."""
    costs = tuple(tool_cost(spec, estimator) for spec in specs)
    opening = listing(specs, showing.listing_tokens, estimator)
    meta = sum(definition_tokens(spec, estimator) for spec in (search, CALL))
    told = sum(definition_tokens(spec, estimator) for spec in (introduced(search, opening), CALL))
    told += sum(cost.minified for cost in costs if cost.name in pinned)
    lazy = Mode.EAGER
    if is_lazy(specs, showing, Sizes(estimator), pinned):
        lazy = Mode.REPLACE if showing.mode is Mode.REPLACE else Mode.APPEND
    return CatalogCost(
        tools=costs,
        eager=eager_session(sum(cost.definition for cost in costs), calls),
        append=append_session(told, answer_tokens([cost.signature for cost in costs]), calls),
        replace=replace_session(told, costs, calls, showing.ceiling),
        meta=meta,
        level=opening.level,
        chosen=lazy,
    )


def replace_session(start: int, costs: Sequence[ToolCost], calls: int, ceiling: int) -> SessionCost:
    """A list that grows: each change invalidates the cache, so list and conversation are written again."""
    mean = sum(cost.minified for cost in costs) / len(costs) if costs else 0.0
    line = sum(cost.line for cost in costs) / len(costs) if costs else 0.0
    weighted = start * CACHE_WRITE
    said = 0.0
    for call in range(calls):
        said += SEARCH_CALL + ANSWERS * line
        listed = start + mean * min(ceiling, ANSWERS * (call + 1))
        weighted += (listed + CONVERSATION + said) * CACHE_WRITE + (listed + said) * CACHE_READ
    return SessionCost(start, weighted, 2 * calls + 1)


def by_group(costs: Iterable[ToolCost]) -> Mapping[str, int]:
    """Tokens of definitions per group, the dearest first."""
    groups: dict[str, int] = {}
    for cost in costs:
        groups[cost.group] = groups.get(cost.group, 0) + cost.definition
    return dict(sorted(groups.items(), key=lambda pair: (-pair[1], pair[0])))
