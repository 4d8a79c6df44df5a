"""A project with a neighbour that must never be touched, and both ways to open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcrib.workspace import Mount, Workspace
from toolcrib.workspace.resolve import Opener


@pytest.fixture(params=["openat2", "steps"])
def opener(request: pytest.FixtureRequest) -> Opener:
    return Opener.best() if request.param == "openat2" else Opener(None)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    place = tmp_path.resolve()
    for name in ("project", "outside", "scratch"):
        (place / name).mkdir()
    (place / "outside" / "secret.txt").write_text("OUTSIDE")
    return place


@pytest.fixture
def project(base: Path) -> Path:
    return base / "project"


@pytest.fixture
def outside(base: Path) -> Path:
    return base / "outside"


@pytest.fixture
def workspace(base: Path, opener: Opener) -> Iterator[Workspace]:
    mounts = [Mount.of("/workspace", base / "project"), Mount.of("/scratch", base / "scratch")]
    opened = Workspace(mounts, opener=opener)
    yield opened
    opened.close()
