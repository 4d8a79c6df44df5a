"""Docstrings: what a tool does, and what each parameter means (Google, NumPy and reST styles)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from toolcrib.values.noun import frozen

_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "attributes", "other parameters", "keyword args"})
_OTHERS = frozenset(
    {"returns", "return", "yields", "yield", "raises", "raise", "examples", "example", "note", "notes", "warning"}
    | {"warnings", "see also", "references", "todo", "warns", "receives", "methods", "keyword arguments"}
)
_RESULTS = frozenset({"returns", "return", "yields", "yield", "raises", "raise", "receives", "warns"})
_MAYBE_SECTIONS = re.compile(r"^[ \t]*(?::\w|[A-Za-z ]+:[ \t]*$|-{3,}[ \t]*$)", re.MULTILINE)
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)(?:[ \t]*\([^)]*\))?[ \t]*:[ \t]*(.*)")
_NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:,[ \t]*\*{0,2}\w+)*)[ \t]*(?::.*)?$")
_FIELD = re.compile(r":(\w+)(?:[ \t]+([^:]*?))?:[ \t]*(.*)")


@frozen
class Docstring:
    """The text without its parameter section, and the parameters it described."""

    text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def read_docstring(raw: str | None) -> Docstring:
    """Take a docstring apart. Text without any section comes back whole."""
    if not raw:
        return Docstring()
    if "\n" not in raw:
        return Docstring(raw.strip())
    if not _MAYBE_SECTIONS.search(raw):
        return Docstring(inspect.cleandoc(raw))
    return _read_sections(inspect.cleandoc(raw).split("\n"))


def _read_sections(lines: list[str]) -> Docstring:
    text: list[str] = []
    parameters: dict[str, str] = {}
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.startswith(":") and (field := _FIELD.match(line)):
            body, position = _indented(lines, position + 1, 1)
            _read_field(field, body, parameters)
            continue
        heading, first = _heading(lines, position)
        if heading in _PARAMETERS:
            position = _read_parameters(lines, first, parameters)
        elif heading in _RESULTS:
            position = _section_end(lines, first)
        else:
            text.append(line)
            position += 1
    return Docstring("\n".join(text).strip(), parameters)


def _heading(lines: list[str], position: int) -> tuple[str, int]:
    """The section that starts here, in lower case, and the line after its heading; empty when none does."""
    line = lines[position].rstrip()
    name = line.removesuffix(":").lower()
    if name not in _PARAMETERS and name not in _OTHERS:
        return "", position
    following = lines[position + 1].strip() if position + 1 < len(lines) else ""
    if len(following) >= 3 and not following.strip("-="):
        return name, position + 2
    return (name, position + 1) if line.endswith(":") else ("", position)


def _read_parameters(lines: list[str], first: int, parameters: dict[str, str]) -> int:
    numpy = not lines[first - 1].strip().strip("-=")
    end = _section_end(lines, first)
    body = lines[first:end]
    margin = min((_indent(line) for line in body if line.strip()), default=0)
    names: list[str] = []
    for line in body:
        if line.strip() and _indent(line) == margin:
            names = _read_item(line.strip(), numpy, parameters)
        else:
            for name in names:
                parameters[name] = f"{parameters[name]} {line.strip()}".strip()
    return end


def _read_item(line: str, numpy: bool, parameters: dict[str, str]) -> list[str]:
    found = (_NUMPY_ITEM if numpy else _GOOGLE_ITEM).match(line)
    if not found:
        return []
    names = [name.strip().lstrip("*") for name in found.group(1).split(",")]
    for name in names:
        parameters[name] = "" if numpy else found.group(2).strip()
    return names


def _section_end(lines: list[str], first: int) -> int:
    """The line on which the section that starts at `first` is over."""
    indented = any(line.strip() for line in lines[first : first + 2]) and _indent(_first_text(lines[first:])) > 0
    for position in range(first, len(lines)):
        line = lines[position]
        if not line.strip():
            continue
        if indented and _indent(line) == 0:
            return position
        if not indented and position > first and _heading(lines, position)[0]:
            return position
    return len(lines)


def _read_field(field: re.Match[str], body: list[str], parameters: dict[str, str]) -> None:
    role, argument, text = field.groups()
    if role in ("param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "attribute") and argument:
        words = " ".join([text, *(line.strip() for line in body)]).strip()
        parameters[argument.split()[-1].lstrip("*")] = words


def _indented(lines: list[str], first: int, least: int) -> tuple[list[str], int]:
    end = first
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) >= least:
        end += 1
    return lines[first:end], end


def _first_text(lines: Iterable[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
