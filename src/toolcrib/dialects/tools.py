"""The tools a text may call: names and argument schemas, from tool specs or OpenAI function dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

from toolcrib.dialects.coerce import TEXT, member, types_of
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
    """What a schema says of one argument; `is_text` when it is a string and nothing else."""

    schema: Schema
    types: frozenset[str]
    is_text: bool


class Members(dict[str, Member]):
    """What a tool's schema says of its arguments, found out when an argument is first asked for."""

    __slots__ = ("_schema",)

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self._schema = schema

    def __missing__(self, key: str) -> Member:
        schema = member(self._schema, key, self._schema)
        types = types_of(schema, self._schema)
        made = self[key] = Member(schema, types, types == TEXT)
        return made


class ToolTable:
    """Argument schemas by tool name. `known` is None when the caller gave no tools at all: then any name will do."""

    __slots__ = ("_members", "_schemas", "known")

    def __init__(self, tools: Iterable[AnyTool] | None) -> None:
        self._schemas = {} if tools is None else dict(map(_entry, tools))
        self._members: dict[str, Members] = {}
        self.known: frozenset[str] | None = None if tools is None else frozenset(self._schemas)

    def knows(self, name: str) -> bool:
        return self.known is None or name in self.known

    def members(self, name: str) -> Members:
        """The arguments of a tool by name, with the types they allow."""
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = Members(self.schema(name))
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
