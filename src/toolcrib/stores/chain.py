"""The hash chain: how a draft becomes a link that later links depend on, and how a link is checked.

The hash covers the payload's salted digest, not the payload: once payload and salt are erased, the chain still holds
and the digest cannot be used to guess what the payload said.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

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
# The noted head may be this many events behind the newest one, less one: noting it costs every commit a page.
NOTED_EVERY = 64


class Head(NamedTuple):
    """The newest link of the chain."""

    seq: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"


class Link(NamedTuple):
    """An event as it is stored. Payload and salt, or once they are erased their digest."""

    seq: int
    run_seq: int
    session_id: str
    agent_id: str | None
    run_id: str | None
    level: str
    type: str
    node_id: str | None
    call_id: str | None
    created_at: float
    payload: bytes | None
    salt: bytes | None
    hash: bytes
    digest: bytes | None = None
    prev_hash: bytes | None = None


# Exact tuples from here to the driver: they are made and bound faster than named ones, and every call makes two.
# Bytearrays, because sqlite3 looks for an adapter whenever it is given bytes, and that takes longer than the binding.
Facts = tuple[str, str | None, str | None, str, str, str | None, str | None, float]
# A draft whose text is fixed, only its place in the chain is missing: facts, payload, salt, digest, header.
Sealed = tuple[Facts, bytearray, bytearray, bytes, bytes]
# What is written for a new event: the first thirteen fields of a Link.
Row = tuple[
    int, int, str, str | None, str | None, str, str, str | None, str | None, float, bytearray, bytearray, bytearray
]
_salts: list[bytearray] = []
# A forked process must not go on with the salts that its parent will use.
os.register_at_fork(after_in_child=_salts.clear)


def seal(drafts: Sequence[Draft], created_at: float) -> list[Sealed]:
    """Encode drafts once; whatever cannot be stored fails here, before any transaction."""
    sealed: list[Sealed] = []
    for draft in drafts:
        # Plain strings, not enum members: drivers are slow on subclasses.
        kind = draft.type if type(draft.type) is str else str.__str__(draft.type)
        level = "info" if draft.level is _INFO else str.__str__(draft.level)
        facts = (draft.session_id, draft.agent_id, draft.run_id, level, kind, draft.node_id, draft.call_id, created_at)
        try:
            try:
                payload = orjson.dumps(draft.payload, _plain)
            except orjson.JSONEncodeError:
                payload = encode(draft.payload)
            header = orjson.dumps(facts)
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the event {kind!r} of session {draft.session_id!r} cannot be stored: {error}") from error
        try:
            salt = _salts.pop()
        except IndexError:
            salt = _draw_salts()
        sealed.append((facts, bytearray(payload), salt, sha256(salt + payload).digest(), header))
    return sealed


def link(sealed: Sealed, seq: int, run_seq: int, prev_hash: bytes | bytearray) -> Row:
    """Give a sealed draft its place after `prev_hash`."""
    facts, payload, salt, digest, header = sealed
    new_hash = sha256(b"%b%b[%d,%d]%b" % (prev_hash, digest, seq, run_seq, header)).digest()
    return (seq, run_seq, *facts, payload, salt, bytearray(new_hash))


def digest_of(salt: bytes, payload: bytes) -> bytes:
    """What the chain remembers of a payload."""
    return sha256(salt + payload).digest()


def is_intact(stored: Link, prev_hash: bytes) -> bool:
    """Whether a stored link is what was committed after `prev_hash`."""
    try:
        if stored.payload is not None and stored.salt is not None and stored.digest is None:
            digest = digest_of(stored.salt, stored.payload)
        elif stored.payload is None and stored.salt is None and stored.digest is not None:
            digest = stored.digest
        else:
            return False
        place = orjson.dumps(stored[:2])
        return sha256(prev_hash + digest + place + orjson.dumps(stored[2:10])).digest() == stored.hash
    except TypeError:  # a column holds a value of another type than was written
        return False


def event_of(stored: Link) -> Event:
    """A stored link as readers see it."""
    return Event(
        event_id=f"evt_{stored.hash.hex()[:24]}",
        seq=stored.seq,
        run_seq=stored.run_seq,
        session_id=stored.session_id,
        agent_id=stored.agent_id,
        run_id=stored.run_id,
        level=stored.level,
        type=stored.type,
        node_id=stored.node_id,
        call_id=stored.call_id,
        payload=None if stored.payload is None else _object(decode(stored.payload)),
        created_at=stored.created_at,
        prev_hash=(stored.prev_hash or GENESIS).hex(),
        hash=stored.hash.hex(),
    )


def encode(value: Json) -> bytes:
    """JSON text of a value; integers of any size and deep nesting survive."""
    try:
        return orjson.dumps(value, default=_plain)
    except orjson.JSONEncodeError:
        # orjson stops at 64-bit integers and at 254 levels; the standard library does not.
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(text: bytes) -> Json:
    """The value of a stored text. Not orjson: it reads an integer beyond 64 bits as a rounded float."""
    return json.loads(text)


def _draw_salts() -> bytearray:
    """Randomness for many events at once: a system call for each would cost as much as its hash."""
    block = os.urandom(_SALT * _SALTS_AT_ONCE)
    first, *others = (bytearray(block[start : start + _SALT]) for start in range(0, len(block), _SALT))
    _salts.extend(others)
    return first


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {"value": value}
