"""A home and a project in a fresh folder, and short ways to write and load them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolcrib.config import Config, InvalidConfig, load
from toolcrib.values.json import Json


@dataclass(frozen=True)
class Desk:
    """Where a test writes its files."""

    home: Path
    project: Path

    def user(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def narrow(self, text: str) -> None:
        (self.project / "toolcrib.toml").write_text(text)

    def load(self, overrides: Mapping[str, Json] | None = None) -> Config:
        return load(self.home, self.project, overrides, {"HOME": "/home/ada"})

    def problems(self, overrides: Mapping[str, Json] | None = None) -> list[str]:
        """The lines of the refusal, with the two folders written HOME and PROJECT."""
        with pytest.raises(InvalidConfig) as refused:
            self.load(overrides)
        told = str(refused.value).replace(str(self.project), "PROJECT").replace(str(self.home), "HOME")
        return told.split("\n")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Desk(home, project)
