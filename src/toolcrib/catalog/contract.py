"""Contracts as texts: what is kept of one, how one that changed is classified, and the change as a person reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

import jsonschema_rs

from toolcrib.values.contract import Change
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.noun import frozen
from toolcrib.values.schema import LISTS, MAPS, SINGLE
from toolcrib.values.tool import Tool
from toolcrib.values.visible import visible

_TEXTS = frozenset({"title", "description", "$comment", "examples"})
_UNCHECKED = frozenset({"default", "format", "deprecated", "readOnly", "writeOnly", "contentMediaType"})
"""Keywords that no comparison of schemas looks at, and that still tell a model or a tool what to do."""
_SCHEMAS = ("input_schema", "output_schema", "read_form")
_WORDS = ("title", "description", "help", "category")
_SPACE = re.compile(r"\s+")
_LONGEST_COMPARED = 64 * 1024
_NAMES = {"input_schema": "parameters", "output_schema": "result", "read_form": "read form"}
_ORDER = list(Change)


@frozen
class Difference:
    """One place at which two contracts differ; None where one of them has nothing there."""

    place: str
    before: str | None
    after: str | None


def body_of(tool: Tool) -> JsonObject:
    """What is kept of a contract: everything that its fingerprint covers."""
    return {"contract": tool.spec.contract(), "implementation": tool.implementation()}


def classify(before: JsonObject, after: JsonObject) -> Change:
    """What a change of a contract means: the most that any part of it means."""
    old, new = _contract(before), _contract(after)
    found = [Change.COSMETIC]
    if before.get("implementation") != after.get("implementation"):
        found.append(Change.WIDENED)
    found += [_worded(old.get(key), new.get(key)) for key in _WORDS]
    found += [_schema_change(old.get(key), new.get(key)) for key in _SCHEMAS]
    others = (old.keys() | new.keys()) - {*_WORDS, *_SCHEMAS}
    found += [Change.WIDENED for key in others if canonical(old.get(key)) != canonical(new.get(key))]
    return max(found, key=_ORDER.index)


def differences(before: JsonObject, after: JsonObject) -> list[Difference]:
    """Every place that differs, in the order of the contract, with nothing in it that hides or reorders text."""
    old, new = _places(_contract(before)), _places(_contract(after))
    found = [
        Difference(visible(place), _shown(old.get(place)), _shown(new.get(place)))
        for place in dict.fromkeys([*old, *new])
        if old.get(place) != new.get(place)
    ]
    if before.get("implementation") != after.get("implementation"):
        hashes = (str(each.get("implementation") or "none")[:16] for each in (before, after))
        found.append(Difference("code", *hashes))
    return found


def _worded(before: Json, after: Json) -> Change:
    old, new = str(before or ""), str(after or "")
    return Change.COSMETIC if _SPACE.sub(" ", old).strip() == _SPACE.sub(" ", new).strip() else Change.WORDING


def _schema_change(before: Json, after: Json) -> Change:
    if canonical(before) == canonical(after):
        return Change.COSMETIC
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return Change.WIDENED
    texts = _texts(before) != _texts(after)
    told = Change.WORDING if texts else Change.COSMETIC
    if canonical(_bare(before)) == canonical(_bare(after)):
        return told
    wider, narrower = _covers(after, before), _covers(before, after)
    if not narrower or _unchecked(before) != _unchecked(after):
        return Change.WIDENED
    return told if wider else Change.NARROWED


def _covers(wide: JsonObject, narrow: JsonObject) -> bool:
    """Whether a schema certainly accepts all that another does; what cannot be told is not certain."""
    if len(canonical(wide)) + len(canonical(narrow)) > _LONGEST_COMPARED:
        return False
    try:
        return str(_canonical_schema(wide).covers(_canonical_schema(narrow))) == "yes"
    except (ValueError, jsonschema_rs.ReferencingError):
        return False


def _canonical_schema(schema: JsonObject) -> jsonschema_rs.CanonicalSchema:
    return jsonschema_rs.canonicalize(cast("dict[str, Json]", _bare(schema)), offline=True)


def _bare(schema: Json) -> Json:
    """A schema without the words in it, and without an order where order means nothing."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _bare_member(key, value) for key, value in schema.items() if key not in _TEXTS}


def _bare_member(key: str, value: Json) -> Json:
    if key in MAPS and isinstance(value, Mapping):
        return {name: _bare(member) for name, member in value.items()}
    if key in LISTS and isinstance(value, (list, tuple)):
        members = [_bare(member) for member in value]
        return members if key == "prefixItems" else sorted(members, key=canonical)
    if key in SINGLE:
        return [_bare(member) for member in value] if isinstance(value, (list, tuple)) else _bare(value)
    return value


def _texts(schema: Json) -> list[str]:
    return sorted(f"{place} {_SPACE.sub(' ', canonical(value)).strip()}" for place, value in _found(schema, _TEXTS))


def _unchecked(schema: Json) -> list[str]:
    return sorted(f"{place} {canonical(value)}" for place, value in _found(schema, _UNCHECKED))


def _found(schema: Json, keywords: frozenset[str], place: str = "") -> Iterator[tuple[str, Json]]:
    """Every value of these keywords, with its place."""
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        if key in keywords:
            yield f"{place}.{key}", value
        elif key in MAPS and isinstance(value, Mapping):
            for name, member in value.items():
                yield from _found(member, keywords, f"{place}.{key}.{name}")
        elif isinstance(value, (list, tuple)) and (key in LISTS or key in SINGLE):
            for number, member in enumerate(value):
                yield from _found(member, keywords, f"{place}.{key}[{number}]")
        elif key in SINGLE:
            yield from _found(value, keywords, f"{place}.{key}")


def _places(contract: JsonObject) -> dict[str, Json]:
    """Every leaf of a contract under a place that a person can find: parameters by name, keywords below them."""
    found: dict[str, Json] = {}
    waiting = [(_NAMES.get(key, key), value) for key, value in contract.items()][::-1]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(_below(place, key), member) for key, member in value.items()][::-1]
        elif value not in (None, "", {}, []):
            found[place] = value
    return found


def _below(place: str, key: str) -> str:
    return place if key == "properties" else f"{place}.{key}"


def _shown(value: Json) -> str | None:
    if value is None:
        return None
    return visible(value if isinstance(value, str) else canonical(value), keep="\n")


def _contract(body: JsonObject) -> JsonObject:
    return cast("JsonObject", body.get("contract") or {})
