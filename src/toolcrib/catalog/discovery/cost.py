"""What tools cost in tokens: each of them, at the start of a session, and over a session with a prompt cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolcrib.catalog.discovery.finding import LIMIT
from toolcrib.catalog.discovery.lines import signature, summary
from toolcrib.catalog.discovery.listing import Level, group_of, listing
from toolcrib.catalog.discovery.meta import CALL, introduced
from toolcrib.catalog.discovery.minify import Omission, minify
from toolcrib.catalog.discovery.showing import Mode, Showing, definition_text, definition_tokens, is_lazy
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolSpec

CACHE_WRITE, CACHE_READ = 1.25, 0.1
SEARCH_CALL = 30
ENVELOPE_CALL = 12
CONVERSATION = 2_000


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
class SessionCost:
    """Tokens of a session, weighed by what a prompt cache charges; `requests` counts trips to the model."""

    start: int
    weighted: float
    requests: int


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
        estimator.tokens(f"{signature(spec)} - {summary(spec)}"),
        estimator.tokens(line),
        short.dropped,
    )


def catalog_cost(
    specs: Sequence[ToolSpec], search: ToolSpec, showing: Showing, estimator: TokenEstimator, calls: int = 10
) -> CatalogCost:
    """What these tools cost over a session in which each call is of another tool and needs a search of its own."""
    costs = tuple(tool_cost(spec, estimator) for spec in specs)
    opening = listing(specs, showing.listing_tokens, estimator)
    meta = sum(definition_tokens(spec, estimator) for spec in (search, CALL))
    told = sum(definition_tokens(spec, estimator) for spec in (introduced(search, opening), CALL))
    lazy = Mode.EAGER
    if is_lazy(specs, showing, estimator):
        lazy = Mode.REPLACE if showing.mode is Mode.REPLACE else Mode.APPEND
    return CatalogCost(
        tools=costs,
        eager=eager_session(sum(cost.definition for cost in costs), calls),
        append=append_session(told, _answer([cost.signature for cost in costs]), calls),
        replace=replace_session(told, costs, calls, showing.ceiling),
        meta=meta,
        level=opening.level,
        chosen=lazy,
    )


def eager_session(definitions: int, calls: int) -> SessionCost:
    """All definitions: written to the cache once, read back with every further request."""
    return SessionCost(definitions, definitions * (CACHE_WRITE + CACHE_READ * calls), calls + 1)


def append_session(start: int, answer: float, calls: int) -> SessionCost:
    """A list that never changes; each search adds a request, which reads the conversation again, and its answer."""
    requests = 2 * calls + 1
    weighted = start * (CACHE_WRITE + CACHE_READ * (requests - 1)) + CACHE_READ * CONVERSATION * calls
    for call in range(calls):
        later = requests - 2 * call - 2
        weighted += (SEARCH_CALL + answer + ENVELOPE_CALL) * (CACHE_WRITE + CACHE_READ * later)
    return SessionCost(start, weighted, requests)


def replace_session(start: int, costs: Sequence[ToolCost], calls: int, ceiling: int) -> SessionCost:
    """A list that grows: each change invalidates the cache, so list and conversation are written again."""
    mean = sum(cost.minified for cost in costs) / len(costs) if costs else 0.0
    line = sum(cost.line for cost in costs) / len(costs) if costs else 0.0
    weighted = start * CACHE_WRITE
    said = 0.0
    for call in range(calls):
        said += SEARCH_CALL + LIMIT * line
        listed = start + mean * min(ceiling, LIMIT * (call + 1))
        weighted += (listed + CONVERSATION + said) * CACHE_WRITE + (listed + said) * CACHE_READ
    return SessionCost(start, weighted, 2 * calls + 1)


def by_group(costs: Iterable[ToolCost]) -> Mapping[str, int]:
    """Tokens of definitions per group, the dearest first."""
    groups: dict[str, int] = {}
    for cost in costs:
        groups[cost.group] = groups.get(cost.group, 0) + cost.definition
    return dict(sorted(groups.items(), key=lambda pair: (-pair[1], pair[0])))


def _answer(signatures: Sequence[int]) -> float:
    """Tokens of one search answer: as many hits as there are at most, each with its reason."""
    if not signatures:
        return 0.0
    return min(LIMIT, len(signatures)) * (sum(signatures) / len(signatures) + 8)
