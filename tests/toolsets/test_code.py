"""code.*: what each tool answers, and each thing that can go wrong with its own code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from toolcrib.values.refusal import Reason
from toolcrib.workspace import View
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.reading import search_files
from toolcrib.workspace.search import Case, Query

if TYPE_CHECKING:
    from tests.toolsets.conftest import Bench

pytestmark = pytest.mark.anyio


async def test_a_read_gives_200_lines_and_says_where_to_go_on(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("".join(f"line {number}\n" for number in range(1, 451)))
    first = await bench.done("code.read_file", path="f.txt")
    assert first.text.startswith("line 1\n")
    assert first.metadata["end_line"] == 200
    assert (first.metadata["truncated"], first.metadata["next_start_line"], first.metadata["total_lines"]) == (
        True,
        201,
        450,
    )
    last = await bench.done("code.read_file", path="f.txt", start_line=401, max_lines=1000)
    assert (last.metadata["truncated"], last.metadata["next_start_line"]) == (False, None)
    assert bench.asked == []


async def test_a_line_is_cut_at_4096_bytes_and_named(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("short\n" + "é" * 3000 + "\nend\n")
    result = await bench.done("code.read_file", path="f.txt")
    assert result.metadata["truncated_lines"] == [2]
    assert len(result.text.split("\n")[1].encode()) == 4096


READS = {
    "missing.txt": Reason.FILE_NOT_FOUND,
    "folder": Reason.VALIDATION_ERROR,
    "binary": Reason.BINARY_FILE,
    "pipe": Reason.VALIDATION_ERROR,
    "f.txt/below": Reason.FILE_NOT_FOUND,
}


@pytest.mark.parametrize(("path", "reason"), READS.items())
async def test_what_cannot_be_read_has_its_own_code(bench: Bench, path: str, reason: Reason) -> None:
    (bench.project / "folder").mkdir()
    (bench.project / "f.txt").write_text("x")
    (bench.project / "binary").write_bytes(b"\0\1\2")
    os.mkfifo(bench.project / "pipe")
    assert (await bench.call("code.read_file", path=path)).reason is reason


async def test_an_empty_file_reads_as_empty(bench: Bench) -> None:
    (bench.project / "f.txt").touch()
    result = await bench.done("code.read_file", path="f.txt")
    assert result.metadata["total_lines"] == 0
    assert "is empty" in result.text


async def test_reading_an_instruction_file_is_an_event_with_path_and_hash(bench: Bench) -> None:
    (bench.project / "AGENTS.md").write_text("be kind\n")
    result = await bench.done("code.read_file", path="AGENTS.md")
    events = await bench.store.events(session_id=None, after=0, limit=100)
    (event,) = [event for event in events if event.type == "instructions_read"]
    assert event.payload == {
        "path": str(bench.project / "AGENTS.md"), "hash": result.metadata["content_hash"], "size": 8
    }  # fmt: skip


async def test_an_instruction_file_that_was_read_is_a_block_of_the_run_and_follows_the_file(bench: Bench) -> None:
    (bench.project / "sub").mkdir()
    (bench.project / "AGENTS.md").write_text("be kind\nto all\n")
    (bench.project / "sub" / "CLAUDE.md").write_text("x" * 50 + "\n" + "line\n" * 5_000)
    (bench.project / "README.md").write_text("hello\n")
    for path in ("README.md", "AGENTS.md", "sub/CLAUDE.md", "AGENTS.md"):
        await bench.done("code.read_file", path=path, start_line=2, max_lines=1)
    first, second = bench.run.system_blocks
    assert (first.path, first.text, first.cut) == (str(bench.project / "AGENTS.md"), "be kind\nto all", False)
    assert (second.path, second.cut, len(second.text) <= 16_000) == (str(bench.project / "sub/CLAUDE.md"), True, True)
    assert second.text.startswith("x" * 50 + "\nline")
    (bench.project / "AGENTS.md").write_text("be quick\n")
    await bench.done("workspace.read", path="AGENTS.md")
    again, other = bench.run.system_blocks
    assert (again.text, again.hash != first.hash, other) == ("be quick", True, second)


async def test_a_run_keeps_the_first_blocks_and_no_secrets_in_them(bench: Bench) -> None:
    for number in range(20):
        (bench.project / str(number)).mkdir()
        (bench.project / str(number) / "AGENTS.md").write_text(f"key {'AKIA' + 'Z2X5KQ7WPL3MNB4V'}\n")
        await bench.done("code.read_file", path=f"{number}/AGENTS.md")
    blocks = bench.run.system_blocks
    assert [block.path for block in blocks] == [str(bench.project / str(n) / "AGENTS.md") for n in range(16)]
    assert not any("AKIA" in block.text for block in blocks)


async def test_a_listing_does_not_follow_links_nor_enter_sensitive_folders(bench: Bench) -> None:
    (bench.project / ".ssh").mkdir()
    (bench.project / ".ssh" / "id_ed25519").touch()
    (bench.project / "src").mkdir()
    (bench.project / "src" / "a.py").write_text("12345")
    (bench.project / "up").symlink_to("..")
    flat = await bench.done("code.list_dir")
    assert flat.text.split("\n")[:3] == [".ssh/", "src/", "up ->"]
    deep = await bench.done("code.list_dir", recursive=True)
    assert deep.text.split("\n")[:4] == [".ssh/", "src/", "src/a.py  5 bytes", "up ->"]
    assert "1 sensitive folder was not entered" in deep.text
    assert bench.asked == []
    await bench.done("code.list_dir", path=".ssh")
    assert len(bench.asked) == 1


async def test_a_listing_is_bounded_and_says_how_many_there_are(bench: Bench) -> None:
    for number in range(30):
        (bench.project / f"f{number:02}").touch()
    result = await bench.done("code.list_dir", limit=3)
    assert result.text.split("\n")[:3] == ["f00  0 bytes", "f01  0 bytes", "f02  0 bytes"]
    assert (result.metadata["truncated"], result.metadata["total"]) == (True, 30)


async def test_a_search_respects_ignore_files_leaves_secrets_out_and_counts_them(bench: Bench) -> None:
    (bench.project / ".gitignore").write_text("built/\n*.log\n")
    for path in ("src/a.py", "built/b.py", "c.log", ".env", "keys/server.pem", ".github/ci.yml", ".git/config"):
        file = bench.project / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("before\nneedle here\nafter\n")
    result = await bench.done("code.search", query="needle")
    assert result.text.split("\n")[:5] == [".github/ci.yml", "  2: needle here", "", "src/a.py", "  2: needle here"]
    assert result.metadata["sensitive_left_out"] == 2
    assert "2 sensitive files were left out" in result.text
    assert bench.asked == []


async def test_a_search_for_a_secret_file_by_name_asks_and_then_finds(bench: Bench) -> None:
    (bench.project / ".env").write_text("TOKEN=1\n")
    result = await bench.done("code.search", query="TOKEN", glob=".e*")
    assert result.text.startswith(".env\n  1: TOKEN=1\n")
    assert [target.marks for target in bench.asked[0].targets] == [{"sensitive"}]


async def test_a_glob_with_folders_finds_what_it_names_whatever_else_matches(bench: Bench) -> None:
    for path in [f"a/f{number}.py" for number in range(30)] + ["src/deep/x.py"]:
        (bench.project / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / path).write_text("needle\n" * 5)
    result = await bench.done("code.search", query="needle", glob="src/**/*.{py,md}", limit=3)
    assert result.text.startswith("src/deep/x.py\n")
    assert (result.metadata["count"], result.metadata["truncated"]) == (3, True)


async def test_a_search_of_the_host_leaves_out_what_is_sensitive_there(bench: Bench) -> None:
    result = await bench.done("code.search", query="root", path="/etc", glob="*shadow*")
    assert result.metadata["count"] == 0


async def test_a_match_in_a_hard_linked_file_is_counted_but_not_shown(bench: Bench) -> None:
    (bench.project / "one").write_text("needle\n")
    os.link(bench.project / "one", bench.project / "other")
    result = await bench.done("code.search", query="needle")
    assert result.metadata["count"] == 0
    assert "2 matches were in hard-linked files" in result.text


async def test_a_search_that_takes_too_long_says_so_and_gives_what_it_has(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("needle\n")
    query = Query("needle", False, None, 10, 0, Case.SMART, Secrets.LEFT_OUT, 0.0)
    shown, found = await search_files(bench.workspace, bench.workspace.locate(".", View.HOST), query)
    assert (found.timed_out, shown.hits) == (True, [])


async def test_a_search_shows_context_and_is_limited(bench: Bench) -> None:
    (bench.project / "f.txt").write_text("a\nhit 1\nb\nc\nd\nhit 2\ne\n")
    shown = await bench.done("code.search", query="hit", context_lines=1)
    assert shown.text.startswith("f.txt\n  1- a\n  2: hit 1\n  3- b\n  --\n  5- d\n  6: hit 2\n  7- e\n")
    cut = await bench.done("code.search", query="hit", limit=1)
    assert cut.metadata["truncated"]


async def test_a_search_takes_any_text_as_query_glob_and_path_and_none_as_an_option(bench: Bench) -> None:
    (bench.project / "-x").write_text("--pre=touch pwned\n")
    found = await bench.done("code.search", query="--pre=touch", path="-x", literal=True)
    assert found.metadata["count"] == 1
    for arguments in ({"query": "--pre=touch"}, {"query": "x", "glob": "--pre=touch"}, {"query": "-e"}):
        await bench.done("code.search", **arguments)
    assert os.listdir(bench.project) == ["-x"]


@pytest.mark.parametrize("query", ["", "a\0b", "x" * 20_000])
async def test_a_query_that_no_searcher_could_take_is_refused(bench: Bench, query: str) -> None:
    assert (await bench.call("code.search", query=query)).reason is Reason.VALIDATION_ERROR
    assert (await bench.call("code.search", query="a", glob="a\0b")).reason is Reason.VALIDATION_ERROR


async def test_a_query_that_cannot_be_read_is_explained(bench: Bench) -> None:
    result = await bench.call("code.search", query="(unclosed")
    assert result.reason is Reason.VALIDATION_ERROR
    assert "literal" in result.text


async def test_a_search_outside_of_the_project_asks(bench: Bench, tmp_path: Path) -> None:
    await bench.done("code.search", query="x", path=str(tmp_path))
    assert [target.marks for target in bench.asked[0].targets] == [{"outside"}]


async def test_without_ripgrep_the_same_is_found(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.workspace.ripgrep.find_ripgrep", lambda: None)
    (bench.project / "a").mkdir()
    (bench.project / "a" / "f.py").write_text("x\nNeedle\ny\n")
    (bench.project / ".env").write_text("needle\n")
    result = await bench.done("code.search", query="needle", glob="*.py", context_lines=1)
    assert result.text.startswith("a/f.py\n  1- x\n  2: Needle\n  3- y\n")
    assert (result.metadata["engine"], result.metadata["sensitive_left_out"]) == ("python", 1)


async def test_a_write_makes_folders_and_replaces_only_when_told(bench: Bench) -> None:
    await bench.done("code.write_file", path="a/b.txt", content="one\n")
    again = await bench.call("code.write_file", path="a/b.txt", content="two\n")
    assert again.reason is Reason.PATH_CONFLICT
    await bench.done("code.write_file", path="a/b.txt", content="two\n", overwrite=True)
    assert (bench.project / "a" / "b.txt").read_text() == "two\n"
    missing = await bench.call("code.write_file", path="x/y.txt", content="", create_dirs=False)
    assert missing.reason is Reason.FILE_NOT_FOUND


async def test_an_overwrite_keeps_mode_encoding_and_line_ends(bench: Bench) -> None:
    file = bench.project / "f.bat"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    file.chmod(0o755)
    await bench.done("code.write_file", path="f.bat", content="x\ny\n", overwrite=True)
    assert file.read_bytes() == b"\xef\xbb\xbfx\r\ny\r\n"
    assert file.stat().st_mode & 0o777 == 0o755


async def test_an_edit_with_the_hash_that_was_read_goes_through_and_a_stale_one_shows_what_is_there(
    bench: Bench,
) -> None:
    (bench.project / "f.txt").write_text("one\ntwo\n")
    read = await bench.done("code.read_file", path="f.txt")
    digest = read.metadata["content_hash"]
    edit = {"old": "two", "new": "2"}
    await bench.done("code.edit_file", path="f.txt", edits=[edit], expected_hash=digest)
    stale = await bench.call("code.edit_file", path="f.txt", edits=[{"old": "2", "new": "3"}], expected_hash=digest)
    assert stale.reason is Reason.STALE_FILE
    assert "2\t2" in stale.text
    assert (bench.project / "f.txt").read_text() == "one\n2\n"


EDITS = [
    ({"edits": [{"old": "x", "new": "y"}]}, Reason.TEXT_NOT_FOUND),
    ({"edits": [{"old": "a", "new": "y"}]}, Reason.AMBIGUOUS_EDIT),
    ({"unified_diff": "@@ -1 +1 @@\n-x\n+y\n"}, Reason.PATCH_APPLY_FAILED),
    ({"unified_diff": "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+y\n"}, Reason.PATCH_PATH_MISMATCH),
    ({}, Reason.VALIDATION_ERROR),
    ({"edits": [{"old": "a", "new": "b"}], "unified_diff": "x"}, Reason.VALIDATION_ERROR),
    ({"edits": []}, Reason.VALIDATION_ERROR),
    ({"edits": [{"old": "b", "new": "[REDACTED:aws_key]"}]}, Reason.VALIDATION_ERROR),
    ({"edits": [{"old": "a\nb", "new": "ok"}, {"old": "nope", "new": "x"}]}, Reason.TEXT_NOT_FOUND),
]


@pytest.mark.parametrize(("arguments", "reason"), EDITS)
async def test_an_edit_that_does_not_fit_has_its_own_code_and_changes_nothing(
    bench: Bench, arguments: dict[str, object], reason: Reason
) -> None:
    (bench.project / "f.txt").write_text("a\nb\na\n")
    result = await bench.call("code.edit_file", path="f.txt", **arguments)  # type: ignore[arg-type]
    assert result.reason is reason, result.error
    assert (bench.project / "f.txt").read_text() == "a\nb\na\n"


async def test_a_missing_file_is_made_by_an_edit_only_when_told(bench: Bench) -> None:
    diff = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    refused = await bench.call("code.edit_file", path="new.txt", unified_diff=diff)
    assert refused.reason is Reason.PATCH_APPLY_FAILED
    await bench.done("code.edit_file", path="new.txt", unified_diff=diff, create_if_missing=True)
    assert (bench.project / "new.txt").read_text() == "one\ntwo\n"
    assert (
        await bench.call("code.edit_file", path="no.txt", edits=[{"old": "a", "new": "b"}])
    ).reason is Reason.FILE_NOT_FOUND


async def test_an_appended_text_is_written_like_the_rest_of_the_file_or_not_at_all(bench: Bench) -> None:
    (bench.project / "f.txt").write_bytes(b"caf\xe9\r\n")
    await bench.done("workspace.write", path="f.txt", content="thé\n", mode="append")
    assert (bench.project / "f.txt").read_bytes() == b"caf\xe9\r\nth\xe9\r\n"
    assert (await bench.call("workspace.write", path="f.txt", content="日", mode="append")).reason is not None
    (bench.project / "binary").write_bytes(b"\0\1")
    refused = await bench.call("workspace.write", path="binary", content="x", mode="append")
    assert refused.reason is Reason.BINARY_FILE


async def test_a_letter_that_the_file_cannot_hold_is_refused(bench: Bench) -> None:
    (bench.project / "f.txt").write_bytes(b"caf\xe9 au lait\n")
    result = await bench.call("code.edit_file", path="f.txt", edits=[{"old": "lait", "new": "日"}])
    assert result.reason is Reason.VALIDATION_ERROR
    await bench.done("code.edit_file", path="f.txt", edits=[{"old": "lait", "new": "thé"}])
    assert (bench.project / "f.txt").read_bytes() == b"caf\xe9 au th\xe9\n"
