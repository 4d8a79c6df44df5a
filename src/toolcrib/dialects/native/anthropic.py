"""Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolcrib.dialects.native.schema import CLOSED, OPEN
from toolcrib.dialects.native.shared import (
    Advertised,
    Assembly,
    Choice,
    Chosen,
    Mode,
    Strict,
    get,
    items,
    list_tools,
    pictures,
    spoken,
    text_of,
    texts,
)
from toolcrib.dialects.parsed import Delta, Kind, Parsed, ParsedCall
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.name import NameTable
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

NAME = "anthropic"
_CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
_NOTHING: JsonObject = {}
_MODES = {Mode.AUTO: "auto", Mode.REQUIRED: "any", Mode.NONE: "none"}


def advertise(specs: Iterable[ToolSpec], names: NameTable, strict: Strict = Strict.OFF) -> Advertised:
    def shape(name: str, spec: ToolSpec, schema: JsonObject) -> JsonObject:
        listed: dict[str, Json] = {"name": name, "description": spec.description, "input_schema": schema}
        if strict is Strict.ON:
            listed["strict"] = True
        return listed

    return list_tools(specs, names, CLOSED if strict is Strict.ON else OPEN, shape)


def choose(choice: Choice, names: NameTable) -> Chosen:
    """One named tool can be demanded; a larger selection can only be asked for in words."""
    if len(choice.allowed) == 1 and choice.mode is Mode.REQUIRED:
        return Chosen({"type": "tool", "name": names.outward[choice.allowed[0]]})
    sent = [names.outward[name] for name in choice.allowed]
    guidance = f"Use only these tools now: {', '.join(sent)}." if sent and choice.mode is not Mode.NONE else ""
    return Chosen({"type": _MODES[choice.mode]}, guidance)


def read(message: JsonObject, names: NameTable | None = None) -> Parsed:
    """A whole message."""
    stream = Stream(names)
    for number, block in enumerate(items(get(message, "content"))):
        stream.feed({"type": "content_block_start", "index": number, "content_block": block})
    stream.feed({"type": "message_delta", "delta": {"stop_reason": get(message, "stop_reason") or "end_turn"}})
    return stream.finish()


class Stream:
    """Events of a streamed message."""

    def __init__(self, names: NameTable | None = None) -> None:
        self._answer = Assembly(names, NAME)

    def feed(self, event: JsonObject) -> list[Delta]:
        kind, index = get(event, "type"), get(event, "index")
        if kind == "content_block_start":
            self._start(index, get(event, "content_block"))
        elif kind == "content_block_delta":
            self._answer.content(text_of(get(event, "delta", "text")))
            self._answer.reasoning(text_of(get(event, "delta", "thinking")))
            if piece := text_of(get(event, "delta", "partial_json")):
                self._answer.call(index, arguments=piece)
        elif kind == "content_block_stop":
            self._answer.rest(index)  # a block that was cut is stopped too; why it stopped is said later
        elif kind == "message_delta" and (reason := get(event, "delta", "stop_reason")) is not None:
            (self._answer.cut if reason in _CUT else self._answer.end)()
        return self._answer.take()

    def finish(self) -> Parsed:
        return self._answer.finish()

    def _start(self, index: Json, block: Json) -> None:
        if get(block, "type") == "tool_use":
            self._answer.call(
                index, text_of(get(block, "name")), text_of(get(block, "id")) or None, get(block, "input")
            )
        self._answer.content(text_of(get(block, "text")))
        self._answer.reasoning(text_of(get(block, "thinking")))


def answer(results: Sequence[ToolResult], names: NameTable | None = None) -> list[JsonObject]:
    """One user message with one block per result."""
    return [{"role": "user", "content": [_block(result) for result in results]}] if results else []


def _block(result: ToolResult) -> JsonObject:
    said = texts(spoken(result)) or ([result.error.message] if result.error else [])
    content: list[Json] = [{"type": "text", "text": text} for text in said if text]
    for image in pictures(result):
        source = {"type": "base64", "media_type": image.mime_type, "data": image.data}
        content.append({"type": "image", "source": source})
    return {"type": "tool_result", "tool_use_id": result.call_id, "is_error": not result.ok, "content": content}


def ask(calls: Sequence[ParsedCall], names: NameTable) -> JsonObject:
    """The assistant's message that made the calls."""
    return {"role": "assistant", "content": [_use(call, call.id, names) for call in calls]}


def events(deltas: Iterable[Delta], names: NameTable, first: int = 0) -> list[JsonObject]:
    """Deltas as events of a streamed message, one block each; `first` is the number of the next block."""
    made: list[JsonObject] = []
    for number, delta in enumerate(deltas, first):
        if delta.kind is Kind.CALL and delta.call is not None:
            block = _use(delta.call, delta.call.id or f"toolu_{number}", names)
            piece: JsonObject = {"type": "input_json_delta", "partial_json": canonical(block["input"])}
            block = {**block, "input": _NOTHING}
        elif delta.kind is Kind.CONTENT:
            block, piece = {"type": "text", "text": ""}, {"type": "text_delta", "text": delta.text}
        else:
            block, piece = {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": delta.text}
        made.append({"type": "content_block_start", "index": number, "content_block": block})
        made.append({"type": "content_block_delta", "index": number, "delta": piece})
        made.append({"type": "content_block_stop", "index": number})
    return made


def _use(call: ParsedCall, id: str | None, names: NameTable) -> JsonObject:
    name = names.outward.get(call.name, call.name)
    return {"type": "tool_use", "id": id, "name": name, "input": call.arguments}
