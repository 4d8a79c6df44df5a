"""Elements inside elements behind one prefix: objects and arrays are trees of tags, leaves are text."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import NamedTuple, TypeAlias

from toolcrib.dialects.coerce import TEXT, fit, items, member, types_of
from toolcrib.dialects.formats.spec import Nested
from toolcrib.dialects.parsed import ParsedCall, Schema
from toolcrib.dialects.reader import Block, Reader, Take
from toolcrib.dialects.source import Source, read_to
from toolcrib.dialects.tools import Members
from toolcrib.values.json import Json

_DEPTH = 100
_NAME = re.compile(r"\s*[\"']?(?P<name>[^\"'>]+?)[\"']?\s*>")


@dataclass(slots=True)
class Element:
    """A tag, where its text stands (counted from the mark), and the elements in it."""

    name: str
    start: int
    end: int = 0
    children: list[Element] = field(default_factory=list["Element"])


def read(reader: Reader, spec: Nested) -> Block:
    source = reader.source
    start = source.since_mark()
    if not (yield from read_to(source, ">")):
        return False
    head = _NAME.fullmatch(source.text()[start:])
    if head is None or not reader.accepts(head["name"]):
        return False
    call = Element(spec.element, source.since_mark())
    deepest = yield from _read_elements(reader, spec, call)
    if deepest > _DEPTH:
        reader.enter_malformed(head["name"])
        return True
    if deepest:
        reader.enter(head["name"], _arguments(reader, spec, head["name"], call, *source.view()))
        return True
    if not source.closed:
        return False
    reader.enter_incomplete(head["name"])
    return True


def head(spec: Nested) -> str:
    """The name and the end of the tag; `spec` does not matter."""
    return _NAME.pattern


@lru_cache(maxsize=8)
def taking(spec: Nested) -> Take:
    """What takes a call of a known tool, every tag closed."""
    tags = _tags(spec)

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        name, tools = head["name"], reader.tools
        if tools.known is None or name not in tools.known:
            return None
        pos = head.end()
        flat = _take_flat(reader.source, spec, pos, tools.members(name), tags.step)
        arguments = _take_tree(reader, spec, name, pos, tags.all) if flat is None else flat
        return ParsedCall(intern(name), arguments) if arguments is not None else None

    return take


def _take_flat(source: Source, spec: Nested, pos: int, members: Members, step: _Step) -> dict[str, Json] | None:
    """The arguments of a call none of whose elements holds another."""
    window, prefix = source.window, spec.prefix
    arguments: dict[str, Json] = {}
    while (tag := step(window, pos)) is not None:
        key, start = tag[1], tag.end()
        if key is None:
            source.pos = start
            return arguments
        end, close = window.find(prefix, start), f"{prefix}</{key}>"
        if not window.startswith(close, end):
            return None
        value, member = window[start:end], members[key]
        arguments[intern(key)] = value if member.is_text else _leaf(value, member.types)
        pos = end + len(close)
    return None


def _take_tree(reader: Reader, spec: Nested, name: str, pos: int, tags: _Every) -> dict[str, Json] | None:
    """The arguments of a call with elements in elements."""
    window, call = reader.source.window, Element(spec.element, pos)
    stack = [call]
    for tag in tags(window, pos):
        closes, word = tag.groups()
        if closes and stack[-1].name != word:
            return None
        if closes:
            stack.pop().end = tag.start()
        else:
            stack.append(Element(word, tag.end()))
            stack[-2].children.append(stack[-1])
        if not stack:
            reader.source.pos = tag.end()
            return _arguments(reader, spec, name, call, window, 0)
        if len(stack) > _DEPTH:
            break
    return None


_Step: TypeAlias = "Callable[[str, int], re.Match[str] | None]"
_Every: TypeAlias = "Callable[[str, int], Iterator[re.Match[str]]]"


class _Tags(NamedTuple):
    """Every tag; and a step to the value of the next element, or behind the call."""

    all: _Every
    step: _Step


@lru_cache(maxsize=8)
def _tags(spec: Nested) -> _Tags:
    tag = re.escape(spec.prefix) + "<"
    step = rf"\s*{tag}(?:([^<>/]+)>|/{re.escape(spec.element)}>)"
    return _Tags(re.compile(rf"{tag}(/?)([^>]*)>").finditer, re.compile(step).match)


def _arguments(reader: Reader, spec: Nested, name: str, call: Element, text: str, mark: int) -> dict[str, Json]:
    members, tree = reader.tools.members(name), _Tree(text, mark, reader.tools.schema(name), spec)
    arguments: dict[str, Json] = {}
    for child in call.children:
        schema, types, _ = members[child.name]
        arguments[child.name] = tree.value(child, schema, types)
    return arguments


def _read_elements(reader: Reader, spec: Nested, call: Element) -> Generator[None, None, int]:
    """Read tags until the call is closed; return how deeply they were nested, 0 when it never was."""
    source = reader.source
    stack = [call]
    deepest = 1
    tag = spec.prefix + "<"
    while True:
        if not (yield from read_to(source, tag)):
            return 0
        end = source.since_mark() - len(tag)
        start = source.since_mark()
        if not (yield from read_to(source, ">")):
            return 0
        name = _last(reader, start)
        if not name.startswith("/"):
            child = Element(name, source.since_mark())
            stack[-1].children.append(child)
            stack.append(child)
            deepest = max(deepest, len(stack))
            continue
        while stack and stack[-1].name != name[1:]:
            stack.pop().end = end
        if not stack:
            return 0
        stack.pop().end = end
        if not stack:
            return deepest


def _last(reader: Reader, start: int) -> str:
    """The tag just read. Asking for the whole text at every tag would be quadratic, so look in the window first."""
    size = reader.source.since_mark() - start
    source = reader.source
    if size <= source.pos:
        return source.window[source.pos - size : source.pos - 1]
    return source.text()[start:-1]


class _Tree(NamedTuple):
    """Elements with the text they stand in and the schema that types them."""

    text: str
    mark: int
    root: Schema
    spec: Nested

    def value(self, element: Element, schema: Schema, types: frozenset[str]) -> Json:
        children = element.children
        if children and all(child.name == self.spec.item for child in children) and "object" not in types:
            return [self._typed(child, items(schema, self.root)) for child in children]
        if children:
            return {child.name: self._typed(child, member(schema, child.name, self.root)) for child in children}
        return _leaf(self.text[self.mark + element.start : self.mark + element.end], types)

    def _typed(self, element: Element, schema: Schema) -> Json:
        return self.value(element, schema, types_of(schema, self.root))


def _leaf(raw: str, types: frozenset[str]) -> Json:
    if (not raw or raw.isspace()) and "string" not in types and types & {"array", "object"}:
        return [] if "array" in types else {}
    return fit(raw, types or TEXT)
