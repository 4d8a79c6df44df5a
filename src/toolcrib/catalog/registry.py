"""The registry: tools come in all or nothing, snapshots go out and never change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Set, ValuesView
from dataclasses import replace
from types import MappingProxyType
from weakref import WeakKeyDictionary

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.signature import DerivedSchema
from toolcrib.catalog.uncollected import uncollected
from toolcrib.catalog.validate import Validator, check_definition, check_input_schema
from toolcrib.values.json import JsonError, JsonObject, check_json
from toolcrib.values.name import ENVELOPES
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import InvalidName, RegistrationError, SchemaError, ToolcribError
from toolcrib.values.schema import Profile, holds_scalars
from toolcrib.values.spec import NOTHING, Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Tool

REMEMBERED_CHANGES = 64
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,63}")
_EFFECT_TAG = {Effect.READ: "readonly", Effect.WRITE: "write"}


@frozen
class Snapshot:
    """The tools of one moment, in the order they were added."""

    tools: Mapping[str, Tool]
    generation: int
    changes: tuple[frozenset[str], ...] = ()
    """The names that each of the last few generations added, replaced or removed."""

    def changed_since(self, older: Snapshot) -> frozenset[str] | None:
        """Names that were added, replaced or removed since; None when that is too long ago to tell."""
        steps = self.generation - older.generation
        if not 0 <= steps <= len(self.changes):
            return None
        return frozenset[str]().union(*self.changes[len(self.changes) - steps :])

    def items(self) -> ItemsView[str, Tool]:
        return self.tools.items()

    def values(self) -> ValuesView[Tool]:
        return self.tools.values()

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)

    def __getitem__(self, name: str) -> Tool:
        return self.tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tools

    def __iter__(self) -> Iterator[str]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)


@frozen
class Checks:
    """The compiled schemas of one tool."""

    arguments: Validator
    output: Validator | None
    read_form: Validator | None
    scalar: bool
    """Whether the arguments are words, numbers and truth values alone: a copy of their object is a whole copy."""


class Registry:
    """Holds what exists. It knows nothing of who may use it."""

    def __init__(self, profile: Profile = Profile.FULL) -> None:
        self.profile = profile
        self.snapshot = Snapshot(MappingProxyType({}), 0)
        self.absence: Callable[[str], str | None] = _no_absence
        """Why a tool that a source should have is not there now, as far as a source knows."""
        self._tools: dict[str, Tool] = {}
        self._spellings: dict[str, str] = {}
        self._checks: WeakKeyDictionary[Tool, Checks] = WeakKeyDictionary()

    def add(self, tools: Iterable[object]) -> Snapshot:
        """Add all of these or none; everything that is wrong is said in one error."""
        added: dict[str, Tool] = {}
        spellings: dict[str, str] = {}
        problems: list[ToolcribError] = []
        with uncollected():
            for source in tools:
                try:
                    tool = self.admitted(source)
                    self._refuse_twin(tool.name, spellings)
                    added[tool.name] = tool
                    spellings[tool.name.lower()] = tool.name
                except ToolcribError as error:
                    problems.append(error)
        if problems:
            raise _together(problems)
        self._spellings |= spellings
        tools = self._tools.copy()
        tools.update(added)
        return self._publish(tools, frozenset(added))

    def exchange(self, own: Set[str], gone: Iterable[str], admitted: Mapping[str, Tool]) -> dict[str, str]:
        """Take these names out and put these admitted tools in, in one change, for a source whose own names are those.

        A tool whose name somebody else has is left out; returned are the names of such, with reasons.
        """
        fresh = self._tools.copy()
        changed, refused = set[str](), dict[str, str]()
        for name in gone:
            if fresh.pop(name, None) is not None:
                del self._spellings[name.lower()]
                changed.add(name)
        for name in admitted:
            spelling = name.lower()
            if (spelling in self._spellings or spelling in ENVELOPES) and name not in own:
                try:
                    self._refuse_twin(name, {})
                except InvalidName as error:
                    refused[name] = str(error)
                    continue
            self._spellings[spelling] = name
            changed.add(name)
        fresh.update({name: tool for name, tool in admitted.items() if name not in refused} if refused else admitted)
        if changed:
            self._publish(fresh, frozenset(changed))
        return refused

    def replace(self, tool: object) -> Snapshot:
        """Put a new definition in the place of the one with the same name."""
        fresh = self.admitted(tool)
        self._require(fresh.name)
        tools = self._tools.copy()
        tools[fresh.name] = fresh
        return self._publish(tools, frozenset({fresh.name}))

    def remove(self, name: str) -> Snapshot:
        self._require(name)
        tools = self._tools.copy()
        del tools[name], self._spellings[name.lower()]
        return self._publish(tools, frozenset({name}))

    def touch(self, names: Iterable[str]) -> Snapshot:
        """Publish these again as they are: what is known about them changed, so whoever follows looks again."""
        return self._publish(self._tools, frozenset(names))

    def checks(self, tool: Tool) -> Checks:
        """The tool's compiled schemas, made at first use."""
        found = self._checks.get(tool)
        if found is None:
            spec = tool.spec
            found = self._checks[tool] = Checks(
                Validator(spec.input_schema),
                _validator(spec.output_schema),
                _validator(spec.read_form),
                holds_scalars(spec.input_schema),
            )
        return found

    def admitted(self, source: object) -> Tool:
        """The tool as it would be registered; an error when it cannot be."""
        tool = in_step(tool_of(source))
        try:
            self._check_schemas(tool.spec)
        except SchemaError as error:
            raise SchemaError(f"{tool.name}: {error}") from error
        return tool

    def _check_schemas(self, spec: ToolSpec) -> None:
        if not self._is_sound(spec.input_schema):
            check_input_schema(spec.input_schema, self.profile)
        for name, schema in (("output schema", spec.output_schema), ("read form", spec.read_form)):
            if schema is not None and not self._is_sound(schema):
                try:
                    check_definition(schema, self.profile)
                except SchemaError as error:
                    raise SchemaError(f"{name}: {error}") from error

    def _is_sound(self, schema: JsonObject) -> bool:
        return type(schema) is DerivedSchema and self.profile is Profile.FULL

    def _refuse_twin(self, name: str, added: Mapping[str, str]) -> None:
        """Names that differ in case only would be one name to some providers."""
        spelling = name.lower()
        if spelling in ENVELOPES:
            raise InvalidName(f"{name!r} is the envelope in which any tool can be called; choose another name")
        twin = self._spellings.get(spelling) or added.get(spelling)
        if twin == name:
            raise InvalidName(f"a tool named {name!r} is already registered; choose another name, or replace it")
        if twin is not None:
            raise InvalidName(f"{name!r} and {twin!r} differ only in case; choose a name that differs in letters")

    def _require(self, name: str) -> None:
        if name not in self.snapshot:
            close = difflib.get_close_matches(name, self.snapshot, n=1)
            raise InvalidName(f"no tool is named {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))

    def _publish(self, tools: dict[str, Tool], changed: frozenset[str]) -> Snapshot:
        """Make the next snapshot; it remembers the last few changes, so that whoever follows need not start anew."""
        self._tools = tools
        changes = (*self.snapshot.changes[1 - REMEMBERED_CHANGES :], changed)
        self.snapshot = Snapshot(MappingProxyType(tools), self.snapshot.generation + 1, changes)
        return self.snapshot


def _no_absence(name: str) -> str | None:
    return None


def stamped(
    tool: Tool,
    *,
    source: Source | None = None,
    tool_type: ToolType | None = None,
    tags: Iterable[str] = (),
) -> Tool:
    """The tool with the marks of the source it came through."""
    spec = replace(
        tool.spec,
        source=source or tool.spec.source,
        tool_type=tool_type or tool.spec.tool_type,
        tags=tool.spec.tags | frozenset(tags),
    )
    return replace(tool, spec=spec)


def in_step(tool: Tool) -> Tool:
    """The tool with the tag of its effect; a tag that contradicts the effect is an error."""
    spec = tool.spec
    if {"readonly", "write"} <= spec.tags:
        raise RegistrationError(f"{spec.name} is tagged both readonly and write; keep the one that is true")
    tag = _EFFECT_TAG[spec.effect]
    if tag not in spec.tags:
        if not spec.tags.isdisjoint(_EFFECT_TAG.values()):
            wrong = "write" if spec.effect is Effect.READ else "readonly"
            raise RegistrationError(f"{spec.name} is tagged {wrong} but its effect is {spec.effect}; set the effect")
        tool = replace(tool, spec=replace(spec, tags=spec.tags | {tag}))
    _check_words(spec)
    return tool


def _check_words(spec: ToolSpec) -> None:
    for tag in spec.tags:
        if not _TAG.fullmatch(tag):
            raise RegistrationError(f"{spec.name}: {tag!r} is not a tag; use a short ASCII word such as 'notes'")
    if len(spec.category) > 64 or not spec.category.isprintable():
        raise RegistrationError(f"{spec.name}: the category must be one line of at most 64 characters")
    if spec.metadata is NOTHING and spec.annotations is NOTHING:
        return
    try:
        check_json([spec.metadata, spec.annotations])
    except JsonError as error:
        raise RegistrationError(f"{spec.name}: metadata must be JSON: {error}") from error


def _validator(schema: JsonObject | None) -> Validator | None:
    return None if schema is None else Validator(schema)


def _together(problems: list[ToolcribError]) -> ToolcribError:
    if len(problems) == 1:
        return problems[0]
    lines = "\n".join(f"- {problem}" for problem in problems)
    return RegistrationError(f"{len(problems)} tools cannot be registered, so none was:\n{lines}")
