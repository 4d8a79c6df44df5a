"""Results: content blocks, the one result of a call, and what a handler may return."""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Mapping
from typing import Literal

from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.noun import frozen, noun
from toolcrib.values.refusal import RETRYABLE, Reason, Refusal
from toolcrib.values.spec import NOTHING

_PICTURE = re.compile(r"image/[A-Za-z0-9.+-]{1,60}")


@noun
class Text:
    text: str
    type: Literal["text"] = "text"


@noun
class JsonBlock:
    data: Json
    summary: str | None = None
    artifact_id: str | None = None
    type: Literal["json"] = "json"


@frozen
class ArtifactRef:
    artifact_id: str
    summary: str = ""
    mime_type: str = "text/plain"
    type: Literal["artifact_ref"] = "artifact_ref"


@frozen
class Image:
    """A picture: base64 data, or an artifact that holds it."""

    mime_type: str
    data: str = ""
    artifact_id: str | None = None
    type: Literal["image"] = "image"


def picture(mime_type: str, data: str) -> Image | Text:
    """What a program says is a picture; where it is none, words, because no provider takes a talk that holds it."""
    joined = "".join(data.split())
    if _PICTURE.fullmatch(mime_type) and _is_base64(joined):
        return Image(mime_type, joined)
    return Text(f"[no picture, though it says so: {mime_type[:80]!r}, {len(data)} characters]")


def _is_base64(data: str) -> bool:
    try:
        return bool(a2b_base64(data, strict_mode=True))
    except ValueError:
        return False


@frozen
class ToolCallBlock:
    call_id: str
    name: str
    arguments: JsonObject
    type: Literal["tool_call"] = "tool_call"


@frozen
class ToolResultBlock:
    call_id: str
    name: str
    content: tuple[Block, ...]
    type: Literal["tool_result"] = "tool_result"


Block = Text | JsonBlock | ArtifactRef | Image | ToolCallBlock | ToolResultBlock


@frozen
class ToolError:
    """Why a call did not succeed, in the words the model reads."""

    code: Reason
    message: str
    retryable: bool = False
    details: JsonObject = NOTHING
    redacted: bool = False

    @classmethod
    def of(cls, refusal: Refusal) -> ToolError:
        return cls(refusal.reason, refusal.message, refusal.reason in RETRYABLE, refusal.details)


@noun
class ToolReturn:
    """What a handler gives back when plain values do not say enough: blocks and metadata."""

    content: tuple[Block, ...]
    metadata: JsonObject = NOTHING
    error: ToolError | None = None


@noun
class ToolResult:
    """The one durable answer to one call."""

    call_id: str
    name: str
    content: tuple[Block, ...]
    reason: Reason | None = None
    error: ToolError | None = None
    metadata: JsonObject = NOTHING

    @property
    def ok(self) -> bool:
        return self.reason is None

    @property
    def text(self) -> str:
        """Everything the model reads, as one text."""
        return "\n".join(block_text(block) for block in self.content)

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Ids of the artifacts that hold what did not fit."""
        return tuple(
            block.artifact_id
            for block in self.content
            if isinstance(block, (ArtifactRef, JsonBlock, Image)) and block.artifact_id
        )

    @property
    def data(self) -> Json:
        """The structured value, when the tool returned one."""
        return next((block.data for block in self.content if isinstance(block, JsonBlock)), None)


def block_text(block: Block) -> str:
    """A block as the model reads it where only text is possible."""
    match block:
        case Text(text):
            return text
        case JsonBlock(data, summary):
            return summary if summary is not None else canonical(data)
        case ArtifactRef(artifact_id, summary):
            return f"{summary} [artifact {artifact_id}]".lstrip()
        case Image(mime_type):
            return f"[image {mime_type}]"
        case ToolCallBlock(call_id, name):
            return f"[call {name} {call_id}]"
        case ToolResultBlock(_, _, content):
            return "\n".join(block_text(inner) for inner in content)


def block_json(block: Block) -> JsonObject:
    """A block as it is stored and sent."""
    if type(block) is Text:
        return {"type": "text", "text": block.text}
    if type(block) is JsonBlock:
        return {"type": "json", "data": block.data, "summary": block.summary, "artifact_id": block.artifact_id}
    match block:
        case ArtifactRef(artifact_id, summary, mime_type):
            return {"type": "artifact_ref", "artifact_id": artifact_id, "summary": summary, "mime_type": mime_type}
        case Image(mime_type, data, artifact_id):
            return {"type": "image", "mime_type": mime_type, "data": data, "artifact_id": artifact_id}
        case ToolCallBlock(call_id, name, arguments):
            return {"type": "tool_call", "call_id": call_id, "name": name, "arguments": arguments}
        case ToolResultBlock(call_id, name, content):
            inner = [block_json(item) for item in content]
            return {"type": "tool_result", "call_id": call_id, "name": name, "content": inner}
        case Text() | JsonBlock():
            raise AssertionError("handled above")


def result_json(result: ToolResult) -> JsonObject:
    """A result as it is stored and sent: the shape other programs read."""
    error, content = result.error, result.content
    return {
        "call_id": result.call_id,
        "name": result.name,
        "content": [block_json(content[0])] if len(content) == 1 else [block_json(block) for block in content],
        "reason": result.reason.value if result.reason else None,
        "error": None
        if error is None
        else {
            "code": error.code.value,
            "message": error.message,
            "retryable": error.retryable,
            "details": error.details,
            "redacted": error.redacted,
        },
        "metadata": result.metadata,
    }


def block_of(stored: Mapping[str, Json]) -> Block:
    """A block from its stored form."""
    fields = {key: value for key, value in stored.items() if key != "type"}
    match stored.get("type"):
        case "text":
            return Text(str(fields["text"]))
        case "json":
            return JsonBlock(fields.get("data"), _text(fields.get("summary")), _text(fields.get("artifact_id")))
        case "artifact_ref":
            return ArtifactRef(str(fields["artifact_id"]), str(fields.get("summary", "")), str(fields["mime_type"]))
        case "image":
            return Image(str(fields["mime_type"]), str(fields.get("data", "")), _text(fields.get("artifact_id")))
        case other:
            raise ValueError(f"unknown content block type {other!r}")


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
