"""The workspace: mounts held open by descriptor, paths declared as targets, and the declared thing opened again."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from toolcrib.values.refusal import ConfigError, Reason, Refusal
from toolcrib.values.target import TargetKind
from toolcrib.workspace.boundary import Boundary
from toolcrib.workspace.faults import changed, refusal_of, told
from toolcrib.workspace.lexical import check_names, check_text, normal_parts, shown
from toolcrib.workspace.lines import LineIndexes
from toolcrib.workspace.mounts import HOST, Access, Mount
from toolcrib.workspace.patterns import PACKAGE_STORES, PathRules
from toolcrib.workspace.resolve import Opener, find, find_itself
from toolcrib.workspace.spots import Final, Identity, Kind, PathTarget, Spot

PROJECT = "/workspace"
SCRATCH = "/scratch"


class View(StrEnum):
    """How paths are written: virtual (`/workspace/a`, nothing else exists) or as the host has them."""

    VIRTUAL = "virtual"
    HOST = "host"


class Workspace:
    """What file tools stand on. Sub-runs get a `narrowed` one; nothing here widens."""

    def __init__(
        self,
        mounts: Iterable[Mount],
        *,
        boundary: Boundary | None = None,
        rules: PathRules | None = None,
        reach: View = View.HOST,
        opener: Opener | None = None,
    ) -> None:
        self.mounts = {mount.name: mount for mount in mounts}
        if PROJECT not in self.mounts:
            raise ConfigError(f"a workspace needs a mount named {PROJECT}: the project")
        self.boundary = boundary or Boundary()
        self.rules = rules or PathRules()
        self.reach = reach
        self.lines = LineIndexes()
        self._opener = opener or Opener.best()
        self._roots: dict[str, int] = {}
        # The innermost mount decides about a path, so that a read-only mount inside the project stays read-only.
        self._inner = sorted(self.mounts.values(), key=lambda mount: -len(mount.root))

    @classmethod
    def of(
        cls,
        project: str | Path,
        scratch: str | Path | None = None,
        *,
        boundary: Boundary | None = None,
        rules: PathRules | None = None,
        mounts: Iterable[Mount] = (),
    ) -> Workspace:
        """A workspace of a project, a folder for state of the run, and further mounts."""
        first = [Mount.of(PROJECT, project)]
        if scratch is not None:
            first.append(Mount.of(SCRATCH, scratch))
        return cls([*first, *mounts], boundary=boundary, rules=rules)

    @property
    def project(self) -> Mount:
        return self.mounts[PROJECT]

    def narrowed(self, mounts: Iterable[Mount], reach: View = View.VIRTUAL) -> Workspace:
        """A workspace for a sub-run: mounts at or below these, never with more access; anything else is an error."""
        kept = list(mounts)
        for mount in kept:
            outer = self.holding(mount.root)
            if outer is None:
                raise ConfigError(f"a sub-run cannot have {mount.root} as {mount.name}: its parent has no mount there")
            if mount.access is Access.WRITE and outer.access is Access.READ:
                raise ConfigError(f"a sub-run cannot write to {mount.name}: its parent may only read {outer.name}")
        reach = reach if self.reach is View.HOST else View.VIRTUAL
        kept += self._locked_within(kept, reach)
        return Workspace(kept, boundary=self.boundary, rules=self.rules, reach=reach, opener=self._opener)

    def _locked_within(self, kept: list[Mount], reach: View) -> list[Mount]:
        """What is mounted for reading only stays so where a sub-run can still reach it through an outer mount."""
        names = {mount.name for mount in kept}
        locked = [mount for mount in self.mounts.values() if mount.access is Access.READ and mount not in kept]
        locked = [each for each in locked if reach is View.HOST or any(mount.holds(each.root) for mount in kept)]
        for mount in locked:
            if mount.name in names:
                raise ConfigError(f"a sub-run cannot use the name {mount.name} for something else than its parent does")
        return locked

    # Declaring: from what a model wrote to a target, without side effects.

    def target(self, path: str, view: View, access: Access, final: Final = Final.FOLLOWED) -> PathTarget:
        """Declare one path: where it leads and what that means for permission."""
        spot = self.locate(path, view, final)
        marks = self.marks(spot, path, access)
        if access is Access.WRITE and spot.mount.access is Access.READ:
            message = f"{spot.shown} is below {spot.mount.name}, which is mounted for reading only"
            raise Refusal(Reason.WRITE_OUTSIDE_ALLOWED_ROOTS, message, {"path": spot.shown})
        return PathTarget(TargetKind.PATH, spot.host_path, self._scope(spot, marks), marks, spot)

    def locate(self, path: str, view: View, final: Final = Final.FOLLOWED) -> Spot:
        """Where a path leads; Refusal when it leads out of every mount of this view."""
        mount, parts = self._mounted(check_text(path), view)
        check_names(parts)
        label = self._label(mount, parts, view)
        try:
            if final is Final.ITSELF and parts:
                folder = self._find(mount, parts[:-1], label)
                return find_itself(self._opener, self.root(folder.mount), folder, parts[-1], label)
            return self._find(mount, parts, label)
        except OSError as error:
            raise refusal_of(error, label) from error

    def _find(self, mount: Mount, parts: tuple[str, ...], label: str) -> Spot:
        """Look at a path. Whichever way it was reached, the innermost mount that holds the real place decides."""
        spot = find(self._opener, self.root(mount), mount, parts, label)
        if spot.identity is None and self._root_is_gone(mount):
            spot = find(self._opener, self.root(mount), mount, parts, label)
        inner = self.holding(spot.host_path)
        if inner is None or inner is mount:
            return spot
        return find(self._opener, self.root(inner), inner, inner.below(spot.host_path), label)

    def marks(self, spot: Spot, path: str, access: Access) -> frozenset[str]:
        """What makes a path one that always asks: names are matched as they were written and as they were found."""
        host_path = spot.host_path
        found = host_path if spot.mount is HOST else "/".join(spot.parts)
        names = (found,) if path == found else (path, found)
        marks: set[str] = set()
        private = self.boundary.is_private(host_path) and not self._is_mounted_inside_private(spot.mount)
        if private or any(map(self.rules.is_sensitive, names)):
            marks.add("sensitive")
        if spot.links > 1 and PACKAGE_STORES.isdisjoint(spot.parts):
            marks.add("hard-linked")
        if access is Access.WRITE:
            if private or any(map(self.rules.is_protected, names)):
                marks.add("protected")
            if spot.mount is HOST and self.boundary.root_of(host_path) is None:
                marks.add("outside")
        return frozenset(marks)

    def holding(self, host_path: str) -> Mount | None:
        """The innermost mount that holds a host path."""
        for mount in self._inner:
            if mount.holds(host_path):
                return mount
        return None

    # Acting: the declared thing, opened again by descriptor and compared.

    def open(self, spot: Spot, flags: int) -> int:
        """A descriptor of exactly the thing that was declared; Refusal when another thing stands there now."""
        try:
            descriptor = self._opener.open(self.root(spot.mount), spot.parts, _unwaiting(flags))
        except OSError as error:
            raise refusal_of(error, spot.shown) from error
        if Identity.of(os.fstat(descriptor)) != spot.identity:
            os.close(descriptor)
            raise changed(spot.shown)
        return descriptor

    def opened(self, spot: Spot) -> Held:
        """The declared regular file, open for reading."""
        spot.file()
        return Held(self.open(spot, os.O_RDONLY))

    def read_link(self, spot: Spot) -> str:
        """Where the declared link leads, as it is written in it."""
        descriptor = self.open(spot, os.O_PATH | os.O_NOFOLLOW)
        try:
            return os.readlink("", dir_fd=descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def parent(self, spot: Spot) -> Generator[int]:
        """The folder that holds the declared thing, held open; nobody can move the act elsewhere by a rename."""
        if not spot.parts:
            raise Refusal(Reason.VALIDATION_ERROR, f"{spot.shown} is the root of a mount and stays as it is")
        descriptor = self.open_exact(spot.mount, spot.parts[: -max(spot.missing, 1)], os.O_RDONLY | os.O_DIRECTORY)
        try:
            if spot.anchor is not None and Identity.of(os.fstat(descriptor)) != spot.anchor:
                raise changed(spot.shown)
            yield descriptor
        finally:
            os.close(descriptor)

    def open_exact(self, mount: Mount, parts: tuple[str, ...], flags: int) -> int:
        """A descriptor below a mount without following any link."""
        with told(self._label(mount, parts, View.VIRTUAL if mount is not HOST else View.HOST)):
            return self._opener.open(self.root(mount), parts, _unwaiting(flags))

    def root(self, mount: Mount) -> int:
        """The held descriptor of a mount's root."""
        known = self._roots.get(mount.root)
        if known is not None:
            return known
        try:
            opened = os.open(mount.root, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise refusal_of(error, mount.name) from error
        return self._roots.setdefault(mount.root, opened)

    def _root_is_gone(self, mount: Mount) -> bool:
        """Whether the root was deleted; it is then let go, so that one made again in its place is opened."""
        if os.fstat(self.root(mount)).st_nlink > 0:
            return False
        os.close(self._roots.pop(mount.root))
        return True

    def close(self) -> None:
        """Let go of the roots; the workspace opens them again when it is used again."""
        while self._roots:
            os.close(self._roots.popitem()[1])

    def _mounted(self, path: str, view: View) -> tuple[Mount, tuple[str, ...]]:
        if view is View.VIRTUAL:
            return self._virtual(path)
        absolute = path if path.startswith("/") else f"{self.project.root}/{path}"
        parts = normal_parts(absolute) or ()
        host_path = "/" + "/".join(parts)
        mount = self.holding(host_path)
        if mount is not None:
            return mount, mount.below(host_path)
        if self.reach is View.HOST:
            return HOST, parts
        raise self._outside(path)

    def _virtual(self, path: str) -> tuple[Mount, tuple[str, ...]]:
        if path.startswith("/"):
            name, _, rest = path.lstrip("/").partition("/")
            mount, parts = self.mounts.get(f"/{name}"), normal_parts(rest)
        else:
            mount, parts = self.project, normal_parts(path)
        if mount is None or parts is None:
            raise self._outside(path)
        return mount, parts

    def _outside(self, path: str) -> Refusal:
        message = f"{shown(path)} is outside of the workspace; paths are relative, or below {self._names()}"
        return Refusal(Reason.PATH_OUTSIDE_ROOT, message, {"path": path[:200], "mounts": sorted(self.mounts)})

    def _names(self) -> str:
        return ", ".join(sorted(self.mounts))

    def _label(self, mount: Mount, parts: tuple[str, ...], view: View) -> str:
        if view is View.VIRTUAL:
            return mount.virtual_path(parts)
        if mount is self.project:
            return "/".join(parts) or "."
        return mount.host_path(parts)

    def _scope(self, spot: Spot, marks: frozenset[str]) -> str:
        """What a session grant would cover: the folder, one sensitive file; nothing protected."""
        if "protected" in marks:
            return ""
        if marks - {"outside"}:
            return spot.host_path
        is_folder = spot.identity is not None and spot.identity.kind is Kind.FOLDER
        return spot.host_path if is_folder else os.path.dirname(spot.host_path)

    def _is_mounted_inside_private(self, mount: Mount) -> bool:
        return mount is not HOST and self.boundary.is_private(mount.root)


class Held:
    """A descriptor that is closed when its block ends. By hand, because a generator costs as much as the open."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _unwaiting(flags: int) -> int:
    """Flags under which no named pipe makes an open wait; openat2 takes them for nothing but real opens."""
    return flags if flags & os.O_PATH else flags | os.O_NONBLOCK
