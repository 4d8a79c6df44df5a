"""The hash chain: how a draft becomes a link that later links depend on, and how a link is checked.

The hash covers the payload's salted digest, not the payload: once payload and salt are erased, the chain still holds
and the digest cannot be used to guess what the payload said.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
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
# The noted head may be this many events behind the newest one, less one: noting it costs every commit a page.
NOTED_EVERY = 64


class Head(NamedTuple):
    """The newest link of the chain."""

    seq: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}"


# What is known of an event besides its payload: session, agent, run, level, type, node, call, time.
Facts = tuple[str, str | None, str | None, str, str, str | None, str | None, float]
_NO_FACTS: Facts = ("", None, None, "", "", None, None, 0.0)


class Link(NamedTuple):
    """An event as it is stored: facts as the text that was hashed; salt and payload, or their digest once erased."""

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
    def payload(self) -> bytes | None:
        return None if self.salted is None else self.salted[_SALT:]


# Exact tuples from here to the driver: they are made and bound faster than named ones, and every call makes two.
# Bytearrays, because sqlite3 looks for an adapter whenever it is given bytes, and that takes longer than the binding.
# A draft whose text is fixed, only its place in the chain is missing: session, run, facts, salt and payload, digest.
Sealed = tuple[str, str | None, bytes, bytearray, bytes]
# What is written for a new event: the first five fields of a Link.
Row = tuple[int, int, str, bytearray, bytearray]
_salts: list[bytearray] = []
# A forked process must not go on with the salts that its parent will use.
os.register_at_fork(after_in_child=_salts.clear)


def seal(drafts: Sequence[Draft], created_at: float) -> list[Sealed]:
    """Encode drafts once; whatever cannot be stored fails here, before any transaction."""
    sealed: list[Sealed] = []
    for draft in drafts:
        session_id, run_id, level = draft.session_id, draft.run_id, draft.level
        told = "info" if level is _INFO else level  # encoding a member of an enum is slow
        try:
            try:
                payload = orjson.dumps(draft.payload, _plain)
            except orjson.JSONEncodeError:
                payload = encode(draft.payload)
            facts = orjson.dumps(
                (session_id, draft.agent_id, run_id, told, draft.type, draft.node_id, draft.call_id, created_at)
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the event {draft.type!r} of session {session_id!r} cannot be stored: {error}") from error
        try:
            salt = _salts.pop()
        except IndexError:
            salt = _draw_salts()
        salted = salt + payload
        sealed.append((session_id, run_id, facts, salted, sha256(salted).digest()))
    return sealed


def link(sealed: Sealed, seq: int, run_seq: int, prev_hash: bytes | bytearray) -> Row:
    """Give a sealed draft its place after `prev_hash`."""
    _, _, facts, salted, digest = sealed
    new_hash = sha256(b"%b%b[%d,%d]%b" % (prev_hash, digest, seq, run_seq, facts)).digest()
    return (seq, run_seq, facts.decode(), salted, bytearray(new_hash))


def digest_of(salted: bytes) -> bytes:
    """What the chain remembers of a payload with its salt."""
    return sha256(salted).digest()


def is_intact(stored: Link, prev_hash: bytes) -> bool:
    """Whether a stored link is what was committed after `prev_hash`."""
    try:
        if (stored.salted is None) == (stored.digest is None):
            return False
        digest = stored.digest if stored.salted is None else digest_of(stored.salted)
        place = orjson.dumps(stored[:2])
        return sha256(prev_hash + (digest or b"") + place + stored.text).digest() == stored.hash
    except TypeError:  # a column holds another type of value than was written
        return False


def event_of(stored: Link) -> Event:
    """A stored link as readers see it."""
    session_id, agent_id, run_id, level, kind, node_id, call_id, created_at = stored.facts
    return Event(
        event_id=f"evt_{stored.hash.hex()[:24]}",
        seq=stored.seq,
        run_seq=stored.run_seq,
        session_id=session_id,
        agent_id=agent_id,
        run_id=run_id,
        level=level,
        type=kind,
        node_id=node_id,
        call_id=call_id,
        payload=None if (payload := stored.payload) is None else _object(decode(payload)),
        created_at=created_at,
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


def facts_in(text: bytes) -> Facts:
    """The facts that a stored text tells; of a text that was never written, nothing."""
    try:
        facts: object = json.loads(text)
    except (TypeError, ValueError):
        return _NO_FACTS
    found = cast("list[Any]", facts) if isinstance(facts, list) else []
    return cast("Facts", tuple(found)) if len(found) == len(_NO_FACTS) else _NO_FACTS


def facts_text(*facts: str | float | None) -> str:
    """The text of facts that were stored one by one, as it was hashed."""
    return orjson.dumps(facts, repr).decode()


def salted(salt: bytes | None, payload: bytes | None) -> bytes | None:
    """Salt and payload as one, where both were stored apart."""
    return None if salt is None or payload is None else salt + payload


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
