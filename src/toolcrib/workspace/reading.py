"""What file tools do to read: windows, listings, searches and globs of what was declared."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

from toolcrib.workspace import ripgrep, scan
from toolcrib.workspace.faults import told
from toolcrib.workspace.globs import compile_glob
from toolcrib.workspace.lines import Span, Window
from toolcrib.workspace.mounts import HOST
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.search import Ground, Query, Searched, Verified, verified
from toolcrib.workspace.spots import Kind, Spot
from toolcrib.workspace.tree import Entry, Walk, listing
from toolcrib.workspace.waiting import looking
from toolcrib.workspace.workspace import Workspace

AT_ONCE = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


async def read_window(workspace: Workspace, spot: Spot, span: Span) -> Window:
    """A window of the declared file; a large one is read in a thread, since it may have to be read to the end."""
    with workspace.opened(spot) as descriptor:
        if os.fstat(descriptor).st_size <= AT_ONCE:
            with told(spot.shown):
                return workspace.lines.window(descriptor, span, spot.shown)
    return await looking(partial(_window, workspace, spot, span))


async def list_folder(workspace: Workspace, spot: Spot, limit: int) -> tuple[list[Entry], int]:
    """The first entries of the declared folder, and how many it has."""
    return await looking(partial(_list, workspace, spot, limit))


async def walk_folder(
    workspace: Workspace, spot: Spot, limit: int, glob: str | None, secrets: Secrets
) -> tuple[list[Entry], Walk, bool]:
    """Entries below the declared folder that fit the glob; what was left out; and whether there are more."""
    walk = Walk(workspace.rules, "/".join(spot.parts) if spot.mount is not HOST else spot.host_path, secrets)
    entries = await looking(partial(_walk, workspace, spot, walk, limit, glob))
    return entries[:limit], walk, len(entries) > limit or walk.exhausted or walk.too_deep


async def search_files(workspace: Workspace, spot: Spot, query: Query) -> tuple[Verified, Searched]:
    """Lines below the declared folder, or in the declared file, that match; all of them read again by descriptor."""
    query.check()
    program = ripgrep.find_ripgrep()
    if program is None:
        return await looking(partial(_scan, workspace, spot, query))
    with _ground(workspace, spot) as (ground, operand):
        found = await ripgrep.search(program, ground, operand, query)
        return verified(ground, found.places, query), found


def status_of(workspace: Workspace, spot: Spot) -> os.stat_result:
    """The state of the declared thing, which is not opened for that."""
    with _open(workspace, spot, os.O_PATH) as descriptor:
        return os.fstat(descriptor)


# What runs in a thread opens and closes its own descriptors: a call that is given up must not close them under it.


def _window(workspace: Workspace, spot: Spot, span: Span) -> Window:
    with workspace.opened(spot) as descriptor, told(spot.shown):
        return workspace.lines.window(descriptor, span, spot.shown)


def _list(workspace: Workspace, spot: Spot, limit: int) -> tuple[list[Entry], int]:
    spot.folder()
    with _open(workspace, spot, _FOLDER) as descriptor, told(spot.shown):
        return listing(descriptor, limit)


def _scan(workspace: Workspace, spot: Spot, query: Query) -> tuple[Verified, Searched]:
    with _ground(workspace, spot) as (ground, operand):
        found = scan.scan(ground, operand, query)
        return verified(ground, found.places, query), found


@contextmanager
def _ground(workspace: Workspace, spot: Spot) -> Generator[tuple[Ground, str]]:
    """The folder to search and what of it: all, or the one declared file."""
    if spot.existing().kind is Kind.FILE:
        with workspace.parent(spot) as descriptor:
            yield Ground(workspace, spot.mount, spot.parts[:-1], descriptor), f"./{spot.name}"
    else:
        spot.folder()
        with _open(workspace, spot, _FOLDER) as descriptor:
            yield Ground(workspace, spot.mount, spot.parts, descriptor), "."


@contextmanager
def _open(workspace: Workspace, spot: Spot, flags: int) -> Generator[int]:
    descriptor = workspace.open(spot, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _walk(workspace: Workspace, spot: Spot, walk: Walk, limit: int, glob: str | None) -> list[Entry]:
    """One entry more than the limit, so that the caller knows whether there are more."""
    spot.folder()
    matcher = None if glob is None else compile_glob(glob)
    into_git = glob is not None and ".git" in glob
    entries: list[Entry] = []
    with _open(workspace, spot, _FOLDER) as descriptor, told(spot.shown):
        for entry in walk.entries(descriptor):
            if matcher is not None and not matcher.match(entry.path):
                continue
            if not into_git and (entry.path.startswith(".git/") or "/.git/" in entry.path):
                continue
            entries.append(entry)
            if len(entries) > limit:
                break
    return entries
