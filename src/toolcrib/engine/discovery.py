"""What all runs share about finding tools: the index, the usage memories, and who is shown how much."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.catalog.discovery.choosing import Sizes, is_lazy
from toolcrib.catalog.discovery.showing import Showing
from toolcrib.catalog.registry import Registry, Snapshot
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.policy.rules import compile_pattern
from toolcrib.ports import Store
from toolcrib.values.context import ToolContext
from toolcrib.values.name import SEARCH
from toolcrib.values.refusal import Reason, Refusal

if TYPE_CHECKING:
    from toolcrib.catalog.index import Entry, ToolIndex
    from toolcrib.catalog.index.ranking import Meaning
    from toolcrib.engine.display import Display
    from toolcrib.engine.effective import EffectiveSet
    from toolcrib.engine.held import Held
    from toolcrib.engine.run import Run
    from toolcrib.engine.usage import Memories
    from toolcrib.engine.wish import Wish
    from toolcrib.values.spec import ToolSpec

ALL_SHOWN = "every tool of this run is shown from the start, so there is nothing to search for"
SEARCH_DENIED = "a rule denies searching, so every tool of this run is shown from the start"


class Discovery:
    """One per runtime. `project` says whose usage memories are kept; None where nothing is to be remembered."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        showing: Showing,
        project: str | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self.registry = registry
        self.store = store
        self.showing = showing
        self.project = project
        self.meaning = meaning
        self.estimator = TokenEstimator()
        self._sizes = Sizes(self.estimator)
        self.entries: dict[str, Entry] = {}
        self.displays: dict[str, Display] = {}
        self._held: dict[str, Held] = {}
        self._index: ToolIndex | None = None
        self._indexed: Snapshot | None = None
        self._memories: Memories | None = None
        self._building = asyncio.Lock()

    def include(self, entries: Iterable[Entry]) -> None:
        """Make skills and agent definitions findable beside the tools, each under its kind."""
        self.entries.update((entry.name, entry) for entry in entries)
        self._index = None

    def weigh(self, tools: EffectiveSet) -> None:
        """Decide whether a set is shown by need; if all of it is shown, there is nothing to search for."""
        if SEARCH not in tools.snapshot:
            return
        specs = (tool.spec for name, tool in tools.snapshot.items() if name != SEARCH and name in tools)
        lazy = is_lazy(specs, self.showing, self._sizes, self.pinned(tools))
        denied = lazy and SEARCH in closed((tools.snapshot[SEARCH].spec,), tools)
        tools.reconsider(SEARCH, SEARCH_DENIED if denied else None if lazy else ALL_SHOWN)

    async def open_display(self, run: Run, wish: Wish) -> None:
        """Give a run its display, with what was active when its session was left; a child begins with nothing."""
        from toolcrib.engine.display import Display  # a run that shows everything needs none of this
        from toolcrib.engine.held import view_of

        held = self._fresh(None) if run.parent is not None else await self._of_session(run)
        held.runs += 1
        run.display = self.displays[run.origin.run_id] = Display(run, self, held, view_of(wish))
        run.display.reopen()

    async def _of_session(self, run: Run) -> Held:
        """What the runs of this agent in its session share, read back when the first of them begins."""
        from toolcrib.engine.held import KIND, read_openings  # as above

        key = f"{run.origin.session_id}:{run.origin.agent_id}"
        if key not in self._held:
            stored, fresh = await self.store.load(KIND, key), self._fresh(key)
            if stored is not None:
                # By what is there at all: a run with fewer tools does not make the others forgotten.
                fresh.activation = fresh.activation.restored(stored.body, run.tools.snapshot.__contains__)
                fresh.version, fresh.openings, fresh.stored = stored.version, read_openings(stored.body), True
            self._held.setdefault(key, fresh)
        return self._held[key]

    def _fresh(self, key: str | None) -> Held:
        from toolcrib.catalog.discovery.activation import Activation  # as above
        from toolcrib.engine.held import Held

        return Held(key, Activation(self.showing.ceiling))

    def pinned(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these tools that are always shown."""
        return pinned_by(self.showing.pinned, names)

    async def end_run(self, run_id: str) -> None:
        """Keep what a run learnt and where it left off."""
        display = self.displays.pop(run_id, None)
        if display is None:
            return
        run, held = display.run, display.held
        held.runs -= 1
        if not held.runs and held.key is not None:
            self._held.pop(held.key, None)
        display.keep()
        lessons = display.lessons()
        if lessons and (memories := self.memories()) is not None:
            await memories.learn(run.agent.agent_id, lessons)

    def memories(self) -> Memories | None:
        """The project's usage memories."""
        if self._memories is None and self.project is not None:
            from toolcrib.engine.usage import Memories  # as above

            self._memories = Memories(self.store, self.project)
        return self._memories

    def shelf(self, context: ToolContext) -> Display:
        """The display of the run that a call belongs to."""
        display = self.displays.get(context.origin.run_id)
        if display is None:
            raise Refusal(Reason.TOOL_NOT_AVAILABLE, f"{SEARCH} is not available in this run: {ALL_SHOWN}")
        return display

    async def index(self) -> ToolIndex:
        """The index over everything registered, brought up to date; building it anew happens beside the event loop."""
        from toolcrib.catalog.index import ToolIndex  # as above

        async with self._building:
            snapshot, index = self.registry.snapshot, self._index
            changed = None if self._indexed is None else snapshot.changed_since(self._indexed)
            if index is None or changed is None:
                specs = [*self.entries.values(), *(tool.spec for tool in snapshot.values())]
                build = partial(ToolIndex.build, specs, meaning=self.meaning)
                index = await asyncio.get_running_loop().run_in_executor(None, build)
            else:
                _follow(index, snapshot, changed, self.entries)
            self._index, self._indexed = index, snapshot
            return index


def closed(specs: Iterable[ToolSpec], tools: EffectiveSet) -> frozenset[str]:
    """Those of a set that rules deny whatever they are called with: they are neither shown nor found."""
    return tools.terms.policy.closed(specs, tools.terms.situation)


def pinned_by(patterns: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The names that one of these patterns fits."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    return tuple(name for name in names if any(pattern.fullmatch(name) for pattern in compiled)) if compiled else ()


def _follow(index: ToolIndex, snapshot: Snapshot, changed: Iterable[str], entries: Mapping[str, Entry]) -> None:
    for name in changed:
        tool = snapshot.get(name)
        if tool is not None:
            index.add(tool.spec)
        elif name in entries:  # which the tool of that name had hidden
            index.add(entries[name])
        elif name in index:
            index.remove(name)
