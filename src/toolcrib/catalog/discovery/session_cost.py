"""Sessions in tokens, weighed by what a prompt cache charges for what is written to it and read from it."""

from __future__ import annotations

from toolcrib.values.noun import frozen

CACHE_WRITE, CACHE_READ = 1.25, 0.1
SEARCH_CALL = 30
ENVELOPE_CALL = 12
CONVERSATION = 2_000
CALLS = 10


@frozen
class SessionCost:
    """Tokens of a session, weighed by what a prompt cache charges; `requests` counts trips to the model."""

    start: int
    weighted: float
    requests: int


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
