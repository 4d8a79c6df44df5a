"""One streaming reader per family of wire formats, loaded when the first text needs it.

What tells formats of a family apart is data, kept elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from toolcrib.dialects.formats.spec import Channels, Format, Header, Invoked, JsonBlock, Nested, Tagged

if TYPE_CHECKING:
    from toolcrib.dialects.reader import Block, Reader


class Family(Protocol):
    """What the module of every family has: `enter_whole` reads a call that stands whole in the window, or nothing."""

    def read(self, reader: Reader, spec: Format) -> Block: ...
    def enter_whole(self, reader: Reader, spec: Format) -> bool: ...


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
