"""The folders that the cases of the corpus speak of: project, outside, home and scratch, made anew for each case."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Folders:
    """Where `${P}`, `${O}`, `${H}` and `${S}` of a case lie; they exist from the start."""

    base: Path

    def __post_init__(self) -> None:
        for folder in self.all.values():
            folder.mkdir(parents=True)

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def scratch(self) -> Path:
        return self.base / "scratch"

    @property
    def all(self) -> dict[str, Path]:
        return {"${P}": self.project, "${O}": self.outside, "${H}": self.home, "${S}": self.scratch}

    def filled(self, value: Any) -> Any:
        """A value of a case with its places filled in; any other `${…}` stays."""
        if isinstance(value, str):
            for name, folder in self.all.items():
                value = value.replace(name, str(folder))
            return value
        if isinstance(value, Mapping):
            return {self.filled(key): self.filled(member) for key, member in value.items()}
        return [self.filled(member) for member in value] if isinstance(value, list) else value

    def state(self) -> dict[str, bytes | str]:
        """Everything on disk but Toolcrib's own records, to tell whether a call had an effect."""
        found: dict[str, bytes | str] = {}
        for top in self.all.values():
            for folder, folders, files in os.walk(top):
                folders[:] = [name for name in folders if os.path.join(folder, name) != str(self.home / ".toolcrib")]
                for name in (*folders, *files):
                    path = Path(folder, name)
                    found[str(path)] = (
                        os.readlink(path) if path.is_symlink() else path.read_bytes() if name in files else b""
                    )
        return found
