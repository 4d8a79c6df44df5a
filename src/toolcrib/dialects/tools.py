"""The tools a text may call: names and argument schemas, from tool specs or OpenAI function dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

from toolcrib.dialects.coerce import member, types_of
from toolcrib.dialects.parsed import Schema


@runtime_checkable
class Described(Protocol):
    """Anything with a name and a JSON Schema of its arguments."""

    @property
    def name(self) -> str: ...
    @property
    def input_schema(self) -> Mapping[str, object]: ...


AnyTool: TypeAlias = "Described | Mapping[str, object]"


class Member(NamedTuple):
    """What a schema says of one argument."""

    schema: Schema
    types: frozenset[str]


class ToolTable:
    """Argument schemas by tool name. `known` is None when the caller gave no tools at all: then any name will do."""

    __slots__ = ("_members", "_schemas", "known")

    def __init__(self, tools: Iterable[AnyTool] | None) -> None:
        self._schemas = {} if tools is None else dict(map(_entry, tools))
        self._members: dict[tuple[str, str], Member] = {}
        self.known: frozenset[str] | None = None if tools is None else frozenset(self._schemas)

    def knows(self, name: str) -> bool:
        return self.known is None or name in self.known

    def member(self, name: str, key: str) -> Member:
        """The schema of one argument of a tool, and the types it allows."""
        found = self._members.get((name, key))
        if found is None:
            schema = self.schema(name)
            inner = member(schema, key, schema)
            found = self._members[name, key] = Member(inner, types_of(inner, schema))
        return found

    def schema(self, name: str) -> Schema:
        return self._schemas.get(name, {})


_NOTHING: Schema = {}


def _entry(tool: AnyTool) -> tuple[str, Schema]:
    if isinstance(tool, Mapping):
        function = cast("Mapping[str, object]", tool.get("function", tool))
        schema = function.get("parameters") or function.get("input_schema") or function.get("inputSchema")
        return str(function["name"]), cast("Schema", schema or _NOTHING)
    return tool.name, tool.input_schema
