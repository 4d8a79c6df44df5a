"""Paths: where they lead, what is refused, what is declared, and that the declared thing is what gets opened."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib.values.refusal import ConfigError, Reason, Refusal
from toolcrib.workspace import Access, Boundary, Mount, PathTarget, Spot, TemporaryFolder, View, Workspace
from toolcrib.workspace.lines import read_whole
from toolcrib.workspace.resolve import Opener


def read(workspace: Workspace, path: str, view: View = View.VIRTUAL) -> bytes:
    spot = workspace.locate(path, view)
    with workspace.opened(spot) as descriptor:
        return read_whole(descriptor, 1000)


def reason(act: Callable[[], object]) -> Reason:
    with pytest.raises(Refusal) as refused:
        act()
    return refused.value.reason


OUT = Reason.PATH_OUTSIDE_ROOT
GONE = Reason.FILE_NOT_FOUND
INVALID = Reason.VALIDATION_ERROR
ESCAPES = [
    ("../outside/secret.txt", OUT),
    ("a/b/../../../outside/secret.txt", OUT),
    ("/etc/passwd", OUT),
    ("///etc///passwd", OUT),
    ("/workspace/../outside/secret.txt", OUT),
    ("/workspace2/x", OUT),
    ("/scratchy/x", OUT),
    ("/scratch/../workspace/../x", OUT),
    ("/", OUT),
    ("file:///etc/passwd", OUT),
    ("/proc/self/cwd/x", OUT),
    ("/dev/fd/3", OUT),
    ("link-out", OUT),
    ("link-out-dir/secret.txt", OUT),
    ("link-up/outside/secret.txt", OUT),
    ("link-chain", OUT),
    ("link-root/etc/passwd", OUT),
    ("loop", INVALID),
    ("", INVALID),
    ("a\0b", INVALID),
    ("x" * 300, INVALID),
    ("y/" * 3000, INVALID),
    ("$HOME/secret.txt", GONE),
    ("~/secret.txt", GONE),
    ("..%2foutside%2fsecret.txt", GONE),
    ("..\u2215outside", GONE),
    ("..\u200b/outside/secret.txt", GONE),
    (".. /outside/secret.txt", GONE),
    ("file.txt/below", GONE),
    ("dangling", GONE),
    ("fifo", INVALID),
    ("socket", INVALID),
    ("folder", INVALID),
]


@pytest.mark.parametrize(("path", "expected"), ESCAPES)
def test_a_path_that_names_no_readable_file_inside_is_refused_with_its_own_code(
    workspace: Workspace, project: Path, outside: Path, path: str, expected: Reason
) -> None:
    (project / "file.txt").write_text("x")
    (project / "folder").mkdir()
    (project / "link-out").symlink_to(outside / "secret.txt")
    (project / "link-out-dir").symlink_to(outside)
    (project / "link-up").symlink_to("..")
    (project / "link-chain").symlink_to("link-up/outside/secret.txt")
    (project / "link-root").symlink_to("/proc/self/root")
    (project / "loop").symlink_to("loop")
    (project / "dangling").symlink_to("nothing/../here")
    os.mkfifo(project / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        os.chdir(project)
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
        assert reason(lambda: read(workspace, path)) is expected


INSIDE = [
    "a/f.txt",
    "./a//f.txt",
    "/workspace/a/f.txt",
    "a/../a/f.txt",
    "link",
    "links/f.txt",
    "absolute",
    "up-and-back",
]


@pytest.mark.parametrize("path", INSIDE)
def test_every_way_to_write_a_path_inside_leads_to_the_same_real_place(
    workspace: Workspace, project: Path, path: str
) -> None:
    (project / "a").mkdir()
    (project / "a" / "f.txt").write_text("inside")
    (project / "link").symlink_to("a/f.txt")
    (project / "links").symlink_to("a")
    (project / "absolute").symlink_to(project / "a" / "f.txt")
    (project / "up-and-back").symlink_to("a/../links/./f.txt")
    assert read(workspace, path) == b"inside"
    assert workspace.locate(path, View.VIRTUAL).parts == ("a", "f.txt")


def test_host_paths_outside_can_be_read_but_a_project_link_to_them_must_be_named_openly(
    workspace: Workspace, project: Path, outside: Path
) -> None:
    (project / "link").symlink_to(outside / "secret.txt")
    assert read(workspace, str(outside / "secret.txt"), View.HOST) == b"OUTSIDE"
    assert reason(lambda: read(workspace, "link", View.HOST)) is OUT
    (outside / "again").symlink_to(outside / "secret.txt")
    assert workspace.locate(str(outside / "again"), View.HOST).host_path == str(outside / "secret.txt")


def test_a_sub_run_without_the_host_cannot_leave_its_mounts_by_host_paths(base: Path, project: Path) -> None:
    (project / "sub").mkdir()
    wide = Workspace.of(project, base / "scratch")
    narrow = wide.narrowed([Mount.of("/workspace", project / "sub", Access.READ)])
    assert reason(lambda: narrow.locate(str(base / "outside" / "secret.txt"), View.HOST)) is OUT
    assert reason(lambda: narrow.locate(str(project / "x"), View.HOST)) is OUT
    assert reason(lambda: narrow.target("x", View.VIRTUAL, Access.WRITE)) is Reason.WRITE_OUTSIDE_ALLOWED_ROOTS


def test_whichever_way_a_place_is_reached_the_innermost_mount_decides(base: Path, project: Path) -> None:
    (project / "locked").mkdir()
    (base / "alias").symlink_to(project)
    mounts = [Mount.of("/workspace", project), Mount.of("/locked", project / "locked", Access.READ)]
    workspace = Workspace(mounts)
    for path in ("locked/f", "/workspace/locked/f", "/locked/f"):
        assert (
            reason(lambda path=path: workspace.target(path, View.VIRTUAL, Access.WRITE))
            is Reason.WRITE_OUTSIDE_ALLOWED_ROOTS
        )
    for path in (f"{project}/locked/f", f"{base}/alias/locked/f"):
        assert (
            reason(lambda path=path: workspace.target(path, View.HOST, Access.WRITE))
            is Reason.WRITE_OUTSIDE_ALLOWED_ROOTS
        )
    assert workspace.target(f"{base}/alias/f", View.HOST, Access.WRITE).marks == frozenset()


def test_what_is_locked_for_a_run_is_locked_for_its_sub_runs_too(project: Path) -> None:
    (project / "locked").mkdir()
    locked = Mount.of("/locked", project / "locked", Access.READ)
    wide = Workspace([Mount.of("/workspace", project), locked])
    narrow = wide.narrowed([Mount.of("/workspace", project)])
    assert reason(lambda: narrow.target("locked/f", View.VIRTUAL, Access.WRITE)) is Reason.WRITE_OUTSIDE_ALLOWED_ROOTS
    with pytest.raises(ConfigError):
        wide.narrowed([Mount.of("/workspace", project), Mount.of("/locked", project)])


WIDER = [("outside", Access.READ), ("project/locked", Access.WRITE), (".", Access.READ)]


@pytest.mark.parametrize(("folder", "access"), WIDER)
def test_a_sub_run_can_only_narrow_mounts(base: Path, project: Path, folder: str, access: Access) -> None:
    (project / "locked").mkdir()
    wide = Workspace([Mount.of("/workspace", project), Mount.of("/locked", project / "locked", Access.READ)])
    with pytest.raises(ConfigError):
        wide.narrowed([Mount.of("/workspace", base / folder, access)])


NAMES = st.sampled_from(
    (
        *(
            "..",
            ".",
            "",
            "a",
            "b",
            "link",
            "up",
            "abs",
            "root",
            "\u2215",
            "..\u200b",
            "A",
            "%2e%2e",
            "~",
            "$HOME",
            "etc",
        ),
        *("/", "//", "\\..\\", "outside", "secret.txt", "workspace", "scratch", "proc", "self", "cwd", "\x7f", "é"),
    )
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, max_size=12).map("/".join), st.sampled_from(["", "/", "/workspace/", "/scratch/"]))
def test_no_path_string_escapes(workspace: Workspace, project: Path, outside: Path, path: str, start: str) -> None:
    if not (project / "a").exists():
        (project / "a" / "b").mkdir(parents=True)
        (project / "a" / "secret.txt").write_text("inside")
        (project / "a" / "up").symlink_to("../..")
        (project / "link").symlink_to(outside)
        (project / "abs").symlink_to(project / "a")
        (project / "root").symlink_to("/")
    try:
        spot = workspace.locate(start + path, View.VIRTUAL)
    except Refusal:
        return
    real = os.path.realpath(spot.host_path)
    assert real == spot.host_path
    assert real.startswith((f"{project}/", f"{project.parent}/scratch/")) or real in (
        str(project),
        f"{project.parent}/scratch",
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, max_size=10).map("/".join), st.sampled_from(["", "/", "PROJECT/", "PROJECT/../"]))
def test_no_host_path_is_written_outside_of_the_project_without_a_mark(
    workspace: Workspace, project: Path, outside: Path, path: str, start: str
) -> None:
    if not (project / "link").is_symlink():
        (project / "a").mkdir()
        (project / "link").symlink_to(outside)
        (project / "up").symlink_to("..")
        (outside / "abs").symlink_to(project / "a")
    try:
        declared = workspace.target(start.replace("PROJECT", str(project)) + path, View.HOST, Access.WRITE)
    except Refusal:
        return
    real = os.path.realpath(declared.value)
    assert real == declared.value
    inside = real == str(project) or real.startswith((f"{project}/", f"{project.parent}/scratch"))
    assert inside or "outside" in declared.marks


def target(workspace: Workspace, path: str, access: Access, view: View = View.HOST) -> PathTarget:
    return workspace.target(path, view, access)


def test_writes_outside_of_all_roots_are_marked_and_allowed_roots_are_not(base: Path, project: Path) -> None:
    (base / "more").mkdir()
    workspace = Workspace([Mount.of("/workspace", project)], boundary=Boundary.of([f"{base}/more/"]))
    inside = target(workspace, "x.txt", Access.WRITE)
    allowed = target(workspace, f"{base}/more/x", Access.WRITE)
    beyond = target(workspace, f"{project}/sub/../../outside/x", Access.WRITE)
    assert (inside.marks, inside.scope) == (frozenset(), str(project))
    assert target(workspace, "sub/x.txt", Access.WRITE).scope == f"{project}/sub"
    assert (allowed.marks, allowed.scope) == (frozenset(), f"{base}/more")
    assert (beyond.marks, beyond.scope, beyond.value) == ({"outside"}, f"{base}/outside", f"{base}/outside/x")
    assert target(workspace, f"{base}/outside/secret.txt", Access.READ).marks == frozenset()


def test_the_temporary_folder_is_ground_for_writes_only_when_switched_on(
    base: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(base / "scratch"))
    path = f"{base}/scratch/x"
    closed = Workspace([Mount.of("/workspace", project)], boundary=Boundary.of())
    opened = Workspace([Mount.of("/workspace", project)], boundary=Boundary.of(temporary=TemporaryFolder.OPEN))
    assert target(closed, path, Access.WRITE).marks == {"outside"}
    assert target(opened, path, Access.WRITE).marks == frozenset()


def test_toolcribs_own_home_is_sensitive_to_read_and_protected_from_writes(base: Path, project: Path) -> None:
    home = base / "home"
    (home / "runs" / "1").mkdir(parents=True)
    boundary = Boundary.of([base], private=[home])
    workspace = Workspace(
        [Mount.of("/workspace", project), Mount.of("/scratch", home / "runs" / "1")], boundary=boundary
    )
    assert target(workspace, f"{home}/config.toml", Access.READ).marks == {"sensitive"}
    assert target(workspace, f"{home}/config.toml", Access.WRITE).marks == {"sensitive", "protected"}
    assert target(workspace, "/scratch/note", Access.WRITE, View.VIRTUAL).marks == frozenset()


def test_a_protected_path_cannot_be_granted_and_a_sensitive_one_only_by_itself(
    workspace: Workspace, project: Path
) -> None:
    assert target(workspace, ".git/config", Access.WRITE).scope == ""
    assert target(workspace, ".env", Access.READ).scope == f"{project}/.env"


def test_a_hard_linked_file_is_flagged_unless_a_package_store_made_it(workspace: Workspace, project: Path) -> None:
    (project / "node_modules").mkdir()
    (project / "a").write_text("x")
    os.link(project / "a", project / "b")
    os.link(project / "a", project / "node_modules" / "c")
    assert target(workspace, "b", Access.READ).marks == {"hard-linked"}
    assert target(workspace, "node_modules/c", Access.READ).marks == frozenset()


def test_a_link_is_judged_by_its_own_name_and_by_where_it_leads(workspace: Workspace, project: Path) -> None:
    (project / ".env").write_text("x")
    (project / "plain").write_text("x")
    (project / "harmless.txt").symlink_to(".env")
    (project / ".npmrc").symlink_to("plain")
    assert target(workspace, "harmless.txt", Access.READ).marks == {"sensitive"}
    assert target(workspace, ".npmrc", Access.READ).marks == {"sensitive"}


SWAPS: dict[str, Callable[[Path, Path], None]] = {
    "another file": lambda project, outside: (project / "d" / "new").rename(project / "d" / "f"),
    "a link to outside": lambda project, outside: _link(project / "d" / "f", outside / "secret.txt"),
    "a link to inside": lambda project, outside: _link(project / "d" / "f", project / "d" / "new"),
    "its folder by a link": lambda project, outside: _swap_folder(project, outside),
    "nothing": lambda project, outside: (project / "d" / "f").unlink(),
    "a pipe": lambda project, outside: _pipe(project / "d" / "f"),
}


def _link(path: Path, to: Path) -> None:
    path.unlink()
    path.symlink_to(to)


def _swap_folder(project: Path, outside: Path) -> None:
    (outside / "f").write_text("OUTSIDE")
    (project / "d").rename(project / "old")
    (project / "d").symlink_to(outside)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_what_was_declared_is_not_opened_when_something_else_took_its_place(
    workspace: Workspace, project: Path, outside: Path, swap: Callable[[Path, Path], None]
) -> None:
    (project / "d").mkdir()
    (project / "d" / "f").write_text("mine")
    (project / "d" / "new").write_text("other")
    spot: Spot = workspace.locate("d/f", View.VIRTUAL)
    swap(project, outside)
    with pytest.raises(Refusal), workspace.opened(spot):
        pass


def test_a_name_with_a_nul_is_never_cut_short(project: Path) -> None:
    (project / "f").write_text("x")
    root = os.open(project, os.O_PATH)
    for opener in (Opener.best(), Opener(None)):
        with pytest.raises((OSError, ValueError)):
            opener.open(root, ("f\0.png",), os.O_RDONLY)
    os.close(root)


def test_a_project_that_was_deleted_and_made_again_is_found_again(base: Path, project: Path, opener: Opener) -> None:
    workspace = Workspace([Mount.of("/workspace", project)], opener=opener)
    (project / "f").write_text("old")
    assert read(workspace, "f") == b"old"
    (project / "f").unlink()
    project.rmdir()
    project.mkdir()
    (project / "f").write_text("new")
    assert read(workspace, "f") == b"new"


def test_looking_at_a_path_leaves_no_descriptor_open(workspace: Workspace, project: Path) -> None:
    (project / "l").symlink_to("a/../b")
    (project / "a").mkdir()
    workspace.locate("l", View.VIRTUAL)
    before = len(os.listdir("/proc/self/fd"))
    for path in ("l", "a", "a/x/y", "l/../../x"):
        try:
            workspace.locate(path, View.VIRTUAL)
        except Refusal:
            continue
    assert len(os.listdir("/proc/self/fd")) == before
