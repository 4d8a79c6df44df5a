"""Arguments that grow place by place: each piece says with a JSON path where it belongs."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import cast

from toolcrib.values.json import Json, JsonObject

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,4})\]|\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""")
_DEPTH = 64
_VALUES = ("stringValue", "numberValue", "boolValue")
Step = str | int


class Unplaced(ValueError):
    """A piece whose path or value makes no sense; the call it belongs to cannot be run."""


class Growing:
    """One call's arguments. Strings at the same path are joined as long as the piece before said there is more."""

    __slots__ = ("_arguments", "_open", "_text")

    def __init__(self) -> None:
        self._arguments: dict[str, Json] = {}
        self._open: str | None = None
        self._text: list[str] = []

    def add(self, piece: JsonObject) -> None:
        path = piece.get("jsonPath")
        if not isinstance(path, str):
            raise Unplaced("a piece of the arguments does not say where it belongs")
        if self._open != path:
            self._close()
        value = next((piece[key] for key in _VALUES if key in piece), None)
        if isinstance(value, str):
            self._open = path
            self._text.append(value)
            if piece.get("willContinue") is not True:
                self._close()
            return
        self._set(path, int(value) if isinstance(value, float) and value.is_integer() else value)

    def whole(self) -> dict[str, Json]:
        self._close()
        return self._arguments

    def _close(self) -> None:
        if self._open is not None:
            path, self._open = self._open, None
            self._set(path, "".join(self._text))
            self._text.clear()

    def _set(self, path: str, value: Json) -> None:
        steps = steps_of(path)
        _place(self._holder(steps), steps[-1], value)

    def _holder(self, steps: list[Step]) -> dict[str, Json] | list[Json]:
        """The object or list that the last step goes into, made on the way."""
        here: dict[str, Json] | list[Json] = self._arguments
        for step, following in pairwise(steps):
            inner = _at(here, step)
            if not isinstance(inner, dict | list):
                inner = cast("Json", [] if isinstance(following, int) else {})
                _place(here, step, inner)
            here = cast("dict[str, Json] | list[Json]", inner)
        return here


def steps_of(path: str) -> list[Step]:
    """The steps of a path such as `$.stops[0].port` or `$['odd key']`."""
    steps: list[Step] = []
    position = 1
    while path.startswith("$") and position < len(path) and len(steps) < _DEPTH:
        match = _STEP.match(path, position)
        if match is None:
            break
        name, index, quoted = match.groups()
        steps.append(name if name is not None else int(index) if index is not None else _unquoted(quoted))
        position = match.end()
    if not steps or position != len(path) or isinstance(steps[0], int):
        raise Unplaced(f"{path[:80]!r} is no path to an argument")
    return steps


def _unquoted(text: str) -> str:
    if text[0] == "'":
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return cast("str", json.loads(text, strict=False))
    except ValueError as error:
        raise Unplaced(f"{text[:80]} is no key") from error


def _at(holder: dict[str, Json] | list[Json], step: Step) -> Json:
    if isinstance(holder, dict):
        return holder.get(step) if isinstance(step, str) else None
    return holder[step] if isinstance(step, int) and step < len(holder) else None


def _place(holder: dict[str, Json] | list[Json], step: Step, value: Json) -> None:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
    elif isinstance(holder, list) and isinstance(step, int) and step <= len(holder):
        holder[step : step + 1] = [value]
    else:
        raise Unplaced(f"there is no place {step!r} in the arguments")
