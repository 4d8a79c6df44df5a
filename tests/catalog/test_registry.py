"""The registry: all or nothing, no duplicates, snapshots that never change."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from toolcrib.catalog.decorate import tool, tool_of
from toolcrib.catalog.registry import REMEMBERED_CHANGES, Registry, stamped
from toolcrib.values.refusal import InvalidName, Reason, RegistrationError, SchemaError
from toolcrib.values.schema import Profile
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Tool


def made(name: str, **fields: Any) -> Tool:
    spec = ToolSpec(name=name, description=name, input_schema=fields.pop("input_schema", {"type": "object"}), **fields)
    return Tool(spec, lambda context, arguments: None)


def test_tools_come_in_together_and_in_order() -> None:
    registry = Registry()
    first = registry.add([made("b"), made("a")])
    second = registry.add([made("c")])
    assert (list(first), list(second)) == (["b", "a"], ["b", "a", "c"])
    assert (first.generation, second.generation) == (1, 2)
    assert registry.snapshot is second
    assert second["c"].name == "c"
    assert "d" not in second
    assert second.get("d") is None


def test_nothing_comes_in_when_one_is_wrong_and_every_problem_is_told() -> None:
    registry = Registry()
    before = registry.add([made("taken")])

    def unsupported(value: complex) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        registry.add(
            [
                made("good"),
                made("taken"),
                made("Good"),
                made("bomb", input_schema={"$ref": "http://evil.test"}),
                unsupported,
                7,
            ]
        )
    text = str(caught.value)
    assert text.startswith("5 tools cannot be registered, so none was:")
    for part in (
        "'taken' is already registered",
        "differ only in case",
        "bomb: ",
        "complex has no JSON form",
        "7 is not a tool",
    ):
        assert part in text
    assert registry.snapshot is before
    assert "good" not in registry.add([made("other")])


@pytest.mark.parametrize(("one", "other"), [("a.b", "a.b"), ("Search.Web", "search.web"), ("x", "X")])
def test_names_that_a_provider_could_confuse_are_refused(one: str, other: str) -> None:
    registry = Registry()
    with pytest.raises(InvalidName) as caught:
        registry.add([made(one), made(other)])
    assert caught.value.reason is Reason.SCHEMA_ERROR
    registry.add([made(one)])
    with pytest.raises(InvalidName):
        registry.add([made(other)])


def test_a_snapshot_never_changes() -> None:
    registry = Registry()
    old = registry.add([made("a"), made("b")])
    tools: Any = old.tools
    with pytest.raises(TypeError):
        tools["c"] = made("c")
    registry.replace(made("a", title="new"))
    registry.remove("b")
    assert list(old) == ["a", "b"]
    assert old["a"].spec.title == ""
    assert {name: each.spec.title for name, each in registry.snapshot.items()} == {"a": "new"}


def test_a_removed_name_is_free_again_in_any_spelling() -> None:
    registry = Registry()
    registry.add([made("Notes")])
    registry.remove("Notes")
    assert list(registry.add([made("notes")])) == ["notes"]


def test_a_replaced_tool_keeps_its_place() -> None:
    registry = Registry()
    registry.add([made("a"), made("b")])
    assert list(registry.replace(made("a"))) == ["a", "b"]


@pytest.mark.parametrize(
    "act", [lambda registry: registry.remove("nots"), lambda registry: registry.replace(made("nots"))]
)
def test_what_is_not_there_cannot_be_changed(act: Callable[[Registry], object]) -> None:
    registry = Registry()
    registry.add([made("notes")])
    with pytest.raises(InvalidName, match="did you mean 'notes'"):
        act(registry)


class TestChanges:
    def test_a_snapshot_knows_what_changed_since_an_older_one(self) -> None:
        registry = Registry()
        first = registry.add([made("a"), made("b")])
        registry.replace(made("a"))
        registry.remove("b")
        last = registry.add([made("c")])
        assert last.changed_since(first) == {"a", "b", "c"}
        assert last.changed_since(last) == frozenset()
        assert first.changed_since(last) is None

    def test_it_forgets_what_is_long_ago(self) -> None:
        registry = Registry()
        first = registry.add([made("a")])
        for _ in range(REMEMBERED_CHANGES):
            last = registry.replace(made("a"))
        assert last.changed_since(first) == {"a"}
        assert registry.replace(made("a")).changed_since(first) is None


class TestSchemas:
    @pytest.mark.parametrize("field", ["input_schema", "output_schema", "read_form"])
    def test_every_schema_of_a_tool_is_checked(self, field: str) -> None:
        with pytest.raises(SchemaError, match=r"^t: .*\$\.type"):
            Registry().add([made("t", **{field: {"type": "objct"}})])

    def test_an_output_schema_need_not_be_an_object(self) -> None:
        added = Registry().add([made("t", output_schema={"type": "integer"})])
        assert "t" in added

    def test_the_core_profile_binds_functions_too(self) -> None:
        def example(a: int | None) -> None: ...

        Registry().add([example])
        with pytest.raises(SchemaError, match="core schema profile"):
            Registry(Profile.CORE).add([example])

    def test_what_an_author_wrote_by_annotation_is_checked(self) -> None:
        from pydantic import Field

        def example(a: str = Field(pattern="(")) -> None: ...

        with pytest.raises(SchemaError, match=r"properties\.a\.pattern"):
            Registry().add([example])

    def test_validators_are_compiled_once_and_live_as_long_as_the_tool(self) -> None:
        registry = Registry()
        each = registry.add([made("t", output_schema={"type": "integer"}, read_form={"required": ["dry"]})])["t"]
        checks = registry.checks(each)
        assert registry.checks(each) is checks
        assert checks.output is not None
        assert checks.read_form is not None
        assert [checks.output.is_valid(1), checks.read_form.is_valid({})] == [True, False]
        alive = weakref.ref(each)
        registry.remove("t")
        del each
        gc.collect()
        assert alive() is None


class TestTags:
    @pytest.mark.parametrize(("effect", "tag"), [(Effect.READ, "readonly"), (Effect.WRITE, "write")])
    def test_the_tag_follows_the_effect(self, effect: Effect, tag: str) -> None:
        assert Registry().add([made("t", effect=effect, tags=frozenset({"notes"}))])["t"].spec.tags == {"notes", tag}

    @pytest.mark.parametrize(
        ("effect", "tags"),
        [(Effect.READ, {"write"}), (Effect.WRITE, {"readonly"}), (Effect.READ, {"write", "readonly"})],
    )
    def test_a_tag_that_contradicts_the_effect_is_refused(self, effect: Effect, tags: set[str]) -> None:
        with pytest.raises(RegistrationError, match="tagged"):
            Registry().add([made("t", effect=effect, tags=frozenset(tags))])

    def test_a_decorated_function_cannot_lie_either(self) -> None:
        @tool(tags={"readonly"})
        def example() -> None: ...

        with pytest.raises(RegistrationError, match="tagged both"):
            Registry().add([example])

    @pytest.mark.parametrize("tag", ["", "a b", "é", "x" * 65, "a\n", "-a"])
    def test_a_tag_is_a_short_ascii_word(self, tag: str) -> None:
        with pytest.raises(RegistrationError, match="is not a tag"):
            Registry().add([made("t", tags=frozenset({tag}))])

    def test_own_tags_and_categories_are_welcome(self) -> None:
        spec = Registry().add([made("t", tags=frozenset({"team:red"}), category="Kitchen")])["t"].spec
        assert ("team:red" in spec.tags, spec.category) == (True, "Kitchen")

    def test_a_category_is_one_line(self) -> None:
        with pytest.raises(RegistrationError, match="category"):
            Registry().add([made("t", category="a\nb")])

    def test_metadata_is_json(self) -> None:
        with pytest.raises(RegistrationError, match="metadata must be JSON"):
            Registry().add([made("t", metadata={"a": object()})])


def test_a_source_stamps_its_tools() -> None:
    source = Source("mcp", "npx files", "1.2")
    spec = stamped(made("mcp.files.read"), source=source, tool_type=ToolType.MCP, tags={"mcp"}).spec
    assert (spec.source, spec.tool_type, spec.tags) == (source, ToolType.MCP, {"mcp"})


def test_a_stamp_changes_the_fingerprint() -> None:
    def example() -> None: ...

    each = tool_of(example)
    assert stamped(each, tags={"network"}).fingerprint != each.fingerprint
    assert replace(each, spec=replace(each.spec)).fingerprint == each.fingerprint
