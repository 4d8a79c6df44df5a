"""Redaction: secrets leave a text, a JSON value or a stream before it is stored, shown or logged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import orjson

from toolcrib.engine.secrets.disguise import Reading, complete, may_hide
from toolcrib.engine.secrets.find import BEHIND
from toolcrib.engine.secrets.names import kind_of
from toolcrib.engine.secrets.rules import Rules
from toolcrib.engine.secrets.scan import Span
from toolcrib.engine.secrets.values import Style, is_secret
from toolcrib.values.json import Json
from toolcrib.values.result import ArtifactRef, Block, JsonBlock, Text, ToolCallBlock, ToolResultBlock

FAILED = "[REDACTED:redaction_failed]"
_LONG = 4096  # in a longer text the sources themselves are as quick to see that there is nothing
_HARMLESS = frozenset({int, float, bool, type(None)})
_MOST_NAMES = 4_096
_SHORTEST = 8  # a shorter text has no room for a name and a value, or for a token


class Redactor:
    """Takes secrets out. Each method gives back the very object it was given when there was nothing to take out."""

    def __init__(self, extra_values: Iterable[str] = (), extra_patterns: Iterable[str] = ()) -> None:
        patterns = tuple(extra_patterns)
        self._rules = Rules(extra_values, patterns)
        self._least = 1 if patterns else _SHORTEST
        self._own = self._rules.own_occurs if patterns else _never
        self._plain_names: set[str] = set()

    def text(self, text: str) -> tuple[str, int]:
        """The text with a marker in place of each secret, and how many markers that are."""
        if len(text) < self._least:
            return text, 0
        try:
            if text.isascii():
                raw, hidden = text.encode(), "\x1b" in text
            else:
                raw = text.encode("utf-8", "surrogatepass")
                hidden = may_hide(raw)
            if not hidden and len(raw) < _LONG and not self._rules.hints.Match(raw) and not self._own(raw):
                return text, 0
            stream = RedactionStream(self._rules)
            clean = stream.feed_last(raw)
        except Exception:  # whatever went wrong in a rule: a text that was not looked at must not pass
            return FAILED, 1
        return (clean, stream.count) if stream.count else (text, 0)

    def json(self, value: Json) -> tuple[Json, int]:
        """The value with a marker in place of each secret in its strings and keys, and how many markers that are."""
        if type(value) in _HARMLESS:
            return value, 0
        try:
            clean = self._is_small_talk(value) or self._is_clean(value)
            return (value, 0) if clean else self._value(value, None)
        except Exception:  # as above
            return FAILED, 1

    def content(self, blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], int]:
        """The blocks of a result with a marker in place of each secret; pictures are left as they are."""
        if len(blocks) == 1 and type(block := blocks[0]) is JsonBlock and type(block.data) in _HARMLESS:
            return blocks, 0
        done = [self._block(block) for block in blocks]
        count = sum(found for _, found in done)
        return (tuple(block for block, _ in done), count) if count else (blocks, 0)

    def stream(self) -> RedactionStream:
        """Redact a text that arrives in pieces."""
        return RedactionStream(self._rules)

    def _is_clean(self, value: Json) -> bool:
        """Whether nothing in the value so much as looks like a secret: one pass over its encoded form."""
        if isinstance(value, str):
            return False
        try:
            encoded = orjson.dumps(value)
        except TypeError:
            return False  # a mapping or number that orjson does not know: each string is looked at instead
        return (
            not may_hide(encoded)
            and b"\\u001b" not in encoded
            and not self._rules.hints.Match(encoded)
            and not self._own(encoded)
        )

    def _is_small_talk(self, value: Json) -> bool:
        """Whether an object holds only numbers and words too short to be secrets, under names without suspicion."""
        if not isinstance(value, dict):
            return False
        known = self._plain_names
        for name, member in value.items():
            if name not in known and not self._is_plain_name(name):
                return False
            if type(member) not in _HARMLESS and not (type(member) is str and len(member) < self._least):
                return False
        return True

    def _is_plain_name(self, name: str) -> bool:
        plain = (
            len(name) < 64
            and name.isascii()
            and name != "value"
            and kind_of(name.encode()) is None
            and not self.text(name)[1]
        )
        if plain and len(self._plain_names) < _MOST_NAMES:
            self._plain_names.add(name)
        return plain

    def _value(self, value: Json, kind: str | None) -> tuple[Json, int]:
        if isinstance(value, str):
            return self._named(value, kind)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, Sequence):
            items = [self._value(item, kind) for item in value]
            count = sum(found for _, found in items)
            return ([item for item, _ in items], count) if count else (value, 0)
        if kind == "password" and isinstance(value, int) and not isinstance(value, bool) and value > 999:
            return "[REDACTED:password]", 1
        return value, 0

    def _object(self, value: Mapping[str, Json]) -> tuple[Json, int]:
        count = 0
        members: dict[str, Json] = {}
        pair = value.get("name", value.get("key"))
        for key, item in value.items():
            name = pair if key == "value" and isinstance(pair, str) else key
            shown, found = self.text(key)
            member, more = self._value(item, kind_of(name.encode("utf-8", "surrogatepass")[-96:]))
            while shown in members:
                shown += "'"
            members[shown] = member
            count += found + more
        return (members, count) if count else (value, 0)

    def _named(self, value: str, kind: str | None) -> tuple[str, int]:
        """A string, and the name that it stands under."""
        if kind is not None:
            raw = value.encode("utf-8", "surrogatepass")
            scheme, _, credentials = raw.rpartition(b" ") if kind == "authorization" else (b"", b"", raw)
            if is_secret(kind, credentials[:256], Style.QUOTED):
                shown = scheme.decode("utf-8", "surrogatepass")
                return f"{shown} [REDACTED:{kind}]".lstrip(), 1
        return self.text(value)

    def _block(self, block: Block) -> tuple[Block, int]:
        match block:
            case Text(text):
                clean, count = self.text(text)
                return (Text(clean) if count else block), count
            case JsonBlock(data, summary):
                value, count = self.json(data)
                words, more = self.text(summary) if summary is not None else (None, 0)
                return (replace(block, data=value, summary=words) if count or more else block), count + more
            case ArtifactRef(_, summary):
                words, count = self.text(summary)
                return (replace(block, summary=words) if count else block), count
            case ToolCallBlock(_, _, arguments):
                value, count = self.json(arguments)
                shown = value if isinstance(value, Mapping) else {"redacted": value}
                return (replace(block, arguments=shown) if count else block), count
            case ToolResultBlock(_, _, content):
                blocks, count = self.content(content)
                return (replace(block, content=blocks) if count else block), count
            case _:
                return block, 0


def _never(raw: bytes) -> bool:
    return False


class RedactionStream:
    """What `feed` and `finish` give back is, together, what the whole text would have become at once.

    A secret is never shown in part; at most a few kilobytes are held back.
    """

    def __init__(self, rules: Rules) -> None:
        self.count = 0
        self._sources = rules.sources()
        self._reading = Reading()
        self._unread = b""
        self._spans: list[Span] = []
        self._shown = 0
        self._failed = False

    def feed(self, chunk: str) -> str:
        """Take a piece; give back what can be shown by now."""
        return self._guarded(chunk.encode("utf-8", "surrogatepass"), whole=False)

    def finish(self) -> str:
        """Give back the rest."""
        return self._guarded(b"", whole=True)

    def feed_last(self, raw: bytes) -> str:
        """Take the whole text, or all that is missing of it; raises what a rule raises."""
        return self._advance(raw, whole=True)

    def _guarded(self, raw: bytes, *, whole: bool) -> str:
        if self._failed:
            return ""
        try:
            return self._advance(raw, whole=whole)
        except Exception:  # whatever went wrong in a rule: nothing that was not looked at may pass, now or later
            self._failed = True
            self.count += 1
            return FAILED

    def _advance(self, raw: bytes, *, whole: bool) -> str:
        raw = self._unread + raw
        ready = len(raw) if whole else complete(raw)
        self._unread = raw[ready:]
        reading = self._reading
        reading.add(raw[:ready])
        text = reading.text
        safe = len(text)
        for source in self._sources:
            self._spans += source.scan(text, whole=whole)
            safe = safe if whole else min(safe, source.safe)
        pieces = self._pieces(reading.character_start(max(safe, 0)))
        if whole:
            pieces.append(reading.written_at(len(text)))
        self._forget(min(self._shown, safe) - BEHIND)
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _pieces(self, safe: int) -> list[bytes]:
        """What can be shown of the text before `safe`, where all spans are known."""
        pieces: list[bytes] = []
        self._spans.sort(key=lambda span: (span.start, span.label))
        for span in self._spans:
            if span.start >= safe:
                break
            if not span.shown and span.start >= self._shown:
                pieces += (self._reading.written(self._shown, span.start), self._reading.written_at(span.start))
                pieces.append(b"[REDACTED:%b]" % span.label.encode())
                self.count += 1
            span.shown = True
            self._shown = max(self._shown, span.end)
        if self._shown < safe:
            pieces.append(self._reading.written(self._shown, safe))
            self._shown = safe
        return pieces

    def _forget(self, before: int) -> None:
        if before <= 0:
            return
        self._reading.forget(before)
        self._shown -= before
        self._spans = [span for span in self._spans if span.end >= self._shown + before or not span.shown]
        for moved in (*self._sources, *self._spans):
            moved.shift(before)
