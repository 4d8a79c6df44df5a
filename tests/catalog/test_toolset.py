"""Toolsets: an algebra that never touches what it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from toolcrib.catalog.registry import Registry
from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import InvalidName, RegistrationError
from toolcrib.values.spec import Effect

Call = Callable[..., Any]


@pytest.fixture
def notes() -> Toolset:
    build = ToolsetBuilder("notes", guidance="Read before you write.")

    @build.read(tags={"memory"})
    def read(context: ToolContext, title: str) -> str:
        """Read a note."""
        return f"{context.name}: {title}"

    @build.write()
    def update(title: str, text: str) -> str:
        """Change a note."""
        return title + text

    @build.write(name="notes.wipe", tags={"dangerous"})
    def remove_all() -> None: ...

    assert update("a", "b") == "ab", "the function itself stays callable"
    return build.build()


def test_a_builder_names_marks_and_describes(notes: Toolset) -> None:
    assert (notes.name, notes.guidance) == ("notes", "Read before you write.")
    assert [(tool.name, tool.spec.effect, tool.spec.description) for tool in notes.tools] == [
        ("notes.read", Effect.READ, "Read a note."),
        ("notes.update", Effect.WRITE, "Change a note."),
        ("notes.wipe", Effect.WRITE, "Notes wipe"),
    ]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda set: set.only(["notes.wipe", "notes.read"]), ["notes.read", "notes.wipe"]),
        (lambda set: set.without(["notes.wipe"]), ["notes.read", "notes.update"]),
        (lambda set: set.prefixed("team"), ["team.notes.read", "team.notes.update", "team.notes.wipe"]),
        (lambda set: set.renamed({"notes.read": "look"}), ["look", "notes.update", "notes.wipe"]),
        (lambda set: set.only([]), []),
        (
            lambda set: set.renamed({"notes.read": "notes.update", "notes.update": "notes.read"}),
            ["notes.update", "notes.read", "notes.wipe"],
        ),
    ],
)
def test_each_operation_gives_a_new_toolset(
    change: Callable[[Toolset], Toolset], names: Iterable[str], notes: Toolset
) -> None:
    changed = change(notes)
    assert list(changed.names) == names
    assert list(notes.names) == ["notes.read", "notes.update", "notes.wipe"]
    assert changed.guidance == notes.guidance
    Registry().add(changed.tools)


def test_tags_are_added_to_every_tool(notes: Toolset) -> None:
    tagged = notes.tagged({"team"})
    assert all("team" in tool.spec.tags for tool in tagged.tools)
    assert not any("team" in tool.spec.tags for tool in notes.tools)
    assert "memory" in tagged.tools[0].spec.tags


def test_a_renamed_tool_still_works(notes: Toolset, call: Call) -> None:
    assert call(notes.prefixed("x").tools[0], title="today") == "x.notes.read: today"


@pytest.mark.parametrize(
    "change",
    [
        lambda set: set.only(["notes.reed"]),
        lambda set: set.without(["notes.reed"]),
        lambda set: set.renamed({"notes.reed": "x"}),
    ],
)
def test_a_name_that_is_not_there_is_an_error(change: Callable[[Toolset], Toolset], notes: Toolset) -> None:
    with pytest.raises(RegistrationError, match=r"no tool named 'notes\.reed'; did you mean 'notes\.read'"):
        change(notes)


def test_two_tools_of_one_name_are_refused(notes: Toolset) -> None:
    with pytest.raises(InvalidName, match=r"two tools named notes\.update"):
        notes.renamed({"notes.read": "notes.update"})


def test_a_prefix_must_make_a_name(notes: Toolset) -> None:
    with pytest.raises(InvalidName):
        notes.prefixed("not a prefix")


def test_the_decorators_need_no_parentheses() -> None:
    build = ToolsetBuilder("math")

    @build.read
    def add(a: int, b: int) -> int:
        return a + b

    assert add(1, 2) == 3
    assert build.build().names == ("math.add",)


def test_functions_make_a_toolset_directly() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    assert Toolset.of("math", [add]).prefixed("math").names == ("math.add",)
