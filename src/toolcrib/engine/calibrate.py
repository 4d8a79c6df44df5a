"""Token estimates made true to what providers report: sums per model, kept as a small document."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.catalog.tokens_estimate import TokenEstimator, raw_tokens
from toolcrib.ports import Conflict, Store, Unit
from toolcrib.values.context import Document
from toolcrib.values.json import Json
from toolcrib.values.refusal import ToolcribError
from toolcrib.values.spec import NOTHING

KIND = "token_usage"
MOST = 2_000_000.0
TRIES = 5


async def observe(store: Store, model: str, text: str, tokens: int) -> TokenEstimator:
    """Learn that a provider counted `tokens` for a text; later reports weigh as much as all earlier ones at most."""
    if tokens <= 0 or not text:
        raise ToolcribError("to learn from usage, give the text that was sent and the tokens the provider counted")
    for _ in range(TRIES):
        document = await store.load(KIND, model)
        guessed, counted = _sums(document.body if document else None)
        fade = 0.5 if guessed > MOST else 1.0
        guessed, counted = guessed * fade + raw_tokens(text), counted * fade + tokens
        body: Json = {"guessed": guessed, "counted": counted}
        try:
            await store.append(Unit((), documents=(Document(KIND, model, body, document.version if document else 0),)))
            return TokenEstimator.fitted(guessed, counted)
        except Conflict:
            continue
    raise ToolcribError(f"the usage of {model} could not be kept: others keep changing it; report it again")


async def estimator_for(store: Store, model: str) -> TokenEstimator:
    """The estimator for a model: as observed, or the general one where nothing was."""
    document = await store.load(KIND, model)
    return TokenEstimator.fitted(*_sums(document.body if document else None))


def _sums(body: Json) -> tuple[float, float]:
    kept = body if isinstance(body, Mapping) else NOTHING
    guessed, counted = kept.get("guessed"), kept.get("counted")
    if isinstance(guessed, (int, float)) and isinstance(counted, (int, float)):
        return float(guessed), float(counted)
    return 0.0, 0.0
