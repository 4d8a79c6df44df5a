"""Which sandbox a machine has, and what holds when it has none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.bubblewrap import find_bubblewrap
from toolcrib.executors.sandbox.landlock import find_landlock
from toolcrib.values.process import Confinement
from toolcrib.values.refusal import Reason, Refusal


class Mode(StrEnum):
    """Never, where possible, or not without."""

    OFF = "off"
    AUTO = "auto"
    REQUIRE = "require"


class Backend(Protocol):
    """One way to confine a command."""

    @property
    def name(self) -> str: ...
    def confine(self, bounds: Bounds, cwd: str) -> Confinement: ...
    def shortfall(self, bounds: Bounds) -> str | None: ...


Finder = Callable[[str], Backend | str]
"""Given a folder of its own, gives a backend, or the reason why there is none and what would help."""


class Sandbox:
    """Confines commands as the operator wants it. Looks at the machine once, at the first command."""

    def __init__(self, mode: Mode, *, finders: Sequence[Finder] = (find_bubblewrap, find_landlock)) -> None:
        self.mode = mode
        self._finders = finders
        self._found: list[Backend] | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.missing: list[str] = []
        """Why a backend cannot be used here, one sentence for each."""

    def confine(self, executable: str, cwd: str, bounds: Bounds) -> Confinement | None:
        """How to start a command inside the bounds; None only when no sandbox is wanted, or none is required."""
        if self.mode is Mode.OFF:
            return None
        backend = self.backend(bounds)
        if backend is None:
            if self.mode is Mode.AUTO:
                return None
            raise self._unavailable(bounds)
        for path, what in ((executable, "the program"), (cwd, "the folder")):
            if not bounds.shows(path):
                message = f"{what} {path} cannot be seen inside the sandbox; add its folder to tools.sandbox_read_roots"
                raise Refusal(Reason.PATH_OUTSIDE_ROOT, message, {"path": path})
        return backend.confine(bounds, cwd)

    def backend(self, bounds: Bounds) -> Backend | None:
        """The first backend that keeps these bounds."""
        return next((backend for backend in self.backends() if backend.shortfall(bounds) is None), None)

    def backends(self) -> list[Backend]:
        """Every backend that works on this machine, best first."""
        if self._found is None:
            self._found = []
            for find in self._finders:
                found = find(self._place())
                if isinstance(found, str):
                    self.missing.append(found)
                else:
                    self._found.append(found)
        return self._found

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _place(self) -> str:
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="toolcrib-sandbox-")
        return self._temporary.name

    def _unavailable(self, bounds: Bounds) -> Refusal:
        reasons = [*self.missing, *filter(None, (backend.shortfall(bounds) for backend in self.backends()))]
        message = f'commands need a sandbox here (tools.sandbox = "require"), and there is none: {"; ".join(reasons)}'
        return Refusal(Reason.UNSUPPORTED_CAPABILITY, message, {"reasons": reasons})
