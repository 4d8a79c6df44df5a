"""Whoever opens the file with SQL finds every event, however many were stored together."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from toolcrib.ports import Unit
from toolcrib.stores.sqlite import SqliteStore
from toolcrib.values.event import Draft
from toolcrib.values.json import Json

pytestmark = pytest.mark.anyio
Open = Callable[..., SqliteStore]
Outside = Callable[[], sqlite3.Connection]
COLUMNS = "seq, run_seq, session_id, agent_id, run_id, level, type, node_id, call_id, created_at"


async def test_the_view_told_has_a_row_for_every_event(opened: Open, outside: Outside) -> None:
    store = opened()
    said: list[Json] = ["one", {"deep": [1, None, "ü"]}, "", 2**70]
    for count in (1, 4, 2):
        drafts = [Draft("note", "s1", "r1", "main", f"c{i}", f"n{i}", payload={"said": said[i]}) for i in range(count)]
        await store.append(Unit((*drafts, Draft("note", "s2"))))
    await store.purge(session_id="s2", before=None)
    events = await store.events(session_id=None, after=0, limit=100)
    connection = outside()
    rows = connection.execute(f"SELECT {COLUMNS} FROM told ORDER BY seq").fetchall()
    assert rows == [tuple(getattr(event, name) for name in COLUMNS.split(", ")) for event in events]
    payloads = connection.execute("SELECT session_id, CAST(payload AS TEXT) FROM told ORDER BY seq").fetchall()
    assert [text for session_id, text in payloads if session_id == "s2"] == [None, None, None]
    texts = [text for session_id, text in payloads if session_id == "s1"]
    assert texts[1:5] == [
        '{"said":"one"}', '{"said":{"deep":[1,null,"ü"]}}', '{"said":""}', '{"said":1180591620717411303424}',
    ]  # fmt: skip
    nodes = connection.execute("SELECT node_id, seq, CAST(payload AS TEXT) FROM nodes ORDER BY seq").fetchall()
    assert [node[0] for node in nodes] == ["n0", "n0", "n1", "n2", "n3", "n0", "n1"]
    assert [node[2] for node in nodes] == texts
    connection.close()
    await store.close()
