"""What file tools do to read: windows, listings, searches and globs of what was declared."""

from __future__ import annotations

import os
from functools import partial

from anyio import to_thread

from toolcrib.workspace import ripgrep, scan
from toolcrib.workspace.globs import compile_glob
from toolcrib.workspace.lines import Span, Window
from toolcrib.workspace.search import Ground, Query, Searched, Verified, verified
from toolcrib.workspace.spots import Kind, Spot
from toolcrib.workspace.tree import Entry, Walk, listing
from toolcrib.workspace.workspace import Workspace

AT_ONCE = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


async def read_window(workspace: Workspace, spot: Spot, span: Span) -> Window:
    """A window of the declared file; a large one is read in a thread, since it may have to be read to the end."""
    with workspace.opened(spot) as descriptor:
        if os.fstat(descriptor).st_size <= AT_ONCE:
            return workspace.lines.window(descriptor, span, spot.shown)
        held = os.dup(descriptor)
    return await to_thread.run_sync(partial(_read_and_close, workspace, held, span, spot.shown), abandon_on_cancel=True)


async def list_folder(workspace: Workspace, spot: Spot, limit: int) -> tuple[list[Entry], int]:
    """The first entries of the declared folder, and how many it has."""
    spot.folder()
    descriptor = workspace.open(spot, _FOLDER)
    try:
        return await to_thread.run_sync(listing, descriptor, limit)
    finally:
        os.close(descriptor)


async def walk_folder(workspace: Workspace, spot: Spot, limit: int, glob: str | None) -> tuple[list[Entry], Walk, bool]:
    """Entries below the declared folder that fit the glob; whether there are more; and what was left out."""
    spot.folder()
    descriptor = workspace.open(spot, _FOLDER)
    walk = Walk(workspace.rules, "/".join(spot.parts) if spot.mount.name != "/" else spot.host_path)
    try:
        entries = await to_thread.run_sync(partial(_walk, walk, descriptor, limit, glob))
    finally:
        os.close(descriptor)
    return entries[:limit], walk, len(entries) > limit or walk.exhausted or walk.too_deep


async def search_files(workspace: Workspace, spot: Spot, query: Query) -> tuple[Verified, Searched]:
    """Lines below the declared folder, or in the declared file, that match; all of them read again by descriptor."""
    query.matcher()  # a glob that cannot be read is refused before anything starts
    is_file = spot.existing().kind is Kind.FILE
    parts = spot.parts[:-1] if is_file else spot.parts
    operand = f"./{spot.name}" if is_file else "."
    descriptor = workspace.open_exact(spot.mount, parts, _FOLDER) if is_file else workspace.open(spot, _FOLDER)
    try:
        ground = Ground(workspace, spot.mount, parts, descriptor)
        program = ripgrep.find_ripgrep()
        if program is not None:
            found = await ripgrep.search(program, ground, operand, query)
        else:
            found = await to_thread.run_sync(scan.scan, ground, operand, query)
        shown = verified(ground, found.places, query)
    finally:
        os.close(descriptor)
    return shown, found


def _read_and_close(workspace: Workspace, descriptor: int, span: Span, shown: str) -> Window:
    try:
        return workspace.lines.window(descriptor, span, shown)
    finally:
        os.close(descriptor)


def _walk(walk: Walk, descriptor: int, limit: int, glob: str | None) -> list[Entry]:
    """One entry more than the limit, so that the caller knows whether there are more."""
    matcher = None if glob is None else compile_glob(glob)
    into_git = glob is not None and ".git" in glob
    entries: list[Entry] = []
    for entry in walk.entries(descriptor):
        if matcher is not None and not matcher.match(entry.path):
            continue
        if not into_git and (entry.path.startswith(".git/") or "/.git/" in entry.path):
            continue
        entries.append(entry)
        if len(entries) > limit:
            break
    return entries


def status_of(workspace: Workspace, spot: Spot) -> os.stat_result:
    """The state of the declared thing, which is not opened for that."""
    descriptor = workspace.open(spot, os.O_PATH)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)
