"""Elements inside elements behind one prefix: objects and arrays are trees of tags, leaves are text."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from toolcrib.dialects.coerce import fit, items, member, types_of
from toolcrib.dialects.formats.spec import Nested
from toolcrib.dialects.parsed import Schema
from toolcrib.dialects.reader import Block, Reader
from toolcrib.dialects.source import read_to
from toolcrib.values.json import Json

_DEPTH = 100
_TEXT = frozenset({"string"})
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
        _enter(reader, spec, head["name"], call)
        return True
    if not source.closed:
        return False
    reader.enter_incomplete(head["name"])
    return True


def enter_whole(reader: Reader, spec: Nested) -> bool:
    """Enter a call of a known tool that stands whole in the window, every tag closed; False enters nothing."""
    source = reader.source
    window, offset = source.window, source.since_mark() - source.pos
    head = _NAME.match(window, source.pos)
    if head is None or reader.tools.known is None or head["name"] not in reader.tools.known:
        return False
    call = Element(spec.element, offset + head.end())
    stack = [call]
    for tag in _tags(spec)(window, head.end()):
        closes, name = tag.groups()
        if closes and stack[-1].name != name:
            return False
        if closes:
            stack.pop().end = offset + tag.start()
        else:
            stack.append(Element(name, offset + tag.end()))
            stack[-2].children.append(stack[-1])
        if not stack or len(stack) > _DEPTH:
            source.pos = tag.end()
            break
    if stack:
        return False
    _enter(reader, spec, head["name"], call)
    return True


@lru_cache(maxsize=8)
def _tags(spec: Nested) -> Callable[[str, int], Iterator[re.Match[str]]]:
    return re.compile(rf"{re.escape(spec.prefix)}<(/?)([^>]*)>").finditer


def _enter(reader: Reader, spec: Nested, name: str, call: Element) -> None:
    schema = reader.tools.schema(name)
    tree = _Tree(*reader.source.view(), schema, spec)
    arguments: dict[str, Json] = {}
    for child in call.children:
        arguments[child.name] = tree.value(child, *reader.tools.member(name, child.name))
    reader.enter(name, arguments)


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
        raw = self.text[self.mark + element.start : self.mark + element.end]
        if (not raw or raw.isspace()) and "string" not in types and types & {"array", "object"}:
            return [] if "array" in types else {}
        return fit(raw, types or _TEXT)

    def _typed(self, element: Element, schema: Schema) -> Json:
        return self.value(element, schema, types_of(schema, self.root))
