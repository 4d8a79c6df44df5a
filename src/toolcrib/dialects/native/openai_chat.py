"""OpenAI chat completions, as spoken by OpenAI, Ollama, vLLM, llama.cpp and many others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from toolcrib.dialects.native.schema import OPEN, STRICT
from toolcrib.dialects.native.shared import (
    Advertised,
    Assembly,
    Choice,
    Chosen,
    Mode,
    Strict,
    data_url,
    get,
    items,
    list_tools,
    pictures,
    result_text,
    text_of,
)
from toolcrib.dialects.parsed import Delta, Kind, Parsed, ParsedCall
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.name import NameTable
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

if TYPE_CHECKING:
    from toolcrib.dialects.render import Call

NAME = "openai_chat"
_CUT = ("length", "content_filter")


def advertise(specs: Iterable[ToolSpec], names: NameTable, strict: Strict = Strict.OFF) -> Advertised:
    def shape(name: str, spec: ToolSpec, schema: JsonObject) -> JsonObject:
        function: dict[str, Json] = {"name": name, "description": spec.description, "parameters": schema}
        if strict is Strict.ON:
            function["strict"] = True
        return {"type": "function", "function": function}

    return list_tools(specs, names, STRICT if strict is Strict.ON else OPEN, shape)


def choose(choice: Choice, names: NameTable) -> Chosen:
    tools: list[Json] = [{"type": "function", "function": {"name": names.outward[name]}} for name in choice.allowed]
    if not tools or choice.mode is Mode.NONE:
        return Chosen(choice.mode.value)
    if len(tools) == 1 and choice.mode is Mode.REQUIRED:
        return Chosen(tools[0])
    return Chosen({"type": "allowed_tools", "allowed_tools": {"mode": choice.mode.value, "tools": tools}})


def read(message: JsonObject, names: NameTable | None = None) -> Parsed:
    """An answer's message, or the whole response, which also says if it was cut. Text is not looked into for calls."""
    stream = Stream(names)
    stream.feed(message if "choices" in message else {"choices": [{"delta": message, "finish_reason": "stop"}]})
    return stream.finish()


class Stream:
    """Chunks of a streamed answer."""

    def __init__(self, names: NameTable | None = None) -> None:
        self._answer = Assembly(names, NAME)
        self._last: object = None

    def feed(self, chunk: JsonObject) -> list[Delta]:
        delta = get(chunk, "choices", 0, "delta") or get(chunk, "choices", 0, "message")
        self._answer.reasoning(text_of(get(delta, "reasoning_content")) or text_of(get(delta, "reasoning")))
        self._answer.content(_content(get(delta, "content")))
        for number, call in enumerate(items(get(delta, "tool_calls"))):
            self._add(get(call, "index"), number, get(call, "id"), get(call, "function") or call)
        if (old := get(delta, "function_call")) is not None:
            self._add(0, 0, None, old)
        if (reason := get(chunk, "choices", 0, "finish_reason")) is not None:
            (self._answer.cut if reason in _CUT else self._answer.end)()
        return self._answer.take()

    def finish(self) -> Parsed:
        return self._answer.finish()

    def _add(self, index: Json, number: int, id: Json, function: Json) -> None:
        key = index if isinstance(index, int) else number
        if self._last is not None and key != self._last:
            self._answer.rest(self._last)
        self._last = key
        arguments = get(function, "arguments")
        self._answer.call(key, text_of(get(function, "name")), text_of(id) or None, arguments)


def _content(value: Json) -> str:
    """Content is a string, or a list of parts."""
    return value if isinstance(value, str) else "".join(text_of(get(part, "text")) for part in items(value))


def answer(results: Sequence[ToolResult], names: NameTable | None = None) -> list[JsonObject]:
    """One tool message per result; images, which such a message cannot hold, follow in a user message."""
    messages: list[JsonObject] = []
    images: list[Json] = []
    for result in results:
        text = result_text(result)
        for image in pictures(result):
            images.append({"type": "text", "text": f"Image from {result.name} ({result.call_id}):"})
            images.append({"type": "image_url", "image_url": {"url": data_url(image)}})
            text += "\n[the image follows]"
        messages.append({"role": "tool", "tool_call_id": result.call_id, "content": text})
    return [*messages, {"role": "user", "content": images}] if images else messages


def ask(calls: Sequence[ParsedCall], names: NameTable) -> JsonObject:
    """The assistant's message that made the calls."""
    return {"role": "assistant", "content": None, "tool_calls": [_call(call, call.id, names) for call in calls]}


def events(deltas: Iterable[Delta], names: NameTable, first: int = 0) -> list[JsonObject]:
    """Deltas as chunks of a streamed answer; `first` is the number of the next call."""
    chunks: list[JsonObject] = []
    for delta in deltas:
        if delta.kind is Kind.CALL and delta.call is not None:
            body: JsonObject = {
                "tool_calls": [{"index": first, **_call(delta.call, delta.call.id or f"call_{first}", names)}]
            }
            first += 1
        else:
            body = {"content" if delta.kind is Kind.CONTENT else "reasoning_content": delta.text}
        chunks.append(
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": body, "finish_reason": None}]}
        )
    return chunks


def _call(call: Call, id: str | None, names: NameTable) -> JsonObject:
    function = {"name": names.outward.get(call.name, call.name), "arguments": canonical(call.arguments)}
    return {"id": id, "type": "function", "function": function}
