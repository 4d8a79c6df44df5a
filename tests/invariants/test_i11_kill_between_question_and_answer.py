"""kill -9 anywhere between a question and its answer: the call is neither lost nor doubled, and has one result."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from toolcrib import Event, PermissionDecision
from toolcrib.askers.inbox import answer
from toolcrib.assemble.crib import SystemClock
from toolcrib.ports import QuestionState
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.values.identity import Principal, Standing

WORKER = Path(__file__).with_name("parked_worker.py")
ENDS = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}
LEASE = 1.1
PATIENCE = 60.0


@contextmanager
def worker(role: str, home: Path, point: str, after: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(WORKER), role, str(home), point, str(after)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def store_of(home: Path) -> SqliteStore:
    return SqliteStore.open(
        home / "toolcrib.db", durability=Durability.NORMAL, clock=SystemClock(), artifacts_dir=home / "artifacts"
    )


async def answer_when_asked(home: Path, process: subprocess.Popen[str], word: str) -> None:
    """Be the person: answer what waits, for as long as the process lives."""
    store = store_of(home)
    try:
        while process.poll() is None:
            for question in await store.questions(session_id=None, state=QuestionState.PENDING, limit=9):
                alice = Principal("alice", Standing.TERMINAL)
                await answer(store, question.request.request_id, PermissionDecision(word), alice)
            await asyncio.sleep(0.02)
    finally:
        await store.close()


async def read(home: Path) -> list[Event]:
    store = store_of(home)
    try:
        assert (await store.verify(None)).faults == ()
        return list(await store.events(session_id="s", after=0, limit=10_000))
    finally:
        await store.close()


def see_through(home: Path, point: str = "nowhere", after: int = 0, word: str = "allow_once") -> int:
    with worker("ask", home, point, after) as process:
        while not (home / "toolcrib.db").exists() and process.poll() is None:
            time.sleep(0.02)
        asyncio.run(answer_when_asked(home, process, word))
        return process.wait(PATIENCE)


def check(home: Path, word: str = "allow_once") -> str | None:
    """One result, no effect without it, none twice; returns how the call ended."""
    events = asyncio.run(read(home))
    [end] = [event for event in events if event.type in ENDS]
    reason = (end.payload or {}).get("reason")
    effects = (home / "effects").read_text().splitlines() if (home / "effects").exists() else []
    assert end.call_id == "mine"
    assert len(effects) <= 1, "nothing acts twice"
    assert reason is not None or effects == ["1"], "what is reported done was done"
    assert not effects or "tool_started" in [event.type for event in events], "no effect without its start on record"
    assert len([event for event in events if event.type == "permission_answered"]) <= 1
    if word == "deny":
        assert (reason, effects) == ("permission_denied", [])
    return reason if isinstance(reason, str) else None


# The commits of the asking process: claim, run, question, start, result, and what follows.
@pytest.mark.parametrize(
    ("point", "after"),
    [
        ("before_commit", 2), ("after_commit", 2), ("before_commit", 3), ("after_commit", 3), ("before_effect", 0),
        ("after_effect", 0), ("before_commit", 4), ("after_commit", 4), ("after_commit", 5),
    ],
)  # fmt: skip
def test_the_asking_process_may_die_anywhere(tmp_path: Path, point: str, after: int) -> None:
    home = tmp_path / "home"
    assert see_through(home, point, after) == -9
    time.sleep(LEASE)
    assert see_through(home) == 0
    ended = check(home)
    acted_before_the_end = point in ("before_effect", "after_effect") or (point, after) in [
        ("after_commit", 3), ("before_commit", 4),
    ]  # fmt: skip
    assert ended == ("interrupted" if acted_before_the_end else None)


def test_a_question_outlives_its_process_and_its_answer_settles_the_call_at_the_next_resume(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with worker("ask", home, "nowhere", 0) as process:
        _wait_for_question(home, process)
        process.kill()
    with worker("answer", home, "nowhere", 0) as approver:
        assert approver.communicate(timeout=PATIENCE)[0].startswith("answered")
    assert not (home / "effects").exists(), "who approves does not run anything"
    time.sleep(LEASE)
    with worker("ask", home, "nowhere", 0) as process:
        assert process.communicate(timeout=PATIENCE)[0] == "result mine None\n"
    assert check(home) is None


def test_a_denial_given_while_nobody_ran_denies_at_the_next_resume(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with worker("ask", home, "nowhere", 0) as process:
        _wait_for_question(home, process)
        process.kill()
    time.sleep(LEASE)
    assert see_through(home, word="deny") == 0
    assert check(home, "deny") == "permission_denied"


@pytest.mark.parametrize(("point", "kept"), [("before_commit", False), ("after_commit", True)])
def test_an_answer_counts_exactly_if_it_was_committed(tmp_path: Path, point: str, kept: bool) -> None:
    home = tmp_path / "home"
    with worker("ask", home, "nowhere", 0) as process:
        _wait_for_question(home, process)
        with worker("answer", home, point, 0) as approver:
            assert approver.wait(PATIENCE) == -9
        with worker("answer", home, "nowhere", 0) as second:
            told = second.communicate(timeout=PATIENCE)[0]
        assert told.startswith("answered") is not kept
        assert process.wait(PATIENCE) == 0
    assert check(home) is None


def test_two_who_answer_at_once_give_one_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with worker("ask", home, "nowhere", 0) as process:
        _wait_for_question(home, process)
        with worker("answer", home, "nowhere", 0) as one, worker("answer", home, "nowhere", 0) as two:
            told = [each.communicate(timeout=PATIENCE)[0] for each in (one, two)]
        assert sum(each.startswith("answered") for each in told) == 1
        assert process.wait(PATIENCE) == 0
    assert check(home) is None


def _wait_for_question(home: Path, asker: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _asked(home):
        assert asker.poll() is None, asker.communicate()[1]
        assert time.monotonic() < deadline, "nobody asked"
        time.sleep(0.02)


def _asked(home: Path) -> bool:
    if not (home / "toolcrib.db").exists():
        return False
    with closing(sqlite3.connect(home / "toolcrib.db")) as connection:
        return connection.execute("SELECT count(*) FROM questions WHERE state = 'pending'").fetchone() != (0,)
