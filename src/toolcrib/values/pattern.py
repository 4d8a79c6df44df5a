"""How much work a regular expression is, told from its text before any engine compiles it."""

from __future__ import annotations

import re

_REPEAT = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_PROPERTY = re.compile(r"\\[pP](?:\{[^}]*\}|.)", re.DOTALL)
_WEIGHTS = {"w": 8, "W": 8, "d": 4, "D": 4, "s": 4, "S": 4, "b": 8, "B": 8}
_PROPERTY_WEIGHT = 100
_ENOUGH = 10**9


def pattern_weight(pattern: str) -> int:
    """Roughly the number of states an engine makes: repeats multiply what they repeat, Unicode classes are large."""
    sums, last = [0], [0]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        repeat = _REPEAT.match(pattern, position) if character == "{" else None
        if repeat is not None:
            times = max(int(repeat.group(1)), int(repeat.group(2) or 0))
            sums[-1] = min(sums[-1] + last[-1] * max(times - 1, 0), _ENOUGH)
            last[-1] = min(last[-1] * max(times, 1), _ENOUGH)
            position = repeat.end()
        elif character == "(":
            sums.append(0)
            last.append(0)
            position += 1
        else:
            weight, position = _atom(pattern, position)
            if character == ")" and len(sums) > 1:
                weight = sums.pop() + 1
                last.pop()
            sums[-1] += weight
            last[-1] = weight if character not in "*+?" else last[-1]
    return sum(sums)


def _atom(pattern: str, position: int) -> tuple[int, int]:
    """Weight of the atom that starts here, and where it ends."""
    character = pattern[position]
    if character == "\\":
        if found := _PROPERTY.match(pattern, position):
            return _PROPERTY_WEIGHT, found.end()
        return _WEIGHTS.get(pattern[position + 1 : position + 2], 1), position + 2
    if character == "[" and (found := _CLASS.match(pattern, position)):
        text = found.group()
        properties = len(_PROPERTY.findall(text))
        return 1 + len(text) // 8 + properties * _PROPERTY_WEIGHT + 8 * text.count("\\w"), found.end()
    return (4 if character == "." else 1), position + 1
