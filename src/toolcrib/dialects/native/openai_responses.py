"""OpenAI responses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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

NAME = "openai_responses"
_ENDS = ("completed", "incomplete", "failed", "cancelled")
_REASONING = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")


def advertise(specs: Iterable[ToolSpec], names: NameTable, strict: Strict = Strict.OFF) -> Advertised:
    def shape(name: str, spec: ToolSpec, schema: JsonObject) -> JsonObject:
        return {
            "type": "function",
            "name": name,
            "description": spec.description,
            "parameters": schema,
            "strict": strict is Strict.ON,
        }

    return list_tools(specs, names, STRICT if strict is Strict.ON else OPEN, shape)


def choose(choice: Choice, names: NameTable) -> Chosen:
    tools: list[Json] = [{"type": "function", "name": names.outward[name]} for name in choice.allowed]
    if not tools or choice.mode is Mode.NONE:
        return Chosen(choice.mode.value)
    if len(tools) == 1 and choice.mode is Mode.REQUIRED:
        return Chosen(tools[0])
    return Chosen({"type": "allowed_tools", "mode": choice.mode.value, "tools": tools})


def read(response: JsonObject, names: NameTable | None = None) -> Parsed:
    """A whole response."""
    stream = Stream(names)
    for number, item in enumerate(items(get(response, "output"))):
        stream.feed({"type": "response.output_item.done", "output_index": number, "item": item})
    stream.feed({"type": "response.completed", "response": {"status": get(response, "status") or "completed"}})
    return stream.finish()


class Stream:
    """Events of a streamed response."""

    def __init__(self, names: NameTable | None = None) -> None:
        self._answer = Assembly(names, NAME)
        self._streamed: set[object] = set()

    def feed(self, event: JsonObject) -> list[Delta]:
        kind, index, item = get(event, "type"), get(event, "output_index"), get(event, "item")
        text = text_of(get(event, "delta"))
        if kind == "response.output_text.delta" or kind in _REASONING:
            (self._answer.reasoning if kind in _REASONING else self._answer.content)(text)
            self._streamed.add(index)
        elif kind == "response.output_item.added" and get(item, "type") == "function_call":
            self._answer.call(index, text_of(get(item, "name")), text_of(get(item, "call_id")) or None)
        elif kind == "response.function_call_arguments.delta":
            self._answer.call(index, arguments=text)
            self._streamed.add(index)
        elif kind == "response.output_item.done":
            self._done(index, item)
        elif kind == "response.function_call_arguments.done" and index not in self._streamed:
            self._answer.call(index, arguments=get(event, "arguments"))
            self._streamed.add(index)
        elif (status := get(event, "response", "status")) in _ENDS:
            (self._answer.end if status == "completed" else self._answer.cut)()
        return self._answer.take()

    def finish(self) -> Parsed:
        return self._answer.finish()

    def _done(self, index: Json, item: Json) -> None:
        """A finished item repeats what was streamed of it."""
        again = index in self._streamed
        if get(item, "type") == "function_call":
            arguments = None if again else get(item, "arguments")
            id = text_of(get(item, "call_id")) or text_of(get(item, "id")) or None
            self._answer.call(index, text_of(get(item, "name")), id, arguments)
            if get(item, "status") != "incomplete":
                self._answer.close(index)
            return
        reasoning = get(item, "type") == "reasoning"
        for part in () if again else (*items(get(item, "summary")), *items(get(item, "content"))):
            (self._answer.reasoning if reasoning else self._answer.content)(text_of(get(part, "text")))


def answer(results: Sequence[ToolResult], names: NameTable | None = None) -> list[JsonObject]:
    """One output item per result."""
    return [_output(result) for result in results]


def _output(result: ToolResult) -> JsonObject:
    text, images = result_text(result), pictures(result)
    parts: list[Json] = [{"type": "input_text", "text": text}] if text else []
    parts += [{"type": "input_image", "image_url": data_url(image)} for image in images]
    return {"type": "function_call_output", "call_id": result.call_id, "output": parts if images else text}


def ask(calls: Sequence[ParsedCall], names: NameTable) -> list[JsonObject]:
    """The items that made the calls."""
    return [_item(call, call.id, names) for call in calls]


def events(deltas: Iterable[Delta], names: NameTable, first: int = 0) -> list[JsonObject]:
    """Deltas as events of a streamed response; `first` is the number of the next call."""
    made: list[JsonObject] = []
    for delta in deltas:
        if delta.kind is Kind.CALL and delta.call is not None:
            item = _item(delta.call, delta.call.id or f"call_{first}", names)
            begun = {**item, "arguments": "", "status": "in_progress"}
            made.append({"type": "response.output_item.added", "output_index": first, "item": begun})
            piece = {
                "type": "response.function_call_arguments.delta",
                "output_index": first,
                "delta": item["arguments"],
            }
            made += [piece, {"type": "response.output_item.done", "output_index": first, "item": item}]
            first += 1
        else:
            kind = "response.output_text.delta" if delta.kind is Kind.CONTENT else _REASONING[0]
            made.append({"type": kind, "delta": delta.text})
    return made


def _item(call: ParsedCall, id: str | None, names: NameTable) -> JsonObject:
    name = names.outward.get(call.name, call.name)
    return {"type": "function_call", "call_id": id, "name": name, "arguments": canonical(call.arguments)}
