"""Writes: whole or not at all, inside the held folder, with mode and owner kept, and nothing left behind."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace import Access, Mount, View, Workspace, writing
from toolcrib.workspace.spots import Spot
from toolcrib.workspace.writing import Folders


def spot_at(workspace: Workspace, path: str) -> Spot:
    spot = workspace.target(path, View.VIRTUAL, Access.WRITE).spot
    assert spot is not None
    return spot


def replace(workspace: Workspace, path: str, body: bytes) -> None:
    spot = spot_at(workspace, path)
    writing.replace(workspace, spot, [body], os.stat(spot.host_path))


def test_a_new_file_gets_the_usual_mode_and_its_folders(workspace: Workspace, project: Path) -> None:
    writing.create(workspace, spot_at(workspace, "a/b/f"), [b"x", b"y"], Folders.MAKE)
    assert (project / "a" / "b" / "f").read_bytes() == b"xy"
    mask = os.umask(0)
    os.umask(mask)
    assert (project / "a" / "b" / "f").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_new_file_never_replaces_one_that_came_meanwhile(workspace: Workspace, project: Path) -> None:
    spot = spot_at(workspace, "f")
    (project / "f").write_text("theirs")
    with pytest.raises(Refusal) as refused:
        writing.create(workspace, spot, [b"mine"], Folders.MAKE)
    assert refused.value.reason is Reason.PATH_CONFLICT
    assert (project / "f").read_text() == "theirs"


def test_a_new_file_is_not_made_where_a_link_was_put_in_place_of_its_folder(
    workspace: Workspace, project: Path, outside: Path
) -> None:
    (project / "d").mkdir()
    spots = [spot_at(workspace, "d/f"), spot_at(workspace, "d/e/f"), spot_at(workspace, "n/f")]
    (project / "d").rmdir()
    (project / "d").symlink_to(outside)
    (project / "n").symlink_to(outside)
    for spot in spots:
        with pytest.raises(Refusal):
            writing.create(workspace, spot, [b"PWN"], Folders.MAKE)
    assert os.listdir(outside) == ["secret.txt"]


def test_new_content_keeps_mode_owner_attributes_and_links_to_the_file(workspace: Workspace, project: Path) -> None:
    path = project / "tool.sh"
    path.write_text("old")
    path.chmod(0o6751)
    (project / "link").symlink_to("tool.sh")
    replace(workspace, "link", b"new")
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("new", 0o751)
    assert (project / "link").is_symlink()


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(workspace: Workspace, project: Path) -> None:
    (project / "f").write_text("one")
    spot = spot_at(workspace, "f")
    was = os.stat(project / "f")
    (project / "f").write_text("longer")
    with pytest.raises(Refusal) as refused:
        writing.replace(workspace, spot, [b"mine"], was)
    assert refused.value.reason is Reason.STALE_FILE
    assert (project / "f").read_text() == "longer"
    assert os.listdir(project) == ["f"]


def test_a_write_into_a_read_only_mount_is_refused(project: Path) -> None:
    workspace = Workspace([Mount.of("/workspace", project, Access.READ)])
    with pytest.raises(Refusal) as refused:
        workspace.target("f", View.VIRTUAL, Access.WRITE)
    assert refused.value.reason is Reason.WRITE_OUTSIDE_ALLOWED_ROOTS


def test_a_move_never_replaces_and_a_full_folder_is_not_deleted(workspace: Workspace, project: Path) -> None:
    (project / "a").write_text("a")
    (project / "d").mkdir()
    (project / "d" / "b").write_text("b")
    for act in (
        lambda: writing.move(workspace, spot_at(workspace, "a"), spot_at(workspace, "d/b"), Folders.MAKE),
        lambda: writing.delete(workspace, spot_at(workspace, "d")),
        lambda: writing.delete(workspace, spot_at(workspace, "/workspace")),
    ):
        with pytest.raises(Refusal):
            act()
    writing.move(workspace, spot_at(workspace, "d"), spot_at(workspace, "x/y"), Folders.MAKE)
    assert (project / "x" / "y" / "b").read_text() == "b"


WRITER = """
import os, sys
from toolcrib.workspace import Access, Mount, View, Workspace, writing
from toolcrib.workspace.writing import Folders
project, path, step = sys.argv[1], sys.argv[2], sys.argv[3]
name, _, number = step.partition("#")
real, calls = getattr(os, name), [0]
def dying(*args, **kwargs):
    calls[0] += 1
    if calls[0] == int(number):
        os.kill(os.getpid(), 9)
    return real(*args, **kwargs)
workspace = Workspace([Mount.of("/workspace", project)])
spot = workspace.target(path, View.VIRTUAL, Access.WRITE).spot
was = os.stat(spot.host_path) if spot.identity else None
setattr(os, name, dying)
if spot.identity:
    writing.replace(workspace, spot, [b"new " * 50_000], was)
else:
    writing.create(workspace, spot, [b"new " * 50_000], Folders.MAKE)
print("done")
"""
STEPS = ["write#1", "fchmod#1", "fsync#1", "link#1", "rename#1", "fsync#2"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("path", ["f", "new"])
def test_a_writer_that_is_killed_leaves_the_old_or_the_new_content_and_the_next_one_tidies_up(
    workspace: Workspace, project: Path, path: str, step: str
) -> None:
    old, new = b"old " * 50_000, b"new " * 50_000
    (project / "f").write_bytes(old)
    (project / "f").chmod(0o640)
    command = [sys.executable, "-c", WRITER, str(project), path, step]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL or "done" in ended.stdout, ended.stderr
    found = (project / path).read_bytes() if (project / path).exists() else None
    assert found in ((old, new) if path == "f" else (None, new))
    assert (project / "f").stat().st_mode & 0o777 == 0o640
    replace(workspace, "f", b"after")
    assert [name for name in os.listdir(project) if name.startswith(".toolcrib")] == []


def test_a_leftover_that_a_live_writer_still_holds_is_not_swept(project: Path) -> None:
    import fcntl

    name = project / ".toolcrib-0123456789abcdef.tmp"
    name.write_text("half")
    folder = os.open(project, os.O_RDONLY)
    with name.open() as live:
        fcntl.flock(live, fcntl.LOCK_EX)
        assert writing.sweep(folder) == 0
    assert writing.sweep(folder) == 1
    os.close(folder)


def test_a_disk_that_takes_no_more_leaves_the_old_content(workspace: Workspace, project: Path) -> None:
    (project / "f").write_text("old")
    spot = spot_at(workspace, "f")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(Refusal) as refused:
            writing.replace(workspace, spot, [b"x" * 20_000], os.stat(project / "f"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert refused.value.reason is Reason.STORAGE_ERROR
    assert (project / "f").read_text() == "old"
    assert os.listdir(project) == ["f"]


def test_a_file_system_without_unnamed_files_is_written_to_just_as_well(
    workspace: Workspace, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def without(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", without)
    writing.create(workspace, spot_at(workspace, "f"), [b"one"], Folders.MAKE)
    replace(workspace, "f", b"two")
    monkeypatch.undo()
    assert (project / "f").read_bytes() == b"two"
    assert os.listdir(project) == ["f"]
