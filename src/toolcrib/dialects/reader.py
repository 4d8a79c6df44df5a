"""What all families share while one text is read: the source, the ledger, the tools, and how a call is entered."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from enum import Enum
from sys import intern
from typing import TypeAlias

from toolcrib.dialects.formats.spec import Format, Shape
from toolcrib.dialects.grammar import Grammar
from toolcrib.dialects.jsontext import JsonText
from toolcrib.dialects.ledger import Ledger
from toolcrib.dialects.parsed import Kind, ParsedCall, Status
from toolcrib.dialects.source import Source
from toolcrib.dialects.tools import ToolTable
from toolcrib.values.json import Json

_ALLOWANCE, _AGAIN = 200_000, 4
Block = Generator[None, None, bool]
Take: TypeAlias = "Callable[[Reader, re.Match[str]], ParsedCall | None]"
"""Reads the call whose head was matched if all of it stands in the window as its format writes it; or goes anywhere."""


class Code(Enum):
    """What call markup inside code fences and inline code is."""

    CONTENT = "content"
    CALLS = "calls"


class Reader:
    """One text being read. A family's reading returns False when what it saw is no call after all."""

    __slots__ = (
        "_entered",
        "code",
        "format",
        "grammar",
        "in_fence",
        "json",
        "ledger",
        "open_wraps",
        "opened",
        "own",
        "plain",
        "source",
        "spent",
        "tools",
        "wasted",
    )

    def __init__(self, grammar: Grammar, tools: ToolTable, code: Code) -> None:
        self.grammar = grammar
        self.tools = tools
        self.code = code
        self.source = Source()
        self.ledger = Ledger()
        self.json = JsonText(self.source)
        self.open_wraps: set[str] = set()
        self.in_fence = False  # whether a call was read behind a fence whose end is still to come
        self.opened = 0  # where the opening of the call being read stands
        self.spent = 0  # characters read more than once
        self.wasted = 0  # characters looked at in vain for calls in a row
        self.format: Format | None = None
        self.own = True
        self._entered: Format | None = None
        self.plain = 0  # characters from the opening on that were read as a whole and are no call

    def accepts(self, name: str) -> bool:
        """Whether a call to `name` counts: any name in a dialect that was asked for, else only tools that exist."""
        if self.tools.known is not None and name in self.tools.known:
            return True
        anyone = self.tools.known is None or (self.own and not self.grammar.detecting)
        return anyone and _SPELLABLE.fullmatch(name) is not None

    def enter(self, name: str, arguments: dict[str, Json], id: str | None = None, *, repaired: bool = False) -> None:
        """Enter a complete call and keep nothing of its text."""
        self.enter_call(ParsedCall(intern(name), arguments, id, Status.COMPLETE, repaired))

    def enter_incomplete(self, name: str, id: str | None = None) -> None:
        self.enter_call(ParsedCall(name, {}, id, Status.INCOMPLETE))
        self.note("incomplete_call", f"the text ends inside a call of {name}")

    def enter_malformed(self, name: str, id: str | None = None) -> None:
        self.enter_call(ParsedCall(name, {}, id, Status.MALFORMED))
        self.note("malformed_arguments", f"the arguments of {name} cannot be read")

    def spend(self, characters: int) -> None:
        """Text has to be read again. Only so much of it may be, lest a text made for it takes for ever."""
        was_spent = self.is_spent
        self.spent += characters
        if self.is_spent and not was_spent:
            self.note("too_much_broken_markup", "markup is taken as text until more text was read than read again")

    @property
    def is_spent(self) -> bool:
        return self.spent > _ALLOWANCE and self.spent > _ALLOWANCE + _AGAIN * self.source.position

    def note(self, code: str, message: str) -> None:
        self.ledger.note(code, message, self.source.position)

    def commit(self) -> None:
        """What was read so far belongs to a call for good."""
        self.own_call()
        self.source.mark()

    def own_call(self) -> None:
        """What was read from the opening on is a call, and what nobody owns before it is markup."""
        ledger, source = self.ledger, self.source
        if self.opened > ledger.owned:
            ledger.own(Kind.MARKUP, self.opened)
        ledger.own(Kind.CALL, source.base + source.pos)

    def seek(self, offset: int) -> None:
        """Go to a place counted from the mark, which stays."""
        self.source.rewind()
        self.source.mark()
        self.source.pos += offset

    def enter_call(self, call: ParsedCall) -> None:
        if self.format is not None and self.format is not self._entered:
            self._entered = self.format
            self.ledger.dialect = self.ledger.dialect or self.format.name
            self.open_wraps.update(self.format.closes, (close for _, close in self.format.wraps))
        if self.json.duplicates:
            for key in self.json.duplicates:
                self.note("duplicate_key", f"{key!r} was given twice; the last value counts")
            self.json.duplicates.clear()
        self.ledger.call(call)


_SPELLABLE = re.compile(r"[^\s<>{}\"'`\\\x00-\x1f]{1,256}")
_NAMED = re.compile(r"""["'](?:name|tool_name|function)["']\s*:\s*["']([^"']+)["']""")
_KEYED = re.compile(r"""\{\s*["']([^"']+)["']\s*:\s*\{""")


def visible_name(text: str, shape: Shape) -> str:
    """The tool's name in the beginning of a JSON call that is cut or broken."""
    match = (_KEYED if shape is Shape.KEYED else _NAMED).search(text[:4096])
    return match[1] if match else ""
