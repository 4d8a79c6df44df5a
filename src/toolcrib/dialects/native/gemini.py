"""Gemini generateContent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from toolcrib.dialects.native.growing import Growing, Unplaced
from toolcrib.dialects.native.schema import SUBSET
from toolcrib.dialects.native.shared import (
    Advertised,
    Assembly,
    Choice,
    Chosen,
    Mode,
    Strict,
    called_name,
    get,
    items,
    list_tools,
    pictures,
    spoken,
    text_of,
    texts,
)
from toolcrib.dialects.parsed import Delta, Kind, Parsed, ParsedCall, Status
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.name import NameTable
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

NAME = "gemini"
_MODES = {Mode.AUTO: "AUTO", Mode.REQUIRED: "ANY", Mode.NONE: "NONE"}


def advertise(specs: Iterable[ToolSpec], names: NameTable, strict: Strict = Strict.OFF) -> Advertised:
    """Function declarations. Being held to the schema is a matter of the choice here, not of the declaration."""

    def shape(name: str, spec: ToolSpec, schema: JsonObject) -> JsonObject:
        return {"name": name, "description": spec.description, "parametersJsonSchema": schema}

    return list_tools(specs, names, SUBSET, shape)


def choose(choice: Choice, names: NameTable) -> Chosen:
    """The function calling configuration. A selection that need not be used is what VALIDATED is for."""
    sent: list[Json] = [names.outward[name] for name in choice.allowed]
    mode = "VALIDATED" if sent and choice.mode is Mode.AUTO else _MODES[choice.mode]
    config: dict[str, Json] = {"mode": mode}
    if sent and choice.mode is not Mode.NONE:
        config["allowedFunctionNames"] = sent
    return Chosen({"functionCallingConfig": config})


def read(response: JsonObject, names: NameTable | None = None) -> Parsed:
    """A whole response."""
    stream = Stream(names)
    stream.feed(response)
    return stream.finish()


class Stream:
    """Chunks of a streamed response. A call comes whole, or its arguments come place by place."""

    def __init__(self, names: NameTable | None = None) -> None:
        self._answer = Assembly(names, NAME)
        self._calls = 0
        self._growing: Growing | None = None

    def feed(self, chunk: JsonObject) -> list[Delta]:
        for part in items(get(chunk, "candidates", 0, "content", "parts")):
            text = text_of(get(part, "text"))
            (self._answer.reasoning if get(part, "thought") is True else self._answer.content)(text)
            if isinstance(call := get(part, "functionCall"), dict):
                self._feed_call(call)
        return self._answer.take()

    def finish(self) -> Parsed:
        if self._growing is not None:
            self._answer.spoil(self._calls, Status.INCOMPLETE)
        return self._answer.finish()

    def _feed_call(self, call: JsonObject) -> None:
        name, id = text_of(get(call, "name")), text_of(get(call, "id")) or None
        if name or self._growing is None:
            self._end(Status.INCOMPLETE)
            self._calls += 1
            self._answer.call(self._calls, name, id, get(call, "args"))
        goes_on, pieces = get(call, "willContinue") is True, items(get(call, "partialArgs"))
        if self._growing is None and (goes_on or pieces):
            self._growing = Growing()
        if self._growing is not None:
            try:
                for piece in pieces:
                    self._growing.add(cast("JsonObject", piece))
            except Unplaced:
                self._answer.spoil(self._calls, Status.MALFORMED)
        if not goes_on:
            self._end(Status.COMPLETE)

    def _end(self, status: Status) -> None:
        """The call that was arriving is over, whole or not."""
        growing, self._growing = self._growing, None
        if growing is not None:
            try:
                self._answer.call(self._calls, arguments=growing.whole())
            except Unplaced:
                status = Status.MALFORMED
            if status is not Status.COMPLETE:
                self._answer.spoil(self._calls, status)
        self._answer.close(self._calls)


def answer(results: Sequence[ToolResult], names: NameTable | None = None) -> list[JsonObject]:
    """One content with one response per result, and the images behind them."""
    parts: list[Json] = []
    for result in results:
        name = called_name(result, names)
        said = "\n".join(filter(None, texts(spoken(result))))
        if result.ok:
            response: JsonObject = {"output": said if result.data is None else result.data}
        else:
            response = {"error": said or (result.error.message if result.error else str(result.reason))}
        parts.append({"functionResponse": {"id": result.call_id, "name": name, "response": response}})
        parts += [{"inlineData": {"mimeType": image.mime_type, "data": image.data}} for image in pictures(result)]
    return [{"role": "user", "parts": parts}] if parts else []


def ask(calls: Sequence[ParsedCall], names: NameTable) -> JsonObject:
    """The model's content that made the calls."""
    return {"role": "model", "parts": [_part(call, names) for call in calls]}


def events(deltas: Iterable[Delta], names: NameTable, first: int = 0) -> list[JsonObject]:
    """Deltas as chunks of a streamed response."""
    return [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [_delta(delta, names)]}}]}
        for delta in deltas
    ]


def _delta(delta: Delta, names: NameTable) -> JsonObject:
    if delta.call is not None:
        return _part(delta.call, names)
    return {"text": delta.text} if delta.kind is Kind.CONTENT else {"text": delta.text, "thought": True}


def _part(call: ParsedCall, names: NameTable) -> JsonObject:
    made: dict[str, Json] = {"name": names.outward.get(call.name, call.name), "args": call.arguments}
    return {"functionCall": {**made, "id": call.id} if call.id else made}
