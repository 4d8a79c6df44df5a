"""What a command said, as a result: one JSON object on standard output, or plain text where the definition says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from toolcrib.sources.declarative.definition import Definition, Output
from toolcrib.values.json import Json, JsonError, JsonObject, kind, parse_json
from toolcrib.values.process import End, Ended
from toolcrib.values.refusal import RETRYABLE, Reason
from toolcrib.values.result import Block, JsonBlock, Text, ToolError, ToolReturn, picture
from toolcrib.values.words import sentence

FIELDS = ("content", "is_error", "error", "metadata")
HEAD = 500
LOG = 2_000
_REASONS = {End.TIMED_OUT: Reason.TIMEOUT, End.STOPPED: Reason.CANCELLED}


class NotAResult(ValueError):
    """Standard output is not the one JSON object that it must be."""


def answer(definition: Definition, ended: Ended) -> ToolReturn:
    """The result of a command that ran; everything that went wrong with it is told in the error."""
    facts: JsonObject = {
        "exit_code": ended.code,
        "signal": ended.signal,
        "seconds": round(ended.seconds, 3),
        "stdout_bytes": ended.stdout.total,
        "log": ended.stderr.text()[-min(LOG, definition.stderr_limit_bytes) :],
    }
    failure = _failure(definition, ended)
    if definition.output is Output.TEXT:
        said = ended.stdout.text() or "(no output)"
        return ToolReturn((Text(said if failure is None else f"{said}\n[{failure.message}]"),), facts, failure)
    try:
        result = _result(ended)
    except NotAResult as problem:
        error = failure or ToolError(Reason.INTERNAL_ERROR, f"{definition.name} {problem}")
        return ToolReturn((Text(error.message),), facts, error)
    metadata = {**result.metadata, **facts}
    return ToolReturn(result.content, metadata, failure or result.error)


def _failure(definition: Definition, ended: Ended) -> ToolError | None:
    """How a command failed that did not end with exit code 0."""
    if ended.end is End.EXITED and ended.code == 0:
        return None
    reason = _REASONS.get(ended.end, Reason.INTERNAL_ERROR)
    how = f"ended with exit code {ended.code}" if ended.end is End.EXITED else f"was ended: {ended.end.value}"
    if ended.end is End.TIMED_OUT:
        how = f"was stopped at its time limit of {definition.timeout_ms / 1000:g} s"
    said = _words(ended.stderr.text(), last=True)
    message = f"{definition.name} {how}" + (f": {said}" if said else "")
    return ToolError(reason, message, reason in RETRYABLE, {"exit_code": ended.code})


def _result(ended: Ended) -> ToolReturn:
    if ended.stdout.dropped:
        raise NotAResult(_told("wrote more than its limit to standard output", ended))
    written = ended.stdout.head + ended.stdout.tail
    try:
        value = parse_json(written)
    except JsonError as error:
        raise NotAResult(_told(f"must write one JSON object to standard output ({error})", ended)) from error
    if not isinstance(value, Mapping):
        raise NotAResult(_told(f"must write a JSON object to standard output, not {kind(value)}", ended))
    if unknown := [name for name in value if name not in FIELDS]:
        raise NotAResult(_told(f"wrote the field {unknown[0][:60]!r}; known are {', '.join(FIELDS)}", ended))
    metadata = value.get("metadata", {})
    if "content" not in value and "error" not in value:
        raise NotAResult(_told("wrote a result without content", ended))
    if not isinstance(metadata, Mapping) or not isinstance(value.get("is_error", False), bool):
        raise NotAResult(_told("wrote metadata that is no object, or is_error that is not true or false", ended))
    blocks = _blocks(value.get("content", []), ended)
    return ToolReturn(blocks, metadata, _error(value, blocks))


def _blocks(content: Json, ended: Ended) -> tuple[Block, ...]:
    """Text, or a list of blocks; a command cannot vouch for artifacts or calls."""
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, Mapping):
        return (JsonBlock(content),)
    if not isinstance(content, (list, tuple)):
        raise NotAResult(_told(f"wrote content that is {kind(content)}, not text or a list of blocks", ended))
    return tuple(_block(each, ended) for each in content)


def _block(block: Json, ended: Ended) -> Block:
    match block:
        case str():
            return Text(block)
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "json", "data": data}:
            summary = cast("JsonObject", block).get("summary")
            return JsonBlock(data, summary if isinstance(summary, str) else None)
        case {"type": "image", "mime_type": str(mime_type), "data": str(data)}:
            return picture(mime_type, data)
        case _:
            raise NotAResult(_told("wrote a block that is not text, json or image", ended))


def _error(value: JsonObject, blocks: tuple[Block, ...]) -> ToolError | None:
    error = value.get("error")
    if not value.get("is_error", error is not None):
        return None
    said: Json = error.get("message") if isinstance(error, Mapping) else error
    message = said if isinstance(said, str) and said else "\n".join(b.text for b in blocks if isinstance(b, Text))
    code = error.get("code") if isinstance(error, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    reason = Reason.VALIDATION_ERROR if code == Reason.VALIDATION_ERROR.value else Reason.INTERNAL_ERROR
    kept: JsonObject = details if isinstance(details, Mapping) else {}
    return ToolError(reason, message[:10_000] or "the command reported an error", False, kept)


def _told(problem: str, ended: Ended) -> str:
    head = _words(ended.stdout.head.decode(errors="replace"))
    return f"{sentence(problem)} It wrote: {head or 'nothing'}"


def _words(text: str, *, last: bool = False) -> str:
    words = " ".join(text.split())
    return words[-HEAD:] if last else words[:HEAD]
