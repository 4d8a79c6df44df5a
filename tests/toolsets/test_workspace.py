"""workspace.*: virtual paths, windows with cursors, and each change on record so that it can be undone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from toolcrib.values.refusal import Reason
from toolcrib.workspace.undo import Outcome, undo

if TYPE_CHECKING:
    from tests.toolsets.conftest import Bench

pytestmark = pytest.mark.anyio


async def test_a_read_is_numbered_and_its_cursor_leads_on(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("".join(f"l{number}\n" for number in range(1, 251)))
    first = await bench.done("workspace.read", path="f.txt")
    assert first.text.startswith("  1\tl1\n  2\tl2\n")
    assert first.metadata["end_line"] == 100
    second = await bench.done("workspace.read", path="/workspace/f.txt", cursor=first.metadata["cursor"])
    assert (second.metadata["start_line"], second.metadata["changed"]) == (101, False)
    last = await bench.done("workspace.read", path="f.txt", cursor="201")
    assert (last.metadata["end_line"], last.metadata["cursor"]) == (250, None)


async def test_a_cursor_into_a_file_that_changed_says_so(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("a\n" * 150)
    first = await bench.done("workspace.read", path="f.txt")
    (bench.project / "f.txt").write_text("b\n" * 120)
    second = await bench.done("workspace.read", path="f.txt", cursor=first.metadata["cursor"])
    assert second.metadata["changed"]
    assert "has changed since" in second.text
    (bench.project / "f.txt").unlink()
    gone = await bench.call("workspace.read", path="f.txt", cursor=first.metadata["cursor"])
    assert gone.reason is Reason.FILE_NOT_FOUND
    assert (await bench.call("workspace.read", path="f.txt", cursor="soon")).reason is not None


async def test_a_list_is_capped_at_200(bench: Bench) -> None:
    for number in range(210):
        (bench.scratch / f"{number:03}").touch()
    result = await bench.done("workspace.list", path="/scratch")
    assert result.metadata["count"] == 200
    assert "200 of 210 entries in /scratch" in result.text


async def test_a_glob_finds_top_level_files_too_and_never_climbs(bench: Bench) -> None:
    for path in ("a.py", "x/b.py", "x/y/c.py", "d.txt", ".git/e.py", ".ssh/f.py"):
        (bench.project / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / path).touch()
    (bench.scratch / "s.py").touch()
    found = await bench.done("workspace.glob", pattern="**/*.py")
    assert found.text.split("\n")[:3] == ["/workspace/a.py", "/workspace/x/b.py", "/workspace/x/y/c.py"]
    assert found.metadata == {**found.metadata, "count": 3, "truncated": False, "sensitive_not_entered": 1}
    scratch = await bench.done("workspace.glob", pattern="/scratch/*.py")
    assert scratch.text.startswith("/scratch/s.py\n")
    for pattern in ("../**/*", "x/../../*", "/etc/*", "/*"):
        assert (await bench.call("workspace.glob", pattern=pattern)).reason is Reason.PATH_OUTSIDE_ROOT


async def test_a_glob_that_names_secrets_asks_and_then_finds(bench: Bench) -> None:
    (bench.project / ".ssh").mkdir()
    (bench.project / ".ssh" / "id_x").touch()
    found = await bench.done("workspace.glob", pattern=".ssh/*")
    assert found.text.startswith("/workspace/.ssh/id_x\n")
    assert [target.marks for target in bench.asked[0].targets] == [{"sensitive"}]
    assert bench.asked[0].grant_scope is None


async def test_a_search_folds_case_when_told_and_stops_at_its_limit(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("Word\nword\nWORD\n")
    exact = await bench.done("workspace.search", query="word")
    assert exact.metadata["count"] == 1
    folded = await bench.done("workspace.search", query="word", ignore_case=True, limit=2)
    assert (folded.metadata["count"], folded.metadata["truncated"]) == (2, True)
    assert (await bench.call("workspace.search", query="word", limit=101)).reason is Reason.VALIDATION_ERROR


async def test_a_write_creates_overwrites_and_appends(bench: Bench) -> None:
    await bench.done("workspace.write", path="/scratch/n.txt", content="one\n")
    assert (await bench.call("workspace.write", path="/scratch/n.txt", content="x")).reason is Reason.PATH_CONFLICT
    await bench.done("workspace.write", path="/scratch/n.txt", content="two\n", mode="append")
    assert (bench.scratch / "n.txt").read_text() == "one\ntwo\n"
    await bench.done("workspace.write", path="/scratch/n.txt", content="three\n", mode="overwrite")
    assert (bench.scratch / "n.txt").read_text() == "three\n"


async def test_an_edit_replaces_or_inserts(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("a\nb\n")
    await bench.done("workspace.edit", path="f.txt", old="b", new="B")
    await bench.done("workspace.edit", path="f.txt", before_line=2, new="between")
    assert (bench.project / "f.txt").read_text() == "a\nbetween\nB\n"
    neither = await bench.call("workspace.edit", path="f.txt", new="x")
    both = await bench.call("workspace.edit", path="f.txt", new="x", old="a", before_line=1)
    assert {neither.reason, both.reason} == {Reason.VALIDATION_ERROR}


async def test_info_tells_what_is_there_and_that_nothing_is(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("abc")
    there = await bench.done("workspace.info", path="f.txt")
    assert (there.metadata["kind"], there.metadata["size"], there.metadata["exists"]) == ("file", 3, True)
    nothing = await bench.done("workspace.info", path="no.txt")
    assert (nothing.metadata["exists"], nothing.text) == (False, "/workspace/no.txt does not exist")


async def test_deleting_is_dangerous_and_asks_though_everything_else_may_be_granted(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("abc")
    await bench.done("workspace.delete", path="f.txt")
    assert bench.asked[0].dangerous
    assert not (bench.project / "f.txt").exists()


async def test_a_link_is_deleted_and_moved_itself_and_what_it_leads_to_stays(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("abc")
    (bench.project / "link").symlink_to("f.txt")
    (bench.project / "out").symlink_to("/etc/passwd")
    moved = await bench.done("workspace.move", source="link", destination="link2")
    deleted = [await bench.done("workspace.delete", path=path) for path in ("link2", "out")]
    assert os.listdir(bench.project) == ["f.txt"]
    assert await restored(bench, moved.call_id, *(each.call_id for each in deleted)) == [Outcome.UNDONE] * 3
    links = {name: os.readlink(bench.project / name) for name in ("link", "out")}
    assert links == {"link": "f.txt", "out": "/etc/passwd"}


async def restored(bench: Bench, *call_ids: str) -> list[Outcome]:
    results = await undo(call_ids, documents=bench.store, artifacts=bench.store.artifacts, workspace=bench.workspace)
    return [result.outcome for result in results]


async def test_every_change_can_be_undone_in_any_order(bench: Bench) -> None:
    file = bench.project / "f.sh"
    file.write_bytes(b"caf\xe9\r\n")
    file.chmod(0o750)
    calls = [
        await bench.done("workspace.edit", path="f.sh", old="caf", new="Caf"),
        await bench.done("workspace.write", path="f.sh", content="more", mode="append"),
        await bench.done("workspace.move", source="f.sh", destination="sub/g.sh"),
        await bench.done("workspace.delete", path="sub/g.sh"),
        await bench.done("workspace.write", path="new.txt", content="new"),
    ]
    assert await restored(bench, *(call.call_id for call in calls)) == [Outcome.UNDONE] * 5
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"caf\xe9\r\n", 0o750)
    assert sorted(os.listdir(bench.project)) == ["f.sh", "sub"]


async def test_undo_leaves_alone_what_was_changed_since_and_says_so(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("one")
    changed = await bench.done("workspace.edit", path="f.txt", old="one", new="two")
    (bench.project / "f.txt").write_text("mine")
    read = await bench.done("workspace.read", path="f.txt")
    assert await restored(bench, changed.call_id, read.call_id) == [Outcome.CHANGED, Outcome.UNKNOWN]
    assert (bench.project / "f.txt").read_text() == "mine"


async def test_a_change_is_an_event_with_what_is_needed_to_undo_it(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("one")
    result = await bench.done("workspace.edit", path="f.txt", old="one", new="two")
    events = await bench.store.call_events(bench.run.origin.session_id, result.call_id)
    (event,) = [event for event in events if event.type == "file_changed"]
    assert event.payload is not None
    assert event.payload["action"] == "modified"
    assert event.payload["path"] == str(bench.project / "f.txt")
    assert event.payload["hash"] == result.metadata["content_hash"]
