"""What can be wrong with configuration, where it was written, and how it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from toolcrib.values.json import kind
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

MAX_SHOWN = 20
NOWHERE: Mapping[str, str] = MappingProxyType({})
KeyPath = tuple[str | int, ...]
Mistake = tuple[KeyPath, str]


class Level(StrEnum):
    """Who gave a value. All but the project are the operator's; a project may only narrow."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    OVERRIDE = "override"


@frozen
class Problem:
    """One thing to fix: where it is written, which key it is about, and what is wrong."""

    place: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.key}{' ' if self.key else ''}{self.message}"


class InvalidConfig(ConfigError):
    """Configuration was refused as a whole; nothing of it is in force."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:MAX_SHOWN]]
        if (more := len(self.problems) - MAX_SHOWN) > 0:
            lines.append(f"… and {more} more")
        super().__init__("\n".join(lines))


class Invalid(Exception):
    """A value does not fit; carries every mistake found in it, each with its key."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__(mistakes)
        self.mistakes = tuple(mistakes)


@frozen
class At:
    """The value being read: its key, whose it is, and how its place is found."""

    path: KeyPath
    level: Level
    user_home: Path
    locate: Callable[[KeyPath], str]

    def inside(self, part: str | int) -> At:
        return replace(self, path=(*self.path, part))

    @property
    def place(self) -> str:
        return self.locate(self.path)

    def wrong(self, expected: str, got: str) -> Invalid:
        """The usual mistake: one thing was expected, another was there."""
        return Invalid([(self.path, f"must be {expected}, not {got}")])

    def mistaken(self, message: str) -> Invalid:
        return Invalid([(self.path, message)])


def show_key(path: KeyPath) -> str:
    """A key as TOML writes it, safe to print: `limits.rate."web.*".max_calls`, `policy.rules[0].tool`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (
                part if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", part) else json.dumps(part[:60])
            )
    return text


def kind_with_article(value: object) -> str:
    """`a string`, `an integer`, `null`: how a message names what was there instead."""
    name = kind(value)
    if name == "null":
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def not_known(name: str, known: Mapping[str, str], elsewhere: Mapping[str, str] = NOWHERE) -> str:
    """What to say of an unknown key. `known` maps the names possible here to their full keys, `elsewhere` the rest."""
    from difflib import get_close_matches  # 10 ms that only a mistake has to pay

    wanted = name[:60].lower()
    near = [elsewhere[wanted]] if wanted in elsewhere else []
    near += [known[found] for found in get_close_matches(wanted, known, n=1)]
    near += [elsewhere[found] for found in get_close_matches(wanted, elsewhere, n=1, cutoff=0.8)]
    if near:
        return f"is not a known key; did you mean {near[0]}?"
    return f"is not a known key; known here: {', '.join(known)}"
