"""The usage memory as it is stored: one small document per project and agent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from toolcrib.catalog.index.usage import UsageMemory
from toolcrib.values.json import Json, JsonObject

KIND = "usage_memory"
MOST_CHARACTERS = 262_144


def memory_key(project: str, agent_id: str) -> str:
    """Where the memory of an agent in a project is kept."""
    return f"{hashlib.sha256(project.encode()).hexdigest()[:16]}:{agent_id}"


def read_memory(body: Json) -> UsageMemory:
    """The memory of a document; what is not one of its entries is left out."""
    past = body.get("past") if isinstance(body, Mapping) else None
    kept: dict[str, tuple[str, ...]] = {}
    for name, queries in past.items() if isinstance(past, Mapping) else ():
        if isinstance(queries, (list, tuple)):
            kept[name] = tuple(query for query in queries if isinstance(query, str))
    return UsageMemory(MappingProxyType(kept))


def learnt(memory: UsageMemory, pairs: Iterable[tuple[str, str]]) -> UsageMemory:
    """A memory that also knows these (tool, query); the tools longest unused make room."""
    for name, query in pairs:
        memory = memory.remember(name, query)
    past = dict(memory.past)
    size = sum(len(name) + sum(map(len, queries)) for name, queries in past.items())
    while size > MOST_CHARACTERS:
        name = next(iter(past))
        size -= len(name) + sum(map(len, past.pop(name)))
    return UsageMemory(MappingProxyType(past))


def memory_body(memory: UsageMemory) -> JsonObject:
    return {"past": {name: list(queries) for name, queries in memory.past.items()}}
