"""What the native dialects share: the listing of tools, the choice among them, and calls that arrive in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from toolcrib.dialects.native.schema import Change, Profile, convert
from toolcrib.dialects.parsed import Delta, Kind, Note, Parsed, ParsedCall, Status
from toolcrib.dialects.source import Pieces, Source
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.name import ENVELOPE, NameTable, mangle
from toolcrib.values.result import ArtifactRef, Block, Image, JsonBlock, Text, ToolResult, block_text
from toolcrib.values.spec import ToolSpec

if TYPE_CHECKING:
    from toolcrib.dialects.jsontext import JsonText


class Strict(StrEnum):
    """Whether the provider is asked to hold the model to the schema."""

    OFF = "off"
    ON = "on"


@dataclass(frozen=True, slots=True)
class Advertised:
    """Tools as one provider lists them, and what its schemas could not say."""

    tools: list[JsonObject]
    report: list[Change]


def list_tools(
    specs: Iterable[ToolSpec],
    names: NameTable,
    profile: Profile,
    shape: Callable[[str, ToolSpec, JsonObject], JsonObject],
) -> Advertised:
    """Convert each schema and put it in the provider's shape."""
    tools: list[JsonObject] = []
    report: list[Change] = []
    for spec in specs:
        schema, changes = convert(spec.name, spec.input_schema, profile)
        tools.append(shape(names.outward[spec.name], spec, schema))
        report += changes
    return Advertised(tools, report)


class Mode(StrEnum):
    """Whether the model may, must or must not call a tool."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tools a model may call now; no `allowed` means all that are listed."""

    mode: Mode = Mode.AUTO
    allowed: tuple[str, ...] = ()

    @classmethod
    def only(cls, name: str) -> Choice:
        """The model must call this tool."""
        return cls(Mode.REQUIRED, (name,))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The provider's value for a choice, and a sentence for the prompt where the interface cannot say it all."""

    value: Json
    guidance: str = ""


@dataclass(slots=True)
class Piece:
    """A call that is arriving; `number` is its place among the calls."""

    number: int
    name: str = ""
    id: str | None = None
    arguments: Pieces = field(default_factory=Pieces)
    whole: JsonObject | None = None
    status: Status = Status.COMPLETE


class Assembly:
    """Puts an answer together from pieces: text, reasoning, and calls by the key the provider gives them."""

    def __init__(self, names: NameTable | None, dialect: str) -> None:
        self._names = names
        self._dialect = dialect
        self._content = Pieces()
        self._reasoning = Pieces()
        self._open: dict[object, Piece] = {}
        self._calls: dict[int, ParsedCall] = {}
        self._begun = 0
        self._notes: list[Note] = []
        self._json = _json_reader()
        self._cut = self._ended = False
        self._deltas: list[Delta] = []

    def content(self, text: str) -> None:
        if text:
            self._content.write(text)
            self._deltas.append(Delta(Kind.CONTENT, text))

    def reasoning(self, text: str) -> None:
        if text:
            self._reasoning.write(text)
            self._deltas.append(Delta(Kind.REASONING, text))

    def call(self, key: object, name: str = "", id: str | None = None, arguments: Json = None) -> None:
        """Add to the call under `key`, or begin another under the same key."""
        piece = self._open.get(key)
        if piece is not None and name and self._is_another(piece, name, id, arguments):
            self.close(key)
            piece = None
        if piece is None:
            piece = self._open[key] = self._begin()
        piece.name = piece.name or name
        piece.id = piece.id or id
        if isinstance(arguments, str):
            piece.arguments.write(arguments)
        elif isinstance(arguments, Mapping):
            piece.whole = arguments

    def close(self, key: object) -> None:
        """The call under `key` is all there."""
        piece = self._open.pop(key, None)
        if piece is None or not piece.name:
            return
        call = self._finished(piece)
        self._calls[piece.number] = call
        self._deltas.append(Delta(Kind.CALL, "", call))

    def rest(self, key: object) -> None:
        """Nothing more is expected of the call under `key`: what is whole is closed, the rest waits for the end."""
        piece = self._open.get(key)
        if piece is not None and self._is_whole(piece):
            self.close(key)

    def spoil(self, key: object, status: Status) -> None:
        """The call under `key` can be named but not run."""
        if key not in self._open:
            self._open[key] = self._begin()
        self._open[key].status = status

    def cut(self) -> None:
        """The answer ends because it became too long, not because the model was done."""
        self._cut = True

    def end(self) -> None:
        """The model was done: every call is all there."""
        self._ended = True
        for key in list(self._open):
            self.close(key)

    def take(self) -> list[Delta]:
        deltas, self._deltas = self._deltas, []
        return deltas

    def finish(self) -> Parsed:
        for key in list(self._open):
            self.close(key)
        content, reasoning = self._content.text() or None, self._reasoning.text() or None
        calls = [self._calls[number] for number in sorted(self._calls)]
        return Parsed(content, reasoning, calls, self._notes, self._dialect)

    def _begin(self) -> Piece:
        self._begun += 1
        return Piece(self._begun)

    def _finished(self, piece: Piece) -> ParsedCall:
        name = self._names.canonical(piece.name) if self._names else piece.name
        text = piece.arguments.text()
        if piece.status is not Status.COMPLETE:
            self._note("unreadable_call", f"a call of {name} is {piece.status}")
            return ParsedCall(name, {}, piece.id, piece.status)
        if not text.strip() and (piece.whole or not self._cut):
            return ParsedCall(name, dict(piece.whole or {}), piece.id)
        decoded = self._json.decode(text)
        if (decoded is None or decoded.repaired) and self._is_cut(text):
            self._note("incomplete_call", f"the answer ends inside a call of {name}")
            return ParsedCall(name, {}, piece.id, Status.INCOMPLETE)
        value = decoded.value if decoded is not None else None
        if isinstance(value, str):  # arguments encoded twice
            decoded = self._json.decode(value)
            value = decoded.value if decoded is not None else None
        if decoded is None or not isinstance(value, dict):
            self._note("malformed_arguments", f"the arguments of {name} cannot be read")
            return ParsedCall(name, {}, piece.id, Status.MALFORMED)
        return ParsedCall(name, value, piece.id, Status.COMPLETE, decoded.repaired)

    def _is_another(self, piece: Piece, name: str, id: str | None, arguments: Json) -> bool:
        """Whether a name under a key in use begins another call. Some servers repeat it with every piece."""
        if id and piece.id:
            return id != piece.id
        return bool(piece.name) and (bool(arguments) or name != piece.name) and self._is_whole(piece)

    def _is_whole(self, piece: Piece) -> bool:
        decoded = self._json.decode(piece.arguments.text()) if piece.arguments.size else None
        return bool(piece.whole) or (decoded is not None and not decoded.repaired)

    def _is_cut(self, text: str) -> bool:
        """Whether arguments that cannot be read are only the beginning of what the model would have said."""
        from toolcrib.dialects.jsontext import is_open

        return self._cut or (not self._ended and is_open(text))

    def _note(self, code: str, message: str) -> None:
        self._notes.append(Note(code, message, 0))


def _json_reader() -> JsonText:
    from toolcrib.dialects.jsontext import JsonText  # most programs list tools long before they read an answer

    return JsonText(Source())


def called_name(result: ToolResult, names: NameTable | None) -> str:
    """The name under which the model made the call: a provider pairs answers with calls by it.

    What was called through the envelope is answered as the envelope; a tool reached by another spelling, as spelt.
    """
    said = result.metadata.get("via") or result.metadata.get("provider_name")
    name = said if isinstance(said, str) else result.name
    if names is None:
        return name
    return mangle(name) if name == ENVELOPE else names.outward.get(name, name)


def result_text(result: ToolResult) -> str:
    """What a result says, for interfaces that take one text and have no flag for errors."""
    said = spoken(result)
    text = "\n".join(filter(None, (block_text(block) for block in said if not isinstance(block, Image))))
    if result.ok:
        return text
    message = text or (result.error.message if result.error else "")
    return f"Error ({result.reason}): {message}"


def spoken(result: ToolResult) -> tuple[Block, ...]:
    """What a model gets to read of a result: its content, and a notice that goes with it."""
    notice = result.metadata.get("notice")
    return (*result.content, Text(f"[notice: {notice}]")) if isinstance(notice, str) else result.content


def pictures(result: ToolResult) -> list[Image]:
    """The images of a result that can be sent as they are."""
    return [block for block in result.content if isinstance(block, Image) and block.data]


def texts(content: Sequence[Block]) -> list[str]:
    """The blocks of a result that are text, one by one."""
    return [block_text(block) for block in content if isinstance(block, Text | JsonBlock | ArtifactRef)]


def data_url(image: Image) -> str:
    return f"data:{image.mime_type};base64,{image.data}"


def get(value: Json, *path: str | int) -> Json:
    """The value at a path in JSON from outside; None where the path does not lead."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, Sequence) and not isinstance(value, str) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_of(value: Json) -> str:
    return value if isinstance(value, str) else ""


def items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
