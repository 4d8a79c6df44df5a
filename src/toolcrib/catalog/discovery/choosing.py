"""Whether tools are shown by need: the operator says so, or by need costs less than all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from toolcrib.catalog.discovery.session_cost import CALLS, append_session, eager_session
from toolcrib.catalog.discovery.showing import ANSWERS, Mode, Showing, definition_tokens
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.values.spec import ToolSpec

META_TOKENS = 150
REASON_TOKENS = 8
MOST_KNOWN = 2_000
MANY = 100
"""From here on an answer, which holds a few tools, is short beside all of them, whatever they look like."""


class Sizes:
    """Tokens of definitions, counted once for every spec: all of a set are asked for whenever one of it changes."""

    def __init__(self, estimator: TokenEstimator) -> None:
        self.estimator = estimator
        self._known: dict[int, tuple[ToolSpec, int]] = {}

    def __call__(self, spec: ToolSpec) -> int:
        known = self._known.get(id(spec))
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            # With the spec itself, so that no other can have its id.
            known = self._known[id(spec)] = (spec, definition_tokens(spec, self.estimator))
        return known[1]


def is_lazy(specs: Iterable[ToolSpec], showing: Showing, size: Sizes, pinned: Collection[str] = ()) -> bool:
    """Whether these tools are shown by need; looks no further than it takes to tell."""
    if showing.mode is not Mode.AUTO:
        return showing.mode is not Mode.EAGER
    start, fixed = META_TOKENS + showing.listing_tokens, 0
    if pinned:
        specs = list(specs)
        fixed = sum(size(spec) for spec in specs if spec.name in pinned)
    enough = max(showing.eager_tokens, 2 * fixed + append_session(start, 0.0, CALLS).weighted)
    spent = loose = 0
    seen: list[ToolSpec] = []
    for spec in specs:
        seen.append(spec)
        if spec.name not in pinned:
            loose += 1
            spent += size(spec)
            if spent > enough and loose >= MANY:
                return True
    if spent <= showing.eager_tokens:
        return False
    lazy = append_session(start + fixed, answer_tokens(_signatures(seen, size.estimator)), CALLS)
    return lazy.weighted <= eager_session(spent + fixed, CALLS).weighted


def answer_tokens(signatures: Sequence[int]) -> float:
    """Tokens of one search answer: as many hits as there are at most, each with its reason."""
    if not signatures:
        return 0.0
    return min(ANSWERS, len(signatures)) * (sum(signatures) / len(signatures) + REASON_TOKENS)


def signature_tokens(spec: ToolSpec, estimator: TokenEstimator) -> int:
    """A tool as an answer shows it."""
    from toolcrib.catalog.discovery.lines import signature, summary  # most runs show everything and need no lines

    return estimator.tokens(f"{signature(spec)} - {summary(spec)}")


def _signatures(specs: Sequence[ToolSpec], estimator: TokenEstimator) -> list[int]:
    return [signature_tokens(spec, estimator) for spec in specs]
