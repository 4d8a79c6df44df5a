"""Unions: how a JSON value finds the member of the union that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcrib.catalog.convert import Convert, Unconvertible, by_kind, real, whole
from toolcrib.catalog.shape import Shape
from toolcrib.catalog.validate import Validator
from toolcrib.values.json import Json


def union_convert(members: Sequence[Shape], definitions: Mapping[str, Json]) -> Convert | None:
    """By its JSON kind where the members' kinds differ, else by the first member whose schema it satisfies."""
    if not any(member.convert for member in members):
        return None
    converts: dict[str, Convert | None] = {}
    for member in members:
        kind = member.schema.get("type")
        if not isinstance(kind, str) or kind in converts:
            return _first_match(members, definitions)
        converts[kind] = member.convert
    if {"integer", "number"} <= converts.keys():
        if converts["integer"] is not whole or converts["number"] is not real:
            return _first_match(members, definitions)
        converts["integer"] = converts["number"] = None
    else:
        # A JSON number is of either kind in Python; the one member that takes numbers gets both.
        number = converts.get("integer", converts.get("number"))
        converts["integer"] = converts["number"] = number
    return by_kind(converts) if any(converts.values()) else None


def _first_match(members: Sequence[Shape], definitions: Mapping[str, Json]) -> Convert:
    validators: list[Validator] = []

    def convert(value: Json) -> object:
        if not validators:
            validators.extend(Validator({**member.schema, "$defs": definitions}) for member in members)
        refused: Unconvertible | None = None
        for member, validator in zip(members, validators, strict=True):
            if not validator.is_valid(value):
                continue
            try:
                return member.convert(value) if member.convert else value
            except Unconvertible as error:
                refused = refused or error
        raise refused or Unconvertible("anyOf", "matches none of the allowed forms")

    return convert
