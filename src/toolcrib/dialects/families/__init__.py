"""One streaming reader per family of wire formats, loaded when the first text needs it.

What tells formats of a family apart is data, kept elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from toolcrib.dialects.formats.spec import Channels, Format, Header, Invoked, JsonBlock, Nested, Tagged

if TYPE_CHECKING:
    from toolcrib.dialects.reader import Block, Reader, Take


class Family(Protocol):
    """What the module of every family has: how its formats are read, and how a call to the letter is taken at once."""

    def read(self, reader: Reader, spec: Format) -> Block: ...
    def head(self, spec: Format) -> str: ...
    def taking(self, spec: Format) -> Take: ...


_MODULES: dict[type[Format], str] = {
    JsonBlock: "json_block",
    Header: "header",
    Tagged: "tagged",
    Nested: "nested",
    Invoked: "invoked",
    Channels: "channels",
}


@cache
def family(kind: type[Format]) -> Family:
    """The reader of formats of this kind."""
    return cast("Family", import_module(f"{__name__}.{_MODULES[kind]}"))
