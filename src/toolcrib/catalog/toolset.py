"""Toolsets: tools of one origin with guidance, combined by an algebra on immutable data."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, Unpack, overload

from toolcrib.catalog.decorate import Options, marked, marking_of, tool_of
from toolcrib.catalog.registry import stamped
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import InvalidName, RegistrationError
from toolcrib.values.spec import Effect
from toolcrib.values.tool import Tool

F = TypeVar("F", bound=Callable[..., object])


@frozen
class Toolset:
    """Tools that belong together. Every operation gives a new toolset and leaves this one alone."""

    name: str
    tools: tuple[Tool, ...] = ()
    guidance: str = ""

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise InvalidName(f"toolset {self.name!r} has two tools named {', '.join(twice)}")

    @classmethod
    def of(cls, name: str, tools: Iterable[object], guidance: str = "") -> Toolset:
        """A toolset of functions, methods, adapters or tools."""
        return cls(name, tuple(tool_of(each) for each in tools), guidance)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools)

    def only(self, names: Iterable[str]) -> Toolset:
        """Just these tools, in the order of the toolset."""
        kept = self._known(names)
        return replace(self, tools=tuple(tool for tool in self.tools if tool.name in kept))

    def without(self, names: Iterable[str]) -> Toolset:
        """All tools but these."""
        dropped = self._known(names)
        return replace(self, tools=tuple(tool for tool in self.tools if tool.name not in dropped))

    def prefixed(self, prefix: str) -> Toolset:
        """Every name below a prefix: `read` becomes `notes.read`."""
        return self.renamed({name: f"{prefix}.{name}" for name in self.names})

    def renamed(self, names: Mapping[str, str]) -> Toolset:
        """Some tools under other names."""
        self._known(names)
        return replace(self, tools=tuple(_renamed(tool, names.get(tool.name, tool.name)) for tool in self.tools))

    def tagged(self, tags: Iterable[str]) -> Toolset:
        """Every tool with these tags added."""
        more = frozenset(tags)
        return replace(self, tools=tuple(stamped(tool, tags=more) for tool in self.tools))

    def _known(self, names: Iterable[str]) -> frozenset[str]:
        wanted = frozenset(names)
        if unknown := sorted(wanted.difference(self.names)):
            close = difflib.get_close_matches(unknown[0], self.names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise RegistrationError(f"toolset {self.name!r} has no tool named {unknown[0]!r}{hint}")
        return wanted


class ToolsetBuilder:
    """Collects the functions of one toolset; a function `read` becomes the tool `toolset.read`."""

    def __init__(self, name: str, *, guidance: str = "") -> None:
        self.name = name
        self.guidance = guidance
        self._tools: list[Tool] = []

    @overload
    def read(self, function: F, /) -> F: ...
    @overload
    def read(self, /, **options: Unpack[Options]) -> Callable[[F], F]: ...
    def read(self, function: F | None = None, /, **options: Unpack[Options]) -> F | Callable[[F], F]:
        """Add a function that changes nothing outside."""
        add = self._adding(Effect.READ, options)
        return add if function is None else add(function)

    @overload
    def write(self, function: F, /) -> F: ...
    @overload
    def write(self, /, **options: Unpack[Options]) -> Callable[[F], F]: ...
    def write(self, function: F | None = None, /, **options: Unpack[Options]) -> F | Callable[[F], F]:
        """Add a function that may change something outside."""
        add = self._adding(Effect.WRITE, options)
        return add if function is None else add(function)

    def build(self) -> Toolset:
        return Toolset(self.name, tuple(self._tools), self.guidance)

    def _adding(self, effect: Effect, options: Options) -> Callable[[F], F]:
        def add(function: F) -> F:
            name = options.get("name") or f"{self.name}.{function.__name__}"
            self._tools.append(tool_of(marked(function, replace(marking_of(effect, options), name=name))))
            return function

        return add


def _renamed(tool: Tool, name: str) -> Tool:
    return tool if name == tool.name else replace(tool, spec=replace(tool.spec, name=name))
