"""Races: a process that swaps folders and files for links as fast as it can, against reads, writes and searches."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolcrib.values.refusal import Refusal
from toolcrib.workspace import Mount, View, Workspace, writing
from toolcrib.workspace.lines import read_whole
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.reading import search_files, walk_folder
from toolcrib.workspace.resolve import Opener
from toolcrib.workspace.search import Case, Query
from toolcrib.workspace.writing import Folders

SWAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
project = os.open(sys.argv[1], os.O_PATH)
pairs = [(b"d", b"d.link"), (b"f", b"f.link")]
exchange = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
print("ready", flush=True)
while os.getppid() == int(sys.argv[2]):
    for _ in range(1000):
        for one, other in pairs:
            libc.syscall(exchange, project, one, project, other, 2)
"""


@contextmanager
def swapped() -> Iterator[tuple[Path, Path]]:
    """A project in memory in which `d` and `f` are a folder and a file half of the time, else links to outside."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        project, outside = Path(folder) / "project", Path(folder) / "outside"
        (project / "d").mkdir(parents=True)
        outside.mkdir()
        for place, text in ((project / "d", "inside"), (outside, "OUTSIDE")):
            (place / "f").write_text(text)
        (outside / "only-outside").touch()
        (project / "f").write_text("inside")
        (project / "d.link").symlink_to(outside)
        (project / "f.link").symlink_to(outside / "f")
        command = [sys.executable, "-c", SWAPPER, str(project), str(os.getpid())]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
            assert swapper.stdout is not None
            swapper.stdout.readline()
            try:
                yield project, outside
            finally:
                swapper.kill()


def race(rounds: int, opener: Opener) -> None:
    """Read and write through the swapped names; count what got through, and what was refused."""
    done = {"read": 0, "written": 0, "refused": 0}
    with swapped() as (project, outside):
        workspace = Workspace([Mount.of("/workspace", project)], opener=opener)
        for number in range(rounds):
            path = ("d/f", "f", "d/new", "d/deep/er/new")[number % 4]
            try:
                spot = workspace.locate(path, View.VIRTUAL)
                if number % 8 < 4 and spot.identity is not None:
                    with workspace.opened(spot) as descriptor:
                        assert read_whole(descriptor, 1000) in (b"inside", b"written")
                    done["read"] += 1
                elif spot.identity is not None:
                    writing.replace(workspace, spot, [b"written"], os.stat(spot.host_path))
                    done["written"] += 1
                else:
                    writing.create(workspace, spot, [b"written"], Folders.MAKE)
                    done["written"] += 1
            except (Refusal, FileNotFoundError):
                done["refused"] += 1
        assert sorted(os.listdir(outside)) == ["f", "only-outside"]
        assert (outside / "f").read_text() == "OUTSIDE"
        workspace.close()
    assert all(done.values()), done


@pytest.mark.parametrize("way", ["openat2", "steps"])
def test_no_raced_read_or_write_escapes(way: str) -> None:
    race(12_000, Opener.best() if way == "openat2" else Opener(None))


@pytest.mark.slow
def test_no_read_or_write_of_a_million_escapes() -> None:
    race(1_000_000, Opener.best())


@pytest.mark.anyio
async def test_no_search_shows_a_line_from_outside() -> None:
    query = Query("inside|OUTSIDE|written", False, None, 100, 0, Case.SENSITIVE, Secrets.LEFT_OUT, 10.0)
    shown = set[str]()
    with swapped() as (project, _):
        workspace = Workspace([Mount.of("/workspace", project)])
        for _ in range(60):
            lines, _ = await search_files(workspace, workspace.locate(".", View.VIRTUAL), query)
            shown |= {hit.text for hit in lines.hits}
        workspace.close()
    assert shown == {"inside"}


@pytest.mark.anyio
async def test_no_glob_and_no_listing_names_a_file_from_outside() -> None:
    named = set[str]()
    with swapped() as (project, _):
        workspace = Workspace([Mount.of("/workspace", project)])
        for path in [".", "d"] * 300:
            try:
                entries, _, _ = await walk_folder(
                    workspace, workspace.locate(path, View.VIRTUAL), 100, "**", Secrets.LEFT_OUT
                )
            except Refusal:
                continue
            named |= {os.path.basename(entry.path) for entry in entries}
        workspace.close()
    assert named == {"d", "d.link", "f", "f.link"}


def test_the_swapper_really_swaps() -> None:
    """Without this the tests above could pass because nothing ever raced them."""
    with swapped() as (project, _):
        kinds = {os.path.islink(project / "d") for _ in range(20_000)}
    assert kinds == {True, False}
