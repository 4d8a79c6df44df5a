"""Bounding: a result that is too long for the model keeps its head and tail, and says where the whole is.

`cut` only computes. The caller stores `overflow` as an artifact and asks for `with_artifact`, or, when that failed,
for `without_artifact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import orjson

from toolcrib.engine.preview import preview
from toolcrib.engine.shorten import Room, Shortened, shorten
from toolcrib.values.json import canonical
from toolcrib.values.noun import frozen
from toolcrib.values.result import ArtifactRef, Block, JsonBlock, Text, block_text

_NOTE = 200  # room for the line between head and tail
_REFERENCE = 260  # room for the reference to the artifact, or for the words that there is none
_SHORT = 200  # characters that fit any limits in bytes and lines
_SCALARS = frozenset({int, float, bool, type(None)})
_SHARE = 700  # a block with less room than this is not worth showing


@frozen
class Limits:
    """How much of a result the model reads."""

    characters: int = 10_000
    bytes: int = 40_000
    lines: int = 2_000


@frozen
class Cut:
    """A result within its limits, or the parts of one that is not yet: `overflow` is then the whole, to be stored."""

    content: tuple[Block, ...]
    overflow: Iterable[bytes] | None = None
    mime_type: str = "text/plain"
    _parts: tuple[Block | Shortened, ...] = ()
    _size: int = 0

    def with_artifact(self, artifact_id: str) -> tuple[Block, ...]:
        """The result when the whole was stored under this id."""
        where = f"the whole is artifact {artifact_id}"
        summary = f"[shortened; whole result, {self._size:,} characters]"
        reference = ArtifactRef(artifact_id, summary, self.mime_type)
        return (*(_block(part, where, artifact_id) for part in self._parts), reference)

    def without_artifact(self, problem: str) -> tuple[Block, ...]:
        """The result when the whole could not be stored."""
        note = f"[truncated from {self._size:,} characters; artifact unavailable: {problem[:120]}]"
        return (*(_block(part, "artifact unavailable", None) for part in self._parts), Text(note))


def is_short(content: tuple[Block, ...], limits: Limits) -> bool:
    """Whether a result surely fits, at first sight: one short text or one number."""
    if len(content) != 1:
        return not content
    block = content[0]
    if type(block) is Text:
        return len(block.text) <= _SHORT <= limits.characters
    return type(block) is JsonBlock and type(block.data) in _SCALARS and block.summary is None


def cut(content: tuple[Block, ...], limits: Limits) -> Cut:
    """Bound a result: the same tuple when it fits, else its parts and the whole as overflow."""
    if len(content) == 1 and _is_small(content[0], limits):
        return Cut(content)
    texts = [_text(block) for block in content]
    size = sum(map(len, texts)) + max(len(texts) - 1, 0)
    if size <= limits.characters and _fits("\n".join(texts), limits):
        return Cut(content)
    json_only = len(content) == 1 and isinstance(content[0], JsonBlock)
    return Cut(
        (), _Whole(texts), "application/json" if json_only else "text/plain", _parts(content, texts, limits), size
    )


class _Whole:
    """The whole result as UTF-8, made piece by piece: a large text is never in memory twice."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __iter__(self) -> Iterator[bytes]:
        step = 1 << 18
        for number, text in enumerate(self._texts):
            if number:
                yield b"\n"
            for start in range(0, len(text), step):
                yield text[start : start + step].encode("utf-8", "backslashreplace")


def _is_small(block: Block, limits: Limits) -> bool:
    """Whether the one block is within the limits, found out quickly for what most results are."""
    if type(block) is Text:
        return len(block.text) <= limits.characters and _fits(block.text, limits)
    if type(block) is not JsonBlock or block.summary is not None:
        return False
    try:
        return len(orjson.dumps(block.data)) * 2 <= min(
            limits.characters, limits.bytes
        )  # numbers may be written longer
    except TypeError:
        return False


def _fits(text: str, limits: Limits) -> bool:
    """Whether a text of few enough characters is within the other limits too."""
    if len(text) * (1 if text.isascii() else 4) > limits.bytes and len(text.encode("utf-8", "replace")) > limits.bytes:
        return False
    return len(text) <= limits.lines or text.count("\n") < limits.lines


def _text(block: Block) -> str:
    if isinstance(block, JsonBlock):
        return canonical(block.data) if block.summary is None else f"{block.summary}\n{canonical(block.data)}"
    return block_text(block)


def _parts(content: tuple[Block, ...], texts: list[str], limits: Limits) -> tuple[Block | Shortened, ...]:
    """Blocks that are within an equal share stay, the others divide what is left; of very many the middle goes."""
    room = Room(limits.characters - _REFERENCE, limits.bytes - 3 * _REFERENCE, limits.lines - 2)
    most = max(min(room.characters // _SHARE, room.lines // 8), 1)
    if len(content) > most:
        head, tail = most - most // 3, most // 3
        missing = sum(map(len, texts[head : len(texts) - tail]))
        gap = Shortened("", "", missing, sum(map(len, texts)))
        room = _less(room, Room(_NOTE, 3 * _NOTE, 1))
        shown = _shared(
            content[:head] + content[len(content) - tail :], texts[:head] + texts[len(texts) - tail :], room
        )
        return (*shown[:head], gap, *shown[head:])
    return _shared(content, texts, room)


def _shared(blocks: tuple[Block, ...], texts: list[str], room: Room) -> tuple[Block | Shortened, ...]:
    share = _share(room, len(blocks))
    within = [_is_within(text, share) for text in texts]
    for text in (text for text, fits in zip(texts, within, strict=True) if fits):
        room = _less(room, Room(len(text) + 1, len(text.encode("utf-8", "replace")) + 1, text.count("\n") + 1))
    share = _less(_share(room, max(within.count(False), 1)), Room(_NOTE, 3 * _NOTE, 3))
    shown = zip(blocks, texts, within, strict=True)
    return tuple(block if fits else _part(block, text, share) for block, text, fits in shown)


def _part(block: Block, text: str, room: Room) -> Block | Shortened:
    if isinstance(block, JsonBlock) and block.summary is None:
        return replace(block, data=preview(block.data, min(room.characters, room.bytes // 4)))
    return shorten(text, room)


def _share(room: Room, parts: int) -> Room:
    return Room(room.characters // parts, room.bytes // parts, room.lines // parts)


def _less(room: Room, spent: Room) -> Room:
    left = (room.characters - spent.characters, room.bytes - spent.bytes, room.lines - spent.lines)
    return Room(max(left[0], 0), max(left[1], 0), max(left[2], 1))


def _is_within(text: str, room: Room) -> bool:
    return (
        len(text) < room.characters
        and len(text.encode("utf-8", "replace")) < room.bytes
        and text.count("\n") < room.lines
    )


def _block(part: Block | Shortened, where: str, artifact_id: str | None) -> Block:
    if isinstance(part, Shortened):
        return Text(part.joined(where))
    return replace(part, artifact_id=artifact_id) if isinstance(part, JsonBlock) and artifact_id else part
