"""What a handler gives back, in one form: blocks of text and JSON, or a refusal that says what would work.

A text becomes a text block and any other value a JSON block. `None` becomes a result without content: nothing to say.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import cast

from toolcrib.catalog.plain import WORDS, plain, surrogate_in
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import (
    ArtifactRef,
    Block,
    Image,
    JsonBlock,
    Text,
    ToolCallBlock,
    ToolResult,
    ToolResultBlock,
    ToolReturn,
)

_BLOCKS = (Text, JsonBlock, ArtifactRef, Image, ToolCallBlock, ToolResultBlock)
_SMALL = 2**53  # beyond this, how many digits there are has to be looked at
_NOTHING = ToolReturn(())
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


def normalise(value: object) -> ToolReturn:
    """The value of a handler as blocks; Refusal names the type and place of what cannot be kept."""
    if type(value) is str:
        return ToolReturn((Text(_whole(value)),))
    if type(value) is bool or (type(value) is int and -_SMALL < value < _SMALL):
        return ToolReturn((JsonBlock(value),))
    kind = type(value)
    if kind is dict or kind is int:
        return ToolReturn((JsonBlock(plain(value)),))
    if value is None:
        return _NOTHING
    if isinstance(value, ToolReturn):
        _check(value.content)
        return value
    if isinstance(value, ToolResult):
        _check(value.content)
        return ToolReturn(value.content, value.metadata, value.error)
    if isinstance(value, _BLOCKS) or (kind in (tuple, list) and _holds_a_block(cast("Sequence[object]", value))):
        blocks = (value,) if isinstance(value, _BLOCKS) else tuple(cast("Sequence[Block]", value))
        _check(blocks)
        return ToolReturn(blocks)
    if isinstance(value, (bytes, bytearray)):
        return ToolReturn((_of_bytes(value),))
    data = plain(value)
    return ToolReturn((Text(data) if isinstance(data, str) else JsonBlock(data),))


def _holds_a_block(values: Sequence[object]) -> bool:
    return any(isinstance(value, _BLOCKS) for value in values)


def _whole(text: str) -> str:
    place = surrogate_in(text)
    if place is None:
        return text
    message = f"the tool returned a text with a lone surrogate at character {place}"
    raise Refusal(Reason.INTERNAL_ERROR, f"{message}; decode its bytes with errors='replace'")


def _of_bytes(value: bytes | bytearray) -> Block:
    """Bytes are a text in UTF-8, or a picture."""
    for magic, mime_type in _PICTURES:
        if value.startswith(magic) and (mime_type != "image/webp" or value[8:12] == b"WEBP"):
            return Image(mime_type, binascii.b2a_base64(value, newline=False).decode())
    try:
        return Text(value.decode())
    except UnicodeDecodeError as error:
        problem = (
            f"{len(value):,} bytes that are neither UTF-8 (byte {error.start}) nor a picture (PNG, JPEG, GIF, WebP)"
        )
        raise Refusal(
            Reason.INTERNAL_ERROR, f"the tool returned {problem}; decode them, or encode them in base64"
        ) from None


def _check(blocks: object) -> None:
    """Blocks that a handler made itself hold what blocks may hold."""
    if not isinstance(blocks, tuple):
        raise _refusal(f"content as {type(blocks).__name__}; give a tuple of content blocks")
    for block in cast("tuple[object, ...]", blocks):
        if isinstance(block, Text) and isinstance(cast("object", block.text), str):
            _whole(block.text)
        elif isinstance(block, JsonBlock):
            if plain(block.data) is not block.data:
                raise _refusal(f"a JSON block that holds a {type(block.data).__name__}, which is not JSON; {WORDS}")
        elif isinstance(block, ToolResultBlock):
            _check(block.content)
        elif not isinstance(block, (ArtifactRef, Image, ToolCallBlock)):
            raise _refusal(f"a {type(block).__name__} among content blocks; give content blocks only")


def _refusal(problem: str) -> Refusal:
    return Refusal(Reason.INTERNAL_ERROR, f"the tool returned {problem}")
