"""Tools of installed packages: by package and name, by entry point, for one agent or for all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib import ConfigError, Toolcrib
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio
CODE = '''
from toolcrib import Toolset, tool

@tool.read
def look(word: str) -> str:
    """Look a word up."""
    return word.upper()

def post(text: str) -> str:
    """Post a text."""
    return text

web = [look, post]
web_set = Toolset.of("web", [look])
web_map = {"find": look}
one = {"name": "one", "description": "One.", "inputSchema": {"type": "object"}, "execute": lambda input: "1"}
wrong = 3
'''


class Place:
    """A home, and an installed package to import from."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        (self.home / "agents").mkdir(parents=True)
        self.asker = ScriptedAsker.always("allow_once")

    def define(self, imported: str, approval: str = "preApproved", package: str = "acme_tools") -> None:
        line = f"{{package: {package}, import: {imported}, approval: {approval}}}"
        (self.home / "agents" / "user.yaml").write_text(f"toolsets:\n  external: {line}\n")

    def open(self, **tools: Any):
        return Toolcrib.open(home=self.home, asker=self.asker, config={"tools": tools})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    site = tmp_path / "site"
    about = site / "acme_tools-1.2.dist-info"
    about.mkdir(parents=True)
    (site / "acme_tools.py").write_text(CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\nVersion: 1.2\n")
    (about / "top_level.txt").write_text("acme_tools\n")
    (about / "entry_points.txt").write_text("[toolcrib.tools]\nacme = acme_tools:web\nbroken = acme_tools:nothing\n")
    monkeypatch.syspath_prepend(str(site))
    yield Place(tmp_path)
    sys.modules.pop("acme_tools", None)


@pytest.mark.parametrize(
    ("imported", "names"),
    [
        ("web", ["look", "post"]),
        ("web_set", ["look"]),
        ("web_map", ["find"]),
        ("look", ["look"]),
        ("one", ["one"]),
        ("acme", ["look", "post"]),
    ],
)
async def test_a_definition_brings_what_a_package_offers(place: Place, imported: str, names: list[str]) -> None:
    place.define(imported)
    async with place.open() as crib:
        async with crib.run(agent="user") as run:
            assert sorted(run.tools) == [f"external.acme_tools.{name}" for name in names]
            source = crib.runtime.registry.snapshot[f"external.acme_tools.{names[0]}"].spec.source
            assert (source.kind, source.version) == ("package", "1.2")
        async with crib.run() as run:
            assert not [name for name in run.tools if name.startswith("external.")]


async def test_its_approvals_are_rules_of_the_agent(place: Place) -> None:
    place.define("web", "{default: blocked, tools: {post: preApproved}}")
    async with place.open() as crib, crib.run(agent="user") as run:
        assert (await run.call("external.acme_tools.post", {"text": "a"})).text == "a"
        assert (await run.call("external.acme_tools.look", {"word": "a"})).reason == "permission_denied"
        assert place.asker.requests == []


@pytest.mark.parametrize(
    ("imported", "package", "said"),
    [
        ("wbe", "acme_tools", "the package acme_tools has no 'wbe'; did you mean web?"),
        ("web", "no_such_package", "the package 'no_such_package' is not installed here"),
        ("wrong", "acme_tools", "is not a tool"),
        ("broken", "acme_tools", "the entry point broken (acme_tools:nothing) cannot be loaded: AttributeError"),
    ],
)
async def test_what_cannot_be_brought_is_said_when_the_agent_is_wanted(
    place: Place, imported: str, package: str, said: str
) -> None:
    place.define(imported, package=package)
    async with place.open() as crib:
        with pytest.raises(ConfigError) as caught:
            crib.run(agent="user")
        assert said in str(caught.value)
        async with crib.run():
            pass


async def test_the_configuration_gives_packages_to_every_agent(place: Place) -> None:
    async with place.open(packages=["acme", "acme_tools:web_set", "unknown"]) as crib, crib.run() as run:
        assert {"acme.look", "acme.post", "acme_tools.look"} <= set(run.tools)
        assert (await run.call("acme.look", {"word": "a"})).text == "A"
        assert crib.outside is not None
        assert "there are: acme, broken" in crib.outside.aside["unknown"]
