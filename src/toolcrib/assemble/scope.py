"""A run that is about to begin: its session, its mode, and whether it may leave the mode the session was in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from toolcrib.engine.beginning import Beginning
from toolcrib.engine.run import Run
from toolcrib.engine.sessions import Held
from toolcrib.engine.wish import Wish
from toolcrib.policy.modes import Mode
from toolcrib.values.context import Document
from toolcrib.values.event import EventType, Level
from toolcrib.values.identity import Origin
from toolcrib.values.refusal import ToolcribError
from toolcrib.values.spec import Exposure

if TYPE_CHECKING:
    from toolcrib.assemble.crib import Toolcrib
    from toolcrib.engine.effective import EffectiveSet

DOCUMENT = "session_mode"
"""The kind of the document that says whether a session is in plan mode."""


class RunScope:
    """A run that is about to begin: claims its session on entry, closes its records on exit."""

    def __init__(
        self, crib: Toolcrib, wish: Wish, session_id: str | None, workspace: str | None, approved_by: str | None = None
    ) -> None:
        self._crib = crib
        self._wish = wish
        self._session_id = session_id or crib.runtime.ids.new("session")
        self._workspace = workspace
        self._approved_by = approved_by
        self._run: Run | None = None
        self._sync: AbstractContextManager[Run] | None = None

    def effective(self) -> EffectiveSet:
        """The tools that the run would have as things stand, without beginning it."""
        return self._crib.runtime.effective(self._wish)

    async def __aenter__(self) -> Run:
        crib, runtime, wish = self._crib, self._crib.runtime, self._wish
        agent_id = wish.agent.agent_id
        if crib.servers is not None:
            await crib.servers.ready()
        for prepare in runtime.preparations:
            await prepare()
        crib.rules.refresh(runtime)
        held = await crib.sessions.enter(self._session_id, agent_id)
        try:
            beginning = await self._beginning(held)
            origin = Origin(self._session_id, runtime.ids.new("run"), agent_id, wish.role, wish.surface)
            resumed = held.resumed and held.runs == 1
            place = None if crib.hands is None else crib.hands.place_for(self._workspace, origin.run_id)
            self._run = await runtime.open_run(
                origin, held.ownership, wish, self._workspace, place, beginning, resumed=resumed
            )
        except BaseException:
            await self._leave()
            raise
        if (trouble := crib.rules.trouble()) is not None:
            self._run.note(EventType.NOTE, None, trouble, Level.ERROR)
        return self._run

    async def __aexit__(self, *_: object) -> None:
        if self._run is not None:
            await self._run.close()
        await self._leave()

    def __enter__(self) -> Run:
        portal = self._crib.runtime.portal
        if portal is None:
            raise ToolcribError("this crib lives on an event loop: use `async with crib.run()`, or Toolcrib.open_sync")
        self._sync = portal.wrap_async_context_manager(self)
        return self._sync.__enter__()

    def __exit__(self, *failure: Any) -> None:
        if self._sync is not None:
            self._sync.__exit__(*failure)

    async def _leave(self) -> None:
        if await self._crib.sessions.leave(self._session_id):
            await self._crib.runtime.end_session(self._session_id)

    async def _beginning(self, held: Held) -> Beginning:
        """What is recorded when the run begins. Plan mode lasts until a person ends it, whatever runs come between."""
        wish, store = self._wish, self._crib.runtime.store
        if wish.caller is Exposure.MANUAL:
            return Beginning()  # a person's own calls neither begin nor end the model's plan mode
        known = await store.load(DOCUMENT, self._session_id) if held.resumed or held.runs > 1 else None
        planning = known is not None and known.body == Mode.PLAN.value
        if planning is (wish.mode is Mode.PLAN):
            return Beginning()
        version = 0 if known is None else known.version
        document = Document(DOCUMENT, self._session_id, wish.mode.value, version)
        if not planning:
            return Beginning((document,))
        if self._approved_by is None:
            raise ToolcribError(
                f"session {self._session_id} is in plan mode, which only a person ends: open the run with "
                "approved_by=NAME for the person who wants that, or with mode='plan'"
            )
        return Beginning((document,), {"was": Mode.PLAN.value, "approved_by": self._approved_by[:200]})
