"""A run that is about to begin: its session, its mode, and whether it may leave the mode the session was in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from toolcrib.engine.run import Run
from toolcrib.engine.wish import Wish
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.modes import Mode, is_within, mode_of
from toolcrib.policy.roles import CHILDREN
from toolcrib.values.identity import Origin
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import ConfigError, ToolcribError
from toolcrib.values.spec import NOTHING, Exposure

if TYPE_CHECKING:
    from toolcrib.assemble.crib import Toolcrib
    from toolcrib.config import Modes


def opening_mode(agent: AgentTerms, wanted: str | None, modes: Modes) -> Mode:
    """The mode that was asked for, else that of the definition; never looser than the definition."""
    mode = (agent.mode or Mode.DEFAULT) if wanted is None else mode_of(wanted)
    if mode is Mode.BYPASS and not modes.allow_bypass:
        raise ConfigError(
            "the mode bypass is the operator's to switch on: modes.allow_bypass = true in the home's config.toml"
        )
    if agent.mode is not None and not is_within(mode, agent.mode):
        raise ConfigError(f"{agent.agent_id} is defined with the mode {agent.mode}; {mode} would be looser")
    return mode


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

    async def __aenter__(self) -> Run:
        crib, runtime, wish = self._crib, self._crib.runtime, self._wish
        agent_id = wish.agent.agent_id
        held = await crib.sessions.enter(self._session_id, agent_id)
        try:
            remarks = await self._leaving_plan() if held.resumed or held.runs > 1 else NOTHING
            origin = Origin(self._session_id, runtime.ids.new("run"), agent_id, wish.role)
            resumed = held.resumed and held.runs == 1
            place = None if crib.hands is None else crib.hands.place_for(self._workspace, origin.run_id)
            self._run = await runtime.open_run(
                origin, held.ownership, wish, self._workspace, place, remarks, resumed=resumed
            )
        except BaseException:
            await self._leave()
            raise
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
            self._crib.runtime.end_session(self._session_id)

    async def _leaving_plan(self) -> JsonObject:
        """What the record says of a run that ends plan mode; without a person who wants it, there is no such run."""
        wish = self._wish
        if wish.mode is Mode.PLAN:
            return NOTHING
        runs = await self._crib.runtime.store.runs(self._session_id)
        firsts = [run for run in runs if run.parent_run_id is None and run.role not in CHILDREN]
        if not firsts or max(firsts, key=lambda run: run.created_at).mode != Mode.PLAN:
            return NOTHING
        person = self._approved_by or ("the caller" if wish.caller is Exposure.MANUAL else None)
        if person is None:
            raise ToolcribError(
                f"session {self._session_id} is in plan mode, which only a person ends: open the run with "
                "approved_by=NAME for the person who wants that, or with mode='plan'"
            )
        return {"was": Mode.PLAN.value, "approved_by": person[:200]}
