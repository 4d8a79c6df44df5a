"""How a run begins on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.ports import RunOpened, Unit
from toolcrib.values.context import Document
from toolcrib.values.event import EventType
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING, Exposure

if TYPE_CHECKING:
    from toolcrib.engine.run import Run


@frozen
class Beginning:
    """What is committed with the record of a run's beginning, besides that it begins."""

    documents: tuple[Document, ...] = ()
    remarks: JsonObject = NOTHING


async def record_beginning(run: Run, beginning: Beginning | None) -> None:
    """Write down that a run begins: who, in which role and mode, and with how many tools."""
    origin, now = run.origin, run.runtime.clock.now()
    row = RunOpened(
        origin.run_id, origin.session_id, origin.agent_id, origin.role.value, run.mode, origin.parent_run_id, now
    )
    payload: JsonObject = {
        "mode": run.mode,
        "role": origin.role,
        **({} if run.caller is Exposure.MODEL else {"caller": run.caller_word}),
        "tools": len(run.tools),
        "out": len(run.tools.out),
        **({} if beginning is None else beginning.remarks),
    }
    draft = run.draft(EventType.RUN_STARTED, None, payload)
    documents = () if beginning is None else beginning.documents
    await run.runtime.store.append(Unit((draft,), run.ownership, documents, (row,)))
