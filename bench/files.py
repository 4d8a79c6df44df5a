"""The file layer beside what it stands on: `python bench/files.py [open|window|search|race]`.

Each line is our figure, the yardstick measured in the same rounds, and the bound it is held to. Times are CPU times of
this process and its children, except where a line says wall.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "workspace"))

from toolcrib.workspace import Access, Mount, View, Workspace
from toolcrib.workspace.lines import LineIndexes, Span
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.reading import search_files
from toolcrib.workspace.resolve import Opener
from toolcrib.workspace.ripgrep import find_ripgrep
from toolcrib.workspace.search import Case, Query

GIB = 1 << 30
LINE = b"%07d the quick brown fox jumps over the lazy dog, and then it does so again and again\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", choices=["open", "window", "search", "race"])
    parser.add_argument("--files", type=int, default=100_000, help="how many files the searched tree has")
    chosen = parser.parse_args()
    for name, measure in (("open", measure_open), ("window", measure_window), ("race", measure_race)):
        if chosen.only in (None, name):
            measure()
    if chosen.only in (None, "search"):
        measure_search(chosen.files)


def tell(what: str, figure: float, unit: str, beside: str, bound: str) -> None:
    print(f"{what:<58} {figure:>10.2f} {unit:<4} {beside:<34} {bound}")


def measure_open() -> None:
    """Declare a path, open what was declared, read it; against a plain open and read."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "src" / "deep").mkdir(parents=True)
        (Path(folder) / "src" / "deep" / "file.py").write_text("x = 1\n" * 40)
        path = os.path.join(os.path.realpath(folder), "src/deep/file.py")
        for name, opener in (("openat2", Opener.best()), ("step by step", Opener(None))):
            workspace = Workspace([Mount.of("/workspace", folder)], opener=opener)

            def ours(workspace: Workspace = workspace) -> None:
                target = workspace.target("src/deep/file.py", View.VIRTUAL, Access.READ)
                assert target.spot is not None
                with workspace.opened(target.spot) as descriptor:
                    os.read(descriptor, 4096)

            def plain() -> None:
                descriptor = os.open(path, os.O_RDONLY)
                os.read(descriptor, 4096)
                os.close(descriptor)

            over = [per_call(ours) - per_call(plain) for _ in range(7)]
            tell(f"open and read over a plain open ({name})", statistics.median(over) * 1e6, "µs", "", "≤ 25 µs")
            workspace.close()


def per_call(act: Callable[[], None], calls: int = 5_000) -> float:
    start = time.process_time()
    for _ in range(calls):
        act()
    return (time.process_time() - start) / calls


def measure_window() -> None:
    """200 lines near the end of a file of 1 GiB: the first time, then with the index."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        lines = write_lines(path)
        descriptor = os.open(path, os.O_RDONLY)
        first, again = [], []
        for _ in range(3):
            indexes = LineIndexes()
            first.append(cpu(partial(indexes.window, descriptor, Span(lines - 300, 200, 10**9), "f")))
            places = [Span(start, 200, 10**9) for start in range(1, lines, lines // 20)]
            again += [cpu(partial(indexes.window, descriptor, span, "f")) for span in places]
        os.close(descriptor)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tell("a window near the end of 1 GiB, first time", statistics.median(first), "s", "", "≤ 0.5 s")
    tell(
        "a window anywhere in it, with the index",
        max(again) * 1e3,
        "ms",
        f"median {statistics.median(again) * 1e3:.2f} ms",
        "≤ 2 ms",
    )
    tell("largest size of the process so far", peak, "MiB", "", "bounded")


def write_lines(path: Path) -> int:
    lines = 0
    with path.open("wb") as file:
        while file.tell() < GIB:
            file.write(b"".join(LINE % number for number in range(lines, lines + 10_000)))
            lines += 10_000
    return lines


def cpu(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def measure_search(files: int) -> None:
    """code.search against ripgrep itself with the same pattern and as many matches wanted."""
    program = find_ripgrep()
    if program is None:
        print("search: there is no ripgrep here")
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        make_tree(Path(folder), files)
        workspace = Workspace([Mount.of("/workspace", folder)])
        for words, pattern in (("a rare word", "needle_[0-9]+"), ("nothing", "no_such_thing")):
            ratios: list[float] = []
            walls: list[tuple[float, float]] = []
            for _ in range(7):
                plain, plain_wall = spent(lambda pattern=pattern: plainly(program, pattern, folder))
                ours, our_wall = spent(lambda pattern=pattern: asyncio.run(search(workspace, pattern)))
                ratios.append(ours / plain)
                walls.append((our_wall, plain_wall))
            wall = " / ".join(f"{statistics.median(column):.3f}" for column in zip(*walls, strict=True))
            tell(
                f"search of {files:,} files for {words}, CPU",
                statistics.median(ratios),
                "×",
                f"wall {wall} s",
                "≤ 1.3 ×",
            )
        workspace.close()


def make_tree(folder: Path, files: int) -> None:
    text = "".join(f"def function_{number}(argument):\n    return argument + {number}\n" for number in range(40))
    for number in range(files):
        place = folder / f"d{number // 1000:03}" / f"e{number // 50 % 20:02}"
        if number % 50 == 0:
            place.mkdir(parents=True, exist_ok=True)
        rare = f"needle_{number}\n" if number % 5_000 == 0 else ""
        (place / f"f{number}.py").write_text(text + rare)
    (folder / ".env").write_text("SECRET=1\n")


def plainly(program: str, pattern: str, folder: str) -> None:
    subprocess.run(
        [program, "--no-config", "--json", "--hidden", "-e", pattern, "."],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=False,
    )


async def search(workspace: Workspace, pattern: str) -> None:
    query = Query(pattern, False, None, 100, 0, Case.SENSITIVE, Secrets.LEFT_OUT, 60.0)
    _, found = await search_files(workspace, workspace.locate(".", View.VIRTUAL), query)
    assert found.left_out == 1


def spent(act: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds of this process and its children, and wall seconds."""
    before, wall = _used(), time.monotonic()
    act()
    return _used() - before, time.monotonic() - wall


def _used() -> float:
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def measure_race() -> None:
    """How often a path that is checked and then opened escapes, and how often ours does, against the same swapper."""
    from test_races import swapped

    rounds = 20_000
    escaped = {"resolve, then open": 0, "the workspace": 0}
    with swapped() as (project, _):
        workspace = Workspace([Mount.of("/workspace", project)])
        root = os.path.realpath(project) + "/"
        for _ in range(rounds):
            escaped["resolve, then open"] += resolved_then_opened(root) == b"OUTSIDE"
            escaped["the workspace"] += through(workspace) == b"OUTSIDE"
        workspace.close()
    beside = f"resolve, then open: {escaped['resolve, then open'] / rounds:.1%}"
    tell(f"escapes in {rounds:,} raced reads", escaped["the workspace"], "", beside, "0")


def resolved_then_opened(root: str) -> bytes:
    try:
        if not os.path.realpath(root + "d/f").startswith(root):
            return b""
        with open(root + "d/f", "rb") as file:
            return file.read()
    except OSError:
        return b""


def through(workspace: Workspace) -> bytes:
    from toolcrib.values.refusal import Refusal

    try:
        with workspace.opened(workspace.locate("d/f", View.VIRTUAL)) as descriptor:
            return os.read(descriptor, 100)
    except Refusal:
        return b""


if __name__ == "__main__":
    main()
