"""Tools in a line each, for a model to read: what a tool's author wrote can say something, but not do anything.

Whatever could end the line, open markup or hide from a reader is taken out, so that no text can pass for another's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import cast

from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.spec import NOTHING, ToolSpec

SUMMARY_LENGTH = 90
READ_LENGTH = 1_000
VALUE_LENGTH = 40
NAME_LENGTH = 64
CHOICES = 8
OPTIONAL = 8
REQUIRED = 24
DEPTH = 2
DEEPEST = 6

# Markup as models and chat formats know it, and what cannot be seen although it counts as a letter or mark.
_MARKUP = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "＜": "‹", "＞": "›", "【": "(", "】": ")"})
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s|(?<=[。！？])")
_PLAIN = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)
_TYPES = {"integer": "integer", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def one_line(text: str, most: int = SUMMARY_LENGTH) -> str:
    """The text as one visible line without markup, cut at a word where it is longer than `most` characters."""
    seen = _UNSEEN.sub("", text[: max(READ_LENGTH, most)])
    if not seen.isascii() or not seen.isprintable():
        seen = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in _visible(seen))
    line = " ".join(seen.translate(_MARKUP).split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    word = cut.rpartition(" ")[0]
    return (word if len(word) > most // 2 else cut).rstrip(" ,;:") + "…"


def summary(spec: ToolSpec, most: int = SUMMARY_LENGTH) -> str:
    """What a tool does, in one line: the first sentence of its description."""
    return summary_of(spec.description, most)


def summary_of(description: str, most: int = SUMMARY_LENGTH) -> str:
    text = description.strip()[:READ_LENGTH]
    paragraph = text.partition("\n\n")[0]
    return one_line(_SENTENCE.split(" ".join(paragraph.split()), maxsplit=1)[0], most)


def signature(spec: ToolSpec) -> str:
    """How a tool is called, as a typed parameter list: `notes.add(title: string, tags?: string[])`."""
    return f"{spec.name}({_members(spec.input_schema, spec.input_schema, 0)})"


def _visible(text: str) -> str:
    """The text without characters that have no form of their own; spaces and line ends stay, to become spaces."""
    return "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cs", "Co", "Cn"))


def _members(schema: JsonObject, root: JsonObject, depth: int) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    needed = schema.get("required")
    required = set(cast("Sequence[str]", needed)) if isinstance(needed, (list, tuple)) else set[str]()
    shown: list[str] = []
    for mark, most in (("", REQUIRED), ("?", OPTIONAL)):
        names = [name for name in properties if (name in required) is not bool(mark)]
        shown += [f"{_name(name)}{mark}: {_type(properties[name], root, depth + 1)}" for name in names[:most]]
        if len(names) > most:
            shown.append(f"… {len(names) - most} more")
    return ", ".join(shown)


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and len(name) <= NAME_LENGTH else f'"{one_line(name, NAME_LENGTH)}"'


def _type(schema: Json, root: JsonObject, depth: int) -> str:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"
    schema = _resolved(schema, root)
    if isinstance(choices := schema.get("enum"), (list, tuple)) and choices:
        return _choices(choices)
    if "const" in schema:
        return _value(schema["const"])
    for key in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(key), (list, tuple)) and branches:
            kinds = [_type(branch, root, depth + 1) for branch in branches[:CHOICES]]
            return "|".join(dict.fromkeys(kind for kind in kinds if kind != "null")) or "null"
    kind = schema.get("type")
    if isinstance(kind, (list, tuple)):
        kinds = [_type({**schema, "type": one}, root, depth) for one in kind if one != "null"]
        return "|".join(dict.fromkeys(kinds)) or "null"
    if kind == "array":
        inner = _type(schema.get("items"), root, depth + 1)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object" or "properties" in schema:
        inside = _members(schema, root, depth) if depth <= DEPTH else ""
        return f"{{{inside}}}" if inside else "object"
    return _TYPES.get(kind, "any") if isinstance(kind, str) else "any"


def _resolved(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The definition behind a reference inside the document; a chain that is too long or leads nowhere stays open."""
    for _ in range(DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = _pointed(root, reference.lstrip("#/").split("/"))
    return NOTHING


def _pointed(root: JsonObject, parts: Sequence[str]) -> JsonObject:
    found: JsonObject = root
    for part in filter(None, parts):
        inner = found.get(part.replace("~1", "/").replace("~0", "~"))
        found = inner if isinstance(inner, Mapping) else NOTHING
    return found


def _choices(choices: Sequence[Json]) -> str:
    shown = "|".join(_value(choice) for choice in choices[:CHOICES])
    return f"{shown}|… {len(choices) - CHOICES} more" if len(choices) > CHOICES else shown


def _value(value: Json) -> str:
    return one_line(canonical(value), VALUE_LENGTH)
