"""Toolkits: the unit of granting. One switch for tools from any toolsets, with their guidance and focus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

from toolcrib.values.identity import Role
from toolcrib.values.json import JsonObject
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import InvalidName, RegistrationError
from toolcrib.values.start import Start

_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
EVERY_ROLE = frozenset(Role)


class Choice(StrEnum):
    """Whether the model may answer without a tool."""

    AUTO = "auto"
    REQUIRED = "required"


@frozen
class Focus:
    """Tools to concentrate on, in order; none named = all of them. With `REQUIRED` the model must call one."""

    active: tuple[str, ...] = ()
    choice: Choice = Choice.AUTO

    def json(self) -> JsonObject:
        """The directive as a model client takes it."""
        return {"active_tools": list(self.active) or None, "tool_choice": self.choice.value}


NO_FOCUS = Focus()


@frozen
class Situation:
    """What guidance and focus are made from: the members that a run has, its mode, and what the user said last."""

    available: tuple[str, ...]
    mode: str = "default"
    said: str = ""

    def has(self, *names: str) -> bool:
        """Whether all of these are available."""
        return all(name in self.available for name in names)


Guide = Callable[[Situation], str]
"""Text for the prompt, about nothing but the available members."""
Aim = Callable[[Situation], Focus | None]
"""The focus that the situation calls for; None when it calls for none."""


def no_guide(situation: Situation) -> str:
    return ""


def no_aim(situation: Situation) -> Focus | None:
    return None


@frozen
class Member:
    """A tool of a toolkit. It need not exist: what does not exist is said to be missing, never invented."""

    name: str
    start: Start = Start.ON


@frozen(kw_only=True)
class Toolkit:
    """A bundle of tools under one switch. `toolsets` are the shipped ones that its switch brings along."""

    key: str
    label: str
    description: str
    members: tuple[Member, ...]
    toolsets: tuple[str, ...] = ()
    roles: frozenset[Role] = EVERY_ROLE
    guide: Guide = no_guide
    aim: Aim = no_aim

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise InvalidName(f"{self.key!r} is not a toolkit key: use lower case letters, digits and '_'")
        names = [check_name(member.name) for member in self.members]
        if not names:
            raise RegistrationError(f"toolkit {self.key!r} has no members; name the tools that its switch is for")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise RegistrationError(f"toolkit {self.key!r} names {', '.join(twice)} twice")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.members)


def members(names: Iterable[str], start: Start = Start.ON) -> tuple[Member, ...]:
    """Members that all start the same way."""
    return tuple(Member(name, start) for name in names)
