"""The decorator and `tool_of`: what can be a tool, what it is called, how it runs."""

from __future__ import annotations

import asyncio
import functools
import operator
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from toolcrib.catalog.decorate import Options, tool, tool_of
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import InvalidName, Refusal, RegistrationError
from toolcrib.values.spec import Effect, Exposure, Lane, Source, ToolSpec
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments, Runs, Tool

Call = Callable[..., Any]


@tool
def bare(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@tool.read
async def bare_read(a: int) -> int:
    return a


@tool.write()
def with_parentheses() -> None: ...


class Notes:
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    @tool.read(name="notes.read")
    def read(self, title: str) -> str:
        """Read a note."""
        return self.prefix + title

    def plain(self, title: str) -> str:
        return self.prefix + title

    @staticmethod
    @tool(name="notes.static")
    def static(a: int) -> int:
        return a

    @tool(name="notes.class")
    @classmethod
    def of_class(cls, a: int) -> str:
        return f"{cls.__name__}{a}"


class Counter:
    """Counts."""

    name = "counter.next"

    def __call__(self, step: int = 1) -> int:
        """Count on."""
        return step


class Adapter:
    spec = ToolSpec(name="full.adapter", description="By hand.", input_schema={"type": "object"})

    async def call(self, context: ToolContext, arguments: Arguments) -> object:
        return dict(arguments)

    def targets(self, arguments: Arguments) -> Sequence[Target]:
        return [Target(TargetKind.PATH, "/x")]


def test_a_decorated_function_is_still_itself() -> None:
    assert bare(1) == 3
    assert asyncio.run(bare_read(4)) == 4


@pytest.mark.parametrize(
    ("source", "name", "effect", "runs", "description"),
    [
        (bare, "bare", Effect.WRITE, Runs.THREAD, "Add."),
        (bare_read, "bare_read", Effect.READ, Runs.ASYNC, "Bare read"),
        (with_parentheses, "with_parentheses", Effect.WRITE, Runs.THREAD, "With parentheses"),
        (Notes("n/").read, "notes.read", Effect.READ, Runs.THREAD, "Read a note."),
        (Notes("n/").plain, "plain", Effect.WRITE, Runs.THREAD, "Plain"),
        (Notes.static, "notes.static", Effect.WRITE, Runs.THREAD, "Notes static"),
        (Notes.of_class, "notes.class", Effect.WRITE, Runs.THREAD, "Notes class"),
        (Counter(), "counter.next", Effect.WRITE, Runs.THREAD, "Count on."),
        (functools.partial(bare, b=3), "bare", Effect.WRITE, Runs.THREAD, "Add."),
        (Adapter(), "full.adapter", Effect.WRITE, Runs.ASYNC, "By hand."),
    ],
)
def test_what_can_be_a_tool(source: object, name: str, effect: Effect, runs: Runs, description: str) -> None:
    made = tool_of(source)
    assert (made.name, made.spec.effect, made.runs, made.spec.description) == (name, effect, runs, description)


def test_unmarked_is_a_write_and_tags_say_what_it_is() -> None:
    def plain() -> None: ...

    assert tool_of(plain).spec.tags == {"code", "write"}
    assert tool_of(plain).spec.lane is Lane.WRITE
    assert tool_of(bare_read).spec.tags == {"code", "readonly"}


def test_a_ready_tool_passes_as_it_is() -> None:
    ready = tool_of(bare)
    assert tool_of(ready) is ready


def test_methods_partials_and_objects_are_called_as_they_are(call: Call) -> None:
    assert call(Notes("n/").read, title="a") == "n/a"
    assert call(Notes.of_class, a=1) == "Notes1"
    assert call(functools.partial(bare, b=5), a=1) == 6
    assert call(Counter(), step=4) == 4


def test_a_wrapped_function_keeps_its_signature(call: Call) -> None:
    def twice(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) * 2

        return wrapper

    @tool
    @twice
    def example(a: int) -> int:
        return a

    assert list(tool_of(example).spec.input_schema["properties"]) == ["a"]  # type: ignore[call-overload]
    assert call(example, a=2) == 4


def test_an_adapter_declares_its_targets() -> None:
    assert tool_of(Adapter()).targets({}) == [Target(TargetKind.PATH, "/x")]


def targets(arguments: Arguments) -> Sequence[Target]:
    return [Target(TargetKind.PATH, str(arguments["path"]))]


def test_every_option_reaches_the_tool() -> None:
    @tool(
        name="files.write",
        title="Write",
        description="Write a file.",
        help="All about it.",
        tags={"filesystem", "dangerous"},
        category="FileSystem",
        aliases=["save"],
        capabilities={"disk"},
        exposure="manual",
        timeout=3,
        output_schema={"type": "integer"},
        read_form={"required": ["dry"]},
        targets=targets,
        transactional=True,
        needs_approval=lambda arguments: arguments["path"] == "/",
        metadata={"owner": "me"},
    )
    def write(path: str, dry: bool = False) -> int: ...

    made = tool_of(write)
    assert made.spec == ToolSpec(
        name="files.write",
        description="Write a file.",
        input_schema=made.spec.input_schema,
        title="Write",
        help="All about it.",
        output_schema={"type": "integer"},
        tags=frozenset({"filesystem", "dangerous", "code", "write"}),
        category="FileSystem",
        capabilities=frozenset({"disk"}),
        aliases=("save",),
        exposure=Exposure.MANUAL,
        timeout=3,
        read_form={"required": ["dry"]},
        source=Source("python", __name__),
    )
    assert made.spec.metadata == {"owner": "me"}
    assert made.transactional
    assert made.needs_approval is not None
    assert [made.needs_approval({"path": path}) for path in ("/", "/a")] == [True, False]
    assert made.targets({"path": "/a"}) == [Target(TargetKind.PATH, "/a")]


def test_approval_can_be_asked_for_always_or_never() -> None:
    always, never = (tool_of(tool(needs_approval=answer)(lambda_of())) for answer in (True, False))
    assert always.needs_approval is not None
    assert always.needs_approval({})
    assert never.needs_approval is None


def lambda_of() -> Callable[..., object]:
    def example() -> None: ...

    return example


def test_an_own_input_schema_gives_plain_json_and_may_take_any_keyword(call: Call) -> None:
    schema = {"type": "object", "properties": {"when": {"type": "string"}}, "required": ["when"]}

    @tool(input_schema=schema)
    def example(context: ToolContext, **arguments: Any) -> object:
        return context.name, arguments

    assert tool_of(example).spec.input_schema == schema
    assert call(example, when="now", more=1) == ("example", {"when": "now", "more": 1})

    with pytest.raises(Refusal, match="context: unknown field"):
        call(example, when="now", context=1)

    @tool(input_schema=schema)
    def closed(when: str) -> str:
        return when

    assert call(closed, when="now") == "now"
    with pytest.raises(Refusal, match="wen: unknown field; did you mean 'when'"):
        call(closed, when="now", wen=1)

    @tool(input_schema=schema)
    def other(then: str) -> None: ...

    with pytest.raises(RegistrationError, match="input_schema has when"):
        tool_of(other)


def test_a_cached_function_keeps_its_signature(call: Call) -> None:
    @functools.cache
    def example(a: int) -> int:
        return a

    assert call(tool(name="cached")(example), a=2) == 2


class TestRefusals:
    def test_one_parameter_takes_the_context(self) -> None:
        def example(one: ToolContext, two: ToolContext) -> None: ...

        with pytest.raises(RegistrationError, match="'one' already takes the ToolContext"):
            tool_of(example)

    @pytest.mark.parametrize("source", [1, "add", None, int, Notes, staticmethod(bare), object(), [], {"name": "x"}])
    def test_what_cannot_be_a_tool_says_what_can(self, source: object) -> None:
        with pytest.raises(RegistrationError, match="give a function"):
            tool_of(source)

    @pytest.mark.parametrize("source", [print, operator.add, len, "".join])
    def test_built_in_functions_need_a_wrapper(self, source: object) -> None:
        with pytest.raises(RegistrationError, match=r"wrap it|position"):
            tool_of(source)

    def test_a_method_must_be_bound(self) -> None:
        with pytest.raises(RegistrationError, match=r"Notes\.plain is a method of a class"):
            tool_of(Notes.plain)

    def test_a_generator_is_no_tool(self) -> None:
        def example() -> Any:
            yield 1

        async def other() -> Any:
            yield 1

        for source in (example, other):
            with pytest.raises(RegistrationError, match="generator"):
                tool_of(source)

    def test_the_function_name_must_be_canonical(self) -> None:
        def _private() -> None: ...

        for source in (_private, lambda: None):
            with pytest.raises(InvalidName):
                tool_of(source)

    def test_an_unknown_option_names_the_nearest(self) -> None:
        options: Any = {"tag": {"x"}}
        with pytest.raises(RegistrationError, match="unknown option 'tag'; did you mean 'tags'"):
            tool(**options)

    def test_an_empty_name_is_not_taken_for_none(self) -> None:
        with pytest.raises(RegistrationError, match="cannot be empty"):
            tool(name="")

    @pytest.mark.parametrize("option", ["tags", "aliases", "capabilities"])
    def test_words_are_not_letters(self, option: str) -> None:
        options: Any = {option: "notes"}
        with pytest.raises(RegistrationError, match="collection of words"):
            tool(**options)

    def test_an_unknown_exposure_is_refused(self) -> None:
        options: Any = {"exposure": "all"}
        with pytest.raises(RegistrationError, match="exposure must be model, manual or both"):
            tool(**options)


class TestIsolation:
    def test_a_top_level_function_has_an_entry(self) -> None:
        made = tool_of(tool(isolate="process")(isolated))
        assert (made.runs, made.entry) == (Runs.PROCESS, f"{__name__}:isolated")

    def test_whatever_another_process_cannot_import_is_refused(self) -> None:
        def inner(a: int) -> int:
            return a

        options: Options = {"isolate": "process"}
        for source in (inner, with_context):
            with pytest.raises(RegistrationError, match="top level"):
                tool_of(tool(**options)(source))

    def test_isolation_is_by_process_only(self) -> None:
        options: Any = {"isolate": "thread"}
        with pytest.raises(RegistrationError, match="isolate must be 'process'"):
            tool_of(tool(**options)(isolated))


def isolated(a: int) -> int:
    return a


def with_context(context: ToolContext, a: int) -> int:
    return a


SOURCE = '''
from toolcrib.catalog.decorate import tool, tool_of

@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b{change}

print(tool_of(add).fingerprint)
'''


def fingerprint_of(place: Path, source: str) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(source)
    done = subprocess.run([sys.executable, str(place)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_fingerprint_depends_on_the_source_not_on_its_place(tmp_path: Path) -> None:
    here = fingerprint_of(tmp_path / "one" / "tools.py", SOURCE.format(change=""))
    moved = fingerprint_of(tmp_path / "two" / "other.py", "\n\n# moved\n" + SOURCE.format(change=""))
    changed = fingerprint_of(tmp_path / "one" / "tools.py", SOURCE.format(change=" + 1"))
    assert here == moved
    assert here != changed


def test_indentation_does_not_change_a_fingerprint(tmp_path: Path) -> None:
    nested = "if True:\n" + textwrap.indent(SOURCE.format(change=""), "    ")
    assert fingerprint_of(tmp_path / "a.py", nested) == fingerprint_of(tmp_path / "b.py", SOURCE.format(change=""))


def made_by(text: str) -> Tool:
    names: dict[str, Any] = {"__name__": "made"}
    exec(compile(text, "nowhere.py", "exec"), names)
    return tool_of(names["example"])


def test_a_function_without_source_is_told_apart_by_its_code() -> None:
    one = made_by("def example(a: int): return [x + 1 for x in range(a)]")
    same = made_by("\n\ndef example(a: int): return [x + 1 for x in range(a)]")
    other = made_by("def example(a: int): return [x + 2 for x in range(a)]")
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != other.fingerprint
