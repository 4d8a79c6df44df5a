"""The shape of a format's description, one class per family. A format is an instance: data, no code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

THINK = ("<think>", "</think>")
ANY = ""
LETTER = "a"


class Layout(NamedTuple):
    """How calls are written: `each` per call, `pair` per argument. `$name`, `$arguments`, `$index` … are filled in."""

    each: str
    before: str = ""
    between: str = ""
    after: str = ""
    pair: str = ""
    pairs_between: str = ""


class Declaration(NamedTuple):
    """How tools are listed in a system prompt: `$tools` in `text` is one `each` per tool, `$call` an example.

    In `each` stand `$name`, `$description`, `$paragraph` (the description, further lines indented), `$parameters` (the
    schema), `$function` (all three as JSON), `$described` (with the description first), `$tool`, `$compact` and
    `$indented` (as OpenAI lists it), `$elements` or `$typed`.
    """

    text: str
    each: str = "$tool"
    between: str = "\n"


GENERIC = Declaration(
    "# Tools\n\nYou may call one or more of these functions to help with the request.\n\n"
    "<tools>\n$tools\n</tools>\n\n"
    "To call a function, answer with exactly this form, with the function's name and its parameters:\n\n$call\n\n"
    "Reasoning may stand before a call, nothing after it. Give every required parameter, and only listed ones. "
    "If no function is needed, answer in plain text without this form."
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Format:
    """What every family needs: the strings that open a call and what else is markup in this dialect.

    `starts` are the characters a call may go on with after an opening and white space (a letter is written "a").
    `wraps` are pairs around one or more calls. `drops` are control tokens without meaning for the reader,
    `frames` pairs of them with text between that is markup too.
    `bare` formats have no marker: the opening is the first character of the call itself. `ahead` gives for such an
    opening the pattern of what must follow it; it must also match where the text is cut short.
    `declaration` is how the tools are listed for models of this dialect.
    """

    name: str
    layout: Layout
    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    starts: str = ANY
    wraps: tuple[tuple[str, str], ...] = ()
    reasoning: tuple[str, str] = THINK
    drops: tuple[str, ...] = ()
    frames: tuple[tuple[str, str], ...] = ()
    bare: bool = False
    ahead: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    declaration: Declaration = GENERIC

    # Written once here: what a dataclass generates for each family anew was a tenth of the time of the import.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:  # tables are kept by format, and hashing every field for each look-up costs
        return hash(self.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def values(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Shape(Enum):
    """How a JSON object names its tool."""

    NAMED = "named"
    KEYED = "keyed"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class JsonBlock(Format):
    """JSON objects, alone or in a list, after a marker, between tags, in a fence or bare.

    `keys` are names for the tool's name and its arguments beside the usual ones. `leads` may stand before the first
    object; one that ends with a bracket opens an object with the list of calls, so that none waits for the last.
    """

    starts: str = "{[`"
    leads: tuple[str, ...] = ("```json", "```")
    shape: Shape = Shape.NAMED
    keys: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Header(Format):
    """A header with the tool's name, then the arguments as one JSON object.

    `head` finds `name` and perhaps `id` in what stands before `ends`; a header of `prose_name` introduces prose.
    """

    head: str
    ends: tuple[str, ...] = ("{",)
    prose_name: str = ""


class Text(Enum):
    """What the text of a value stands for."""

    VERBATIM = "verbatim"
    LINES = "lines"
    XML = "xml"


_KEY = (
    r"\s*(?P<quote>[\"'])?(?P<key>.*?)(?(quote)(?P=quote))(?:\s+(?:string|type)=\"(?P<type>\w+)\")?"
    r"(?(quote)(?:\s.*)?|(?:\s+[\w:\-]+=.*)?)\s*"
)
_ATTRIBUTE = r"\s*[\"']?(?P<name>[^\"'>]+?)[\"']?(?:\s[^>]*)?/?"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Tagged(Format):
    """A tag with the tool's name, then one tag per argument whose text is the value.

    `head` and `key` are patterns for what stands between a tag's opening and its end; `key` may also give `type`.
    """

    head: str = _ATTRIBUTE
    head_ends: tuple[str, ...] = (">",)
    parameter_opens: tuple[str, ...]
    parameter_ends: tuple[str, ...] = (">",)
    key: str = _KEY
    value_close: str
    text: Text = Text.VERBATIM


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Nested(Format):
    """Elements inside elements, every tag behind the same prefix: objects and arrays are trees of tags."""

    prefix: str
    element: str
    item: str = "item"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Invoked(Format):
    """`name(key=value, …)` or `call:name{key:value, …}` with literals for values."""

    starts: str = "[" + LETTER
    prefix: str = ""
    bracket: str = "("
    quotes: tuple[str, ...] = ('"""', "'''", '"', "'")
    text_values: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Channels(Format):
    """Messages on named channels: a header says the channel and whom the message is for."""

    reasoning_channels: tuple[str, ...] = ("analysis",)
    message: str = "<|message|>"
    ends: tuple[str, ...] = ("<|end|>", "<|return|>", "<|call|>")
