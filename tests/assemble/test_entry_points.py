"""Toolsets and toolkits of installed packages, found by entry point as their guides say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolcrib import Toolcrib
from toolcrib.assemble.kits import find_toolkits
from toolcrib.values.refusal import ConfigError, ToolcribError

SHELF = """
from toolcrib import ToolsetBuilder
def toolset(services):
    build = ToolsetBuilder("shelf", guidance="Look before you put.")
    @build.read()
    async def look(name: str) -> str:
        '''Look at something on the shelf.'''
        return f"{name}: nothing"
    return build.build()
def nothing(services):
    return None
number = 3
"""


def installed(site: Path, module: str, code: str, group: str, point: str) -> None:
    """A package as an installer leaves it."""
    (site / f"{module}.py").write_text(code)
    facts = site / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{group}]\n{point}\n")


@pytest.mark.parametrize("point", ["shelf = acme_shelf:toolset", "shelf = acme_shelf"])
@pytest.mark.anyio
async def test_a_package_brings_a_toolset_by_its_function_or_its_module(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "acme_shelf", SHELF, "toolcrib.toolsets", point)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    config = {"toolsets": ["shelf"]}
    async with Toolcrib.open(home=tmp_path / "home", config=config) as crib, crib.run() as run:
        assert (await run.call("shelf.look", {"name": "lamp"})).text == "lamp: nothing"
        assert "Look before you put." in run.guidance


@pytest.mark.parametrize(
    ("point", "says"),
    [
        ("shelf = acme_shelf:missing", "cannot be loaded"),
        ("shelf = acme_nowhere", "cannot be loaded"),
        ("shelf = acme_shelf:number", "must lead to a function"),
        ("shelf = acme_shelf:nothing", "returned NoneType"),
        ("desk = acme_shelf", "by an entry point 'shelf' in the group toolcrib.toolsets"),
    ],
)
@pytest.mark.anyio
async def test_a_toolset_that_a_package_does_not_have_is_told(
    point: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "acme_shelf", SHELF, "toolcrib.toolsets", point)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ConfigError, match=says):
        async with Toolcrib.open(home=tmp_path / "home", config={"toolsets": ["shelf"]}):
            pass


def test_a_toolkit_that_cannot_be_loaded_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "acme_notes", "x = 1\n", "toolcrib.toolkits", "notes = acme_notes:TOOLKIT")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ToolcribError, match="cannot be loaded"):
        find_toolkits()
