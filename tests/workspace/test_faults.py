"""What the operating system refuses, in codes and words; and folders and files that change while they are read."""

import errno
import os
import tracemalloc
from pathlib import Path

import pytest

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace import View, Workspace
from toolcrib.workspace.faults import refusal_of
from toolcrib.workspace.lines import LineIndexes, Span
from toolcrib.workspace.tree import Walk, listing

CODES = {
    errno.ENOENT: Reason.FILE_NOT_FOUND,
    errno.EACCES: Reason.PERMISSION_DENIED,
    errno.EPERM: Reason.PERMISSION_DENIED,
    errno.ENOSPC: Reason.STORAGE_ERROR,
    errno.EDQUOT: Reason.STORAGE_ERROR,
    errno.EIO: Reason.STORAGE_ERROR,
    errno.EROFS: Reason.WRITE_OUTSIDE_ALLOWED_ROOTS,
    errno.EEXIST: Reason.PATH_CONFLICT,
    errno.ENOTEMPTY: Reason.PATH_CONFLICT,
    errno.EXDEV: Reason.PATH_CONFLICT,
    errno.ELOOP: Reason.PATH_OUTSIDE_ROOT,
    errno.ENAMETOOLONG: Reason.VALIDATION_ERROR,
}


@pytest.mark.parametrize(("number", "reason"), CODES.items(), ids=[errno.errorcode[number] for number in CODES])
def test_each_failure_of_the_system_has_its_code_and_names_the_path(number: int, reason: Reason) -> None:
    refusal = refusal_of(OSError(number, os.strerror(number)), "src/f.py")
    assert refusal.reason is reason
    assert "src/f.py" in refusal.message


def test_a_folder_of_very_many_entries_is_listed_in_little_memory(tmp_path: Path) -> None:
    for number in range(5_000):
        os.close(os.open(tmp_path / f"{number:06}", os.O_CREAT))
    folder = os.open(tmp_path, os.O_RDONLY)
    tracemalloc.start()
    entries, total = listing(folder, 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    os.close(folder)
    assert ([entry.path for entry in entries[:2]], len(entries), total) == (["000000", "000001"], 200, 5_000)
    assert peak < 500_000


def test_a_file_that_is_cut_short_while_it_is_read_gives_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"line\n" * 2_000_000)
    indexes = LineIndexes()
    descriptor = os.open(path, os.O_RDONLY)
    assert indexes.window(descriptor, Span(1_999_990, 5, 10**9), "f").lines == ("line",) * 5
    os.truncate(path, 9 * 1024 * 1024)
    found = indexes.window(descriptor, Span(1_999_990, 5, 10**9), "f")
    os.close(descriptor)
    assert (found.lines, found.more) == ((), False)


def test_a_walk_ends_in_a_tree_without_end(workspace: Workspace, project: Path) -> None:
    deep = project
    for _ in range(250):
        deep = deep / "d"
        os.mkdir(deep)
    (project / "d" / "loop").symlink_to("..")
    folder = os.open(project, os.O_RDONLY)
    walk = Walk(workspace.rules, "")
    assert len(list(walk.entries(folder))) == 201
    os.close(folder)
    assert walk.too_deep


def test_a_name_that_is_no_utf8_or_holds_controls_is_shown_escaped(workspace: Workspace, project: Path) -> None:
    os.close(os.open(os.fsencode(project) + b"/caf\xe9", os.O_CREAT))
    os.close(os.open(project / "two\nlines\x1b[2J", os.O_CREAT))
    folder = os.open(project, os.O_RDONLY)
    entries, _ = listing(folder, 10)
    os.close(folder)
    assert [entry.path for entry in entries] == ["caf\\xe9", "two\\nlines\\x1b[2J"]
    with pytest.raises(Refusal):
        workspace.locate("caf\\xe9", View.VIRTUAL).file()
