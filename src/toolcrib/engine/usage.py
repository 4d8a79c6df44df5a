"""Usage memories in the store: read when a run first searches, added to when it ends, erased on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolcrib.catalog.discovery.memory import KIND, learnt, memory_body, memory_key, read_memory
from toolcrib.catalog.index import UsageMemory
from toolcrib.ports import Conflict, Store, Unit
from toolcrib.values.context import Document
from toolcrib.values.refusal import StoreError


class Memories:
    """The memories of one project, by agent."""

    def __init__(self, store: Store, project: str) -> None:
        self._store = store
        self._project = project
        self._known: dict[str, tuple[int, UsageMemory]] = {}
        self._turn = asyncio.Lock()

    async def of(self, agent_id: str) -> UsageMemory:
        """What past runs of an agent learnt; the same object while nothing was added, so that it is indexed once."""
        document = await self._store.load(KIND, memory_key(self._project, agent_id))
        version = document.version if document else 0
        known = self._known.get(agent_id)
        if known is None or known[0] != version:
            known = self._known[agent_id] = (version, read_memory(document.body if document else None))
        return known[1]

    async def learn(self, agent_id: str, lessons: Sequence[tuple[str, str]]) -> None:
        """Add (tool, query) pairs; where others add at the same time, nobody's are lost."""
        key = memory_key(self._project, agent_id)
        async with self._turn:
            while lessons:  # each conflict is what another process added, so this ends when the others pause
                try:
                    document = await self._store.load(KIND, key)
                    memory = learnt(read_memory(document.body if document else None), lessons)
                    version = document.version if document else 0
                    await self._store.append(Unit((), documents=(Document(KIND, key, memory_body(memory), version),)))
                    return
                except Conflict:
                    continue
                except StoreError:
                    return  # a memory that cannot be kept is no reason to fail a run that went well

    async def forget(self, agent_id: str, tool: str | None) -> int:
        """Erase what was remembered for one tool, or for all, also where runs add to it; how many queries that were."""
        key = memory_key(self._project, agent_id)
        while True:  # each conflict is an addition of somebody else's, so this ends when the others pause
            document = await self._store.load(KIND, key)
            memory = read_memory(document.body if document else None)
            kept = UsageMemory() if tool is None else memory.forget(tool)
            gone = sum(map(len, memory.past.values())) - sum(map(len, kept.past.values()))
            if document is None or not gone:
                return 0
            fresh = Document(KIND, key, memory_body(kept), document.version)
            try:
                await self._store.append(Unit((), documents=(fresh,)))
                return gone
            except Conflict:
                continue
