"""Whether a tool is switched on for an agent: pure resolution of toolkit and tool switches, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from toolcrib.values.noun import frozen
from toolcrib.values.start import Start


@frozen
class Switch:
    """One boolean that somebody wrote, and where."""

    on: bool
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"switched {'on' if self.on else 'off'}"


@frozen
class Switches:
    """What `tools_config` says for one agent: switches by toolkit key and by tool name."""

    agent: str
    held: Mapping[str, Switch]

    def get(self, name: str) -> Switch | None:
        return self.held.get(name)

    def told(self, subject: str, switch: Switch) -> str:
        """A switch in words: what is switched which way, for whom, and where that is written."""
        where = f" in {switch.place}" if switch.place else ""
        return f"{subject} is {switch} for agent {self.agent}{where}"


@frozen
class Membership:
    """That a tool belongs to a toolkit, and what the toolkit says of it."""

    toolkit: str
    start: Start = Start.ON


@frozen
class State:
    """Whether a tool is on, and why."""

    on: bool
    because: str

    def __str__(self) -> str:
        return f"{'on' if self.on else 'off'}: {self.because}"


def resolve(tool: str, memberships: Iterable[Membership], switches: Switches) -> State:
    """A toolkit that is off wins; then one that is on, unless the tool itself is off; then the tool; then the default.

    A locked member takes none of the later steps while its toolkit is not switched on.
    """
    found = tuple(memberships)
    given = {each.toolkit: switch for each in found if (switch := switches.get(each.toolkit)) is not None}
    own = switches.get(tool)
    for toolkit, switch in given.items():
        if not switch.on:
            return State(False, switches.told(f"toolkit {toolkit}", switch))
    for each in found:
        if each.start is Start.LOCKED and each.toolkit not in given:
            return State(False, f"toolkit {each.toolkit} has to be switched on for agent {switches.agent} first")
    if own is not None:
        return State(own.on, switches.told("it", own))
    for toolkit, switch in given.items():
        return State(True, switches.told(f"toolkit {toolkit}", switch))
    return _default(found)


def _default(found: tuple[Membership, ...]) -> State:
    for each in found:
        if each.start is not Start.ON:
            return State(False, f"toolkit {each.toolkit} leaves it off by default")
    return State(True, "nothing switches it off")
