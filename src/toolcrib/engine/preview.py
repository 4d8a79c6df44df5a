"""A preview of a JSON value that is itself JSON: long strings shortened, long lists and objects elided, with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcrib.engine.shorten import Room, shorten
from toolcrib.values.json import Json, canonical

_LEAST = 48  # less room than this is not worth looking inside
_EACH = 60  # room that a member should have at least
_KEY = 80
_DEPTH = 48


def preview(value: Json, characters: int) -> Json:
    """As much of the value as fits into that many characters of JSON."""
    room = characters
    while room > _LEAST:
        shown = _shown(value, room, 0)
        if len(canonical(shown)) <= characters:
            return shown
        room = room * 3 // 4
    return _named(value)


def _shown(value: Json, room: int, depth: int) -> Json:
    if _left(value, room, depth) >= 0:
        return value
    if isinstance(value, str):
        return _short(value, room)
    if room <= _LEAST or depth >= _DEPTH:
        return _named(value)
    if isinstance(value, Mapping):
        return _object(value, room, depth)
    return _array(value, room, depth) if isinstance(value, Sequence) else _named(value)


def _left(value: Json, room: int, depth: int) -> int:
    """How much of the room the whole value would leave; below zero as soon as it is clear that it does not fit."""
    if isinstance(value, str):
        return room - len(canonical(value)) if len(value) < room else -1
    if not isinstance(value, (Mapping, Sequence)):
        return room - len(canonical(value))
    room -= 2 + 2 * len(value)
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping):
        for name in value if room >= 0 else ():
            room = _left(name, room, depth)
            if room < 0:
                break
    for member in members if room >= 0 and depth < _DEPTH else ():
        room = _left(member, room, depth + 1)
        if room < 0:
            break
    return room if depth < _DEPTH else -1


def _short(value: str, room: int) -> str:
    left = max(room * 2 // 3 - 40, 8)
    parts = shorten(value, Room(left, left * 4, len(value) + 1))
    return f"{parts.head}… {parts.characters:,} more characters …{parts.tail}"


def _array(value: Sequence[Json], room: int, depth: int) -> list[Json]:
    count = min(len(value), max(room // _EACH, 1))
    tail = count // 3 if count < len(value) else 0
    head = count - tail
    chosen = [*value[:head], *value[len(value) - tail :]]
    members = _members(chosen, room - 2, depth + 1)
    if count < len(value):
        members.insert(head, f"… {len(value) - count:,} more items …")
    return members


def _object(value: Mapping[str, Json], room: int, depth: int) -> dict[str, Json]:
    count = min(len(value), max(room // _EACH, 1))
    names = [name for name, _ in zip(value, range(count), strict=False)]
    shown = [name if len(name) <= _KEY else f"{_short(name, _KEY)} #{number}" for number, name in enumerate(names)]
    spent = sum(map(len, shown)) + 4 * count
    values = _members([value[name] for name in names], room - 2 - spent, depth + 1)
    members: dict[str, Json] = dict(zip(shown, values, strict=True))
    if count < len(value):
        members["…"] = f"{len(value) - count:,} more members"
    return members


def _members(values: list[Json], room: int, depth: int) -> list[Json]:
    """Each value gets an equal share of the room, and those after it what it left over."""
    members: list[Json] = []
    for number, value in enumerate(values):
        member = _shown(value, max(room // (len(values) - number), 0), depth)
        members.append(member)
        room -= len(canonical(member)) + 1
    return members


def _named(value: Json) -> Json:
    if isinstance(value, str):
        return f"… {len(value):,} characters …"
    if isinstance(value, Mapping):
        return f"… object with {len(value):,} members …"
    if isinstance(value, Sequence):
        return f"… list of {len(value):,} items …"
    return "… a long number …"
