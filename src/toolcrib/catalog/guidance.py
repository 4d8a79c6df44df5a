"""What a prompt says about tools, composed in one place: guidance, what is not available, and focus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from toolcrib.catalog.toolkit import NO_FOCUS, Choice, Focus, Situation, Toolkit
from toolcrib.values.noun import frozen

MOST_NAMES = 12


class Roster(Protocol):
    """The tools that a run has, and by name why it does not have others that exist."""

    @property
    def out(self) -> Mapping[str, str]: ...
    def __contains__(self, name: object) -> bool: ...


@frozen
class Advice:
    """The guidance of a toolset: text about its tools as a whole."""

    name: str
    tools: tuple[str, ...]
    text: str


@frozen
class Prompting:
    """Everything that has something to say in a prompt."""

    toolkits: tuple[Toolkit, ...] = ()
    advice: tuple[Advice, ...] = ()

    def guidance(self, roster: Roster, mode: str) -> str:
        """One text: what to do with the tools that are there, then what is not there."""
        sections = [f"## {each.name}\n{each.text}" for each in self.advice if each.text and _any(each.tools, roster)]
        for toolkit in self.toolkits:
            situation = _situation(toolkit, roster, mode, "")
            if situation.available and (text := toolkit.guide(situation).strip()):
                sections.append(f"## {toolkit.label}\n{text}")
        if absent := [line for toolkit in self.toolkits if (line := _absence(toolkit, roster))]:
            sections.append("\n".join(["## Not available", *absent]))
        return "\n\n".join(sections)

    def focus(self, roster: Roster, mode: str, said: str) -> Focus:
        """All directives as one: what any of them names and the run has; one that requires a call is enough."""
        found: list[Focus] = []
        for toolkit in self.toolkits:
            situation = _situation(toolkit, roster, mode, said)
            if situation.available and (focus := toolkit.aim(situation)) is not None:
                found.append(focus)
        return merged(found, roster)


def merged(directives: Iterable[Focus], roster: Roster) -> Focus:
    """The union of active tools, as far as they are available; any `required` wins, where there is a tool to call."""
    focus = NO_FOCUS
    for each in directives:
        active = tuple(dict.fromkeys((*focus.active, *(name for name in each.active if name in roster))))
        required = each.choice is Choice.REQUIRED and (not each.active or _any(each.active, roster))
        focus = Focus(active, Choice.REQUIRED if required else focus.choice)
    return focus


def with_advice(prompting: Prompting, advice: Iterable[Advice]) -> Prompting:
    """The same with the guidance of more toolsets."""
    return replace(prompting, advice=(*prompting.advice, *(each for each in advice if each.text)))


def _situation(toolkit: Toolkit, roster: Roster, mode: str, said: str) -> Situation:
    return Situation(tuple(name for name in toolkit.names if name in roster), mode, said)


def _any(names: Sequence[str], roster: Roster) -> bool:
    return any(name in roster for name in names)


def _absence(toolkit: Toolkit, roster: Roster) -> str:
    """What a run does not have of a toolkit; nothing when it has all of it, or nothing of it exists."""
    missing = [name for name in toolkit.names if name not in roster]
    all_missing = len(missing) == len(toolkit.names)
    if not missing or (all_missing and not any(name in roster.out for name in missing)):
        return ""
    listed = ", ".join(missing[:MOST_NAMES]) + (" …" if len(missing) > MOST_NAMES else "")
    what = toolkit.label if all_missing else f"{toolkit.label}, in part"
    return f"- {what}: {listed}. Do not call these, and do not claim to have done what only they can do."
