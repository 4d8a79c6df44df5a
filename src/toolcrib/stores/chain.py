"""The hash chain: how a draft becomes a link that later links depend on, and how a link is checked.

The hash covers the payload's salted digest, not the payload: once payload and salt are erased, the chain still holds
and the digest cannot be used to guess what the payload said.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from struct import unpack
from typing import Any, NamedTuple, cast

import orjson

from toolcrib.values.event import Draft, Event, Level
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import StoreError

GENESIS = bytes(32)
STORE_SESSION = "_store"
PURGED = "payloads_purged"
CLAIMED = "session_claimed"
RELEASED = "session_released"
_INFO = Level.INFO
_SALT = 16
_SALTS_AT_ONCE = 256
_SALTS = f"{_SALT}s" * _SALTS_AT_ONCE
# The noted head may be this many events behind the newest one, less one: noting it costs every commit a page.
NOTED_EVERY = 64


class Head(NamedTuple):
    """The newest link of the chain."""

    seq: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"


# What is known of a link besides payloads: session, agent, run; level, type, node and call of its first event; time;
# and of every event that follows in it: level, type, node, call, where its payload begins and how long it is.
Facts = tuple[Any, ...]
_FACTS_OF_ONE = 8
_FACTS_OF_MORE = 6
_NO_FACTS: Facts = ("", None, None, "", "", None, None, 0.0)


class Link(NamedTuple):
    """What is stored in one row: events of one run that were committed together, numbered up to `seq`.

    Facts as the text that was hashed; salt and payloads, or their digest once erased.
    """

    seq: int
    run_seq: int
    text: bytes
    salted: bytes | None
    hash: bytes
    digest: bytes | None = None
    prev_hash: bytes | None = None

    @property
    def facts(self) -> Facts:
        return facts_in(self.text)

    @property
    def size(self) -> int:
        """How many events it holds."""
        return size_of(self.facts)

    def hash_at(self, seq: int) -> bytes:
        """The hash by which one of its events is known: the last one's is that of the link."""
        return self.hash if seq == self.seq else sha256(b"%b[%d]" % (self.hash, seq)).digest()


# Exact tuples from here to the driver: they are made and bound faster than named ones, and every call makes some.
# Bytearrays, because sqlite3 looks for an adapter whenever it is given bytes, and that takes longer than the binding.
# Drafts whose text is fixed, only their place in the chain is missing: session, run, facts, salt and payloads, digest,
# and how many they are.
Sealed = tuple[str, str | None, bytes, bytearray, bytes, int]
# What is written for a new link: its first five fields.
Row = tuple[int, int, str, bytearray, bytearray]
_salts: list[bytearray] = []
# A forked process must not go on with the salts that its parent will use.
os.register_at_fork(after_in_child=_salts.clear)


def seal(drafts: Sequence[Draft], created_at: float) -> Sequence[Sealed]:
    """Encode drafts once, those of one run together; whatever cannot be stored fails here, before any transaction."""
    if len(drafts) == 2:  # most units: a start and an end
        first, last = drafts
        if first.run_id == last.run_id and first.session_id == last.session_id and first.agent_id == last.agent_id:
            try:
                return (_pair(first, last, created_at),)
            except (TypeError, ValueError):
                return (_sealed(drafts, created_at),)
    return [_sealed(tuple(kin), created_at) for _, kin in groupby(drafts, _origin)]


def link(prev_hash: bytes | bytearray, digest: bytes, seq: int, run_seq: int, facts: bytes) -> bytearray:
    """The hash that gives what was sealed its place after `prev_hash`; both numbers are those of its last event."""
    return bytearray(sha256(b"%b%b[%d,%d]%b" % (prev_hash, digest, seq, run_seq, facts)).digest())


def _pair(first: Draft, last: Draft, created_at: float) -> Sealed:
    """What `_sealed` makes of two drafts, in a third less time, if the quick encoder takes them."""
    session_id, run_id = first.session_id, first.run_id
    level, last_level = first.level, last.level
    payload, last_payload = orjson.dumps(first.payload, _plain), orjson.dumps(last.payload, _plain)
    facts = orjson.dumps(
        (
            session_id, first.agent_id, run_id,
            "info" if level is _INFO else level,  # encoding a member of an enum is slow
            first.type, first.node_id, first.call_id, created_at,
            (
                "info" if last_level is _INFO else last_level,
                last.type, last.node_id, last.call_id, len(payload), len(last_payload),
            ),
        )
    )  # fmt: skip
    try:
        salted = _salts.pop()
    except IndexError:
        salted = _draw_salt()
    salted += payload
    salted += last_payload
    return (session_id, run_id, facts, salted, sha256(salted).digest(), 2)


def _sealed(drafts: Sequence[Draft], created_at: float) -> Sealed:
    draft = first = drafts[0]
    facts: list[object] = [first.session_id, first.agent_id, first.run_id]
    salted = _salts.pop() if _salts else _draw_salt()
    try:
        for place, draft in enumerate(drafts):
            start = len(salted) - _SALT
            salted += encode(draft.payload)
            told = (draft.level.value, draft.type, draft.node_id, draft.call_id)
            facts += ((*told, start, len(salted) - _SALT - start),) if place else (*told, created_at)
        text = orjson.dumps(facts)
    except (TypeError, ValueError, RecursionError) as error:
        whose = f"the event {draft.type!r} of session {first.session_id!r}"
        raise StoreError(f"{whose} cannot be stored: {error}") from error
    return (first.session_id, first.run_id, text, salted, sha256(salted).digest(), len(drafts))


def _origin(draft: Draft) -> tuple[str, str | None, str | None]:
    return (draft.session_id, draft.agent_id, draft.run_id)


def digest_of(salted: bytes) -> bytes:
    """What the chain remembers of a payload with its salt."""
    return sha256(salted).digest()


def is_intact(stored: Link, prev_hash: bytes) -> bool:
    """Whether a stored link is what was committed after `prev_hash`."""
    try:
        if (stored.salted is None) == (stored.digest is None):
            return False
        digest = stored.digest if stored.salted is None else digest_of(stored.salted)
        place = orjson.dumps(stored[:2])  # not `link`, to which half a number would be a whole one
        return sha256(prev_hash + (digest or b"") + place + stored.text).digest() == stored.hash
    except TypeError:  # a column holds another type of value than was written
        return False


def events_of(stored: Link) -> list[Event]:
    """The events of a stored link as readers see them."""
    facts = stored.facts
    session_id, agent_id, run_id, created_at = *facts[:3], facts[7]
    more = facts[_FACTS_OF_ONE:]
    said = [(*facts[3:7], 0, more[0][4] if more else None), *more]
    events: list[Event] = []
    prev_hash = stored.prev_hash or GENESIS
    for seq, (level, kind, node_id, call_id, start, length) in enumerate(said, stored.seq - len(more)):
        own_hash = stored.hash_at(seq)
        run_seq = 0 if run_id is None else stored.run_seq - stored.seq + seq
        payload = None if stored.salted is None else _object(decode(_part(stored.salted, start, length)))
        event = Event(
            f"evt_{own_hash.hex()[:24]}", seq, run_seq, session_id, agent_id, run_id, level, kind, node_id, call_id,
            payload, created_at, prev_hash.hex(), own_hash.hex(),
        )  # fmt: skip
        events.append(event)
        prev_hash = own_hash
    return events


def encode(value: Json) -> bytes:
    """JSON text of a value; integers of any size and deep nesting survive."""
    try:
        return orjson.dumps(value, _plain)
    except orjson.JSONEncodeError:
        # orjson stops at 64-bit integers and at 254 levels; the standard library does not.
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(text: bytes) -> Json:
    """The value of a stored text. Not orjson: it reads an integer beyond 64 bits as a rounded float."""
    return json.loads(text)


def facts_in(text: bytes) -> Facts:
    """The facts that a stored text tells; of a text that was never written, nothing."""
    try:
        facts: object = json.loads(text)
    except (TypeError, ValueError):
        return _NO_FACTS
    found = cast("list[Any]", facts) if isinstance(facts, list) else []
    return tuple(found) if len(found) >= _FACTS_OF_ONE and all(map(_tells_more, found[_FACTS_OF_ONE:])) else _NO_FACTS


def _tells_more(facts: Any) -> bool:
    more = cast("list[Any]", facts) if isinstance(facts, list) else []
    return len(more) == _FACTS_OF_MORE and type(more[4]) is int and type(more[5]) is int


def name_in_facts(name: str) -> str:
    """A name as the text of facts has it."""
    return orjson.dumps(name).decode()


def size_of(facts: Facts) -> int:
    """How many events a link of these facts holds."""
    return len(facts) - _FACTS_OF_ONE + 1


def facts_text(*facts: str | float | None) -> str:
    """The text of facts that were stored one by one, as it was hashed."""
    return orjson.dumps(facts, repr).decode()


def salted(salt: bytes | None, payload: bytes | None) -> bytes | None:
    """Salt and payload as one, where both were stored apart."""
    return None if salt is None or payload is None else salt + payload


def _draw_salt() -> bytearray:
    """Randomness for many links at once: a system call for each would cost as much as its hash."""
    _salts.extend(map(bytearray, unpack(_SALTS, os.urandom(_SALT * _SALTS_AT_ONCE))))
    return _salts.pop()


def _part(salted: bytes, start: int, length: int | None) -> bytes:
    return salted[_SALT + start : None if length is None else _SALT + start + length]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {"value": value}
