"""References in a definition: `{{args.name}}` and `{{steps.N.text}}`. What they stand for stays a value: it is put into
a parsed place, never into text that is parsed afterwards, and is not looked through for references again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolcrib.values.json import Json, canonical, kind
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

_ARGUMENT = r"\{\{args\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)\}\}"
_STEP = r"\{\{steps\.(?P<step>[1-9][0-9]?)\.text\}\}"
_REFERENCE = re.compile(f"{_ARGUMENT}|{_STEP}")
_BRACES = re.compile(r"\{\{|\}\}")


@frozen
class Reference:
    """A place for an argument, or for the text of an earlier step."""

    name: str = ""
    step: int = 0

    def __str__(self) -> str:
        return f"{{{{steps.{self.step}.text}}}}" if self.step else f"{{{{args.{self.name}}}}}"


Parts = tuple[str | Reference, ...]
Absent = object()
"""What a reference stands for where an argument was left out."""


def read_text(text: str) -> Parts:
    """A text with its references; a Refusal for any other use of double braces."""
    parts: list[str | Reference] = []
    end = 0
    for found in _REFERENCE.finditer(text):
        parts += [text[end : found.start()], Reference(found["name"] or "", int(found["step"] or 0))]
        end = found.end()
    parts.append(text[end:])
    for part in parts:
        if isinstance(part, str) and _BRACES.search(part):
            allowed = "{{args.name}} and, in a later step of a composite, {{steps.1.text}}"
            raise wrong(f"{text[:80]!r}: only {allowed} can stand between double braces")
    return tuple(part for part in parts if part != "")


def references_in(value: Json) -> Iterator[Reference]:
    """Every reference in a JSON value; keys hold none."""
    if isinstance(value, str):
        yield from (part for part in read_text(value) if isinstance(part, Reference))
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if _BRACES.search(key):
                raise wrong(f"the name {key[:80]!r} holds double braces; references stand in values only")
            yield from references_in(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from references_in(member)


def check_references(found: Sequence[Reference], schema: Mapping[str, Json], steps_before: int) -> None:
    """Every argument must be described by the input schema, and every step must come earlier."""
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    for reference in found:
        if reference.step > steps_before:
            has = f"there are {steps_before} before it" if steps_before else "there is none before it"
            raise wrong(f"{reference} is no earlier step; {has}")
        if not reference.step and reference.name not in names:
            raise wrong(f"{reference} is no property of input_schema, which has {', '.join(names) or 'none'}")


def filled(value: Json, look: Callable[[Reference], Json | object]) -> Json | object:
    """A JSON value with its references filled in: alone in its text one keeps its type, among words it is a scalar.

    What refers to nothing but an argument that was left out is left out too.
    """
    if isinstance(value, str):
        parts = read_text(value)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return look(parts[0])
        return "".join(part if isinstance(part, str) else scalar_text(part, look(part)) for part in parts)
    if isinstance(value, Mapping):
        members = {key: filled(member, look) for key, member in value.items()}
        return {key: member for key, member in members.items() if member is not Absent}
    if isinstance(value, (list, tuple)):
        return [member for member in (filled(each, look) for each in value) if member is not Absent]
    return value


def scalar_text(reference: Reference, value: object) -> str:
    """A value as a part of a text; what is not one word or number is refused."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return canonical(value)
    problem = "is needed here, and was not given" if value is Absent else f"must be one value here, not {kind(value)}"
    raise Refusal(Reason.VALIDATION_ERROR, f"{reference} {problem}; give text, a number, true or false")


def argument_of(arguments: Mapping[str, Json], schema: Mapping[str, Json], name: str) -> Json | object:
    """An argument, or the default of its schema."""
    if name in arguments:
        return arguments[name]
    properties = schema.get("properties")
    described = properties.get(name) if isinstance(properties, Mapping) else None
    return described.get("default", Absent) if isinstance(described, Mapping) else Absent


def wrong(message: str) -> Refusal:
    """What a definition is refused with."""
    return Refusal(Reason.VALIDATION_ERROR, message)
