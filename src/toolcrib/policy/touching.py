"""Conditions on what a call touches: patterns for each kind of target."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from toolcrib.policy.names import compile_text_glob
from toolcrib.policy.paths import compile_path, is_every_path
from toolcrib.policy.verdict import Verdict
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError
from toolcrib.values.target import Target, TargetKind

Fits = Callable[[Target], bool]
NEVER_LIFTED = frozenset({"protected"})
"""Marks that ask whatever a rule says."""


@frozen
class Touching:
    """What a rule says about targets. To allow, every target of a kind must fit; to ask or deny, one is enough.

    `marks`: a rule that asks or denies is then only about targets with one of these marks; one that allows also covers
    targets with these marks, which otherwise always ask.
    """

    path: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    resource: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.path or self.host or self.command or self.agent or self.resource or self.marks)

    @property
    def by_kind(self) -> dict[TargetKind, tuple[str, ...]]:
        every = {
            TargetKind.PATH: self.path,
            TargetKind.HOST: self.host,
            TargetKind.COMMAND: self.command,
            TargetKind.AGENT: self.agent,
            TargetKind.RESOURCE: self.resource,
        }
        return {kind: patterns for kind, patterns in every.items() if patterns}


@frozen
class TargetTest:
    """`Touching`, compiled for one verdict."""

    touching: Touching
    verdict: Verdict
    place: str = ""
    _fits: dict[TargetKind, Fits] = field(init=False, repr=False, compare=False)
    names_places: bool = field(init=False, default=False)
    """Whether the patterns name something: `**` does not."""

    def __post_init__(self) -> None:
        touching = self.touching
        if touching.marks & NEVER_LIFTED and self.verdict is Verdict.ALLOW:
            raise ConfigError("protected paths always ask; a rule cannot allow them")
        kinds = touching.by_kind
        fits = {kind: _fits(kind, patterns, self.verdict) for kind, patterns in kinds.items()}
        object.__setattr__(self, "_fits", fits)
        object.__setattr__(self, "names_places", bool(kinds) and not any(map(_names_nothing, kinds.values())))

    def holds(self, targets: Sequence[Target]) -> bool:
        if self.verdict is Verdict.ALLOW:
            return all(self._all_fit(kind, fits, targets) for kind, fits in self._fits.items())
        marks = self.touching.marks
        concerned = [target for target in targets if target.marks & marks] if marks else targets
        if not self._fits:
            return bool(concerned)
        return all(self._one_fits(kind, fits, concerned) for kind, fits in self._fits.items())

    def unmet(self, targets: Sequence[Target]) -> str:
        """What it is about the targets that does not fit, for people."""
        for kind, patterns in self.touching.by_kind.items():
            wanted = " or ".join(patterns)
            concerned = [target for target in targets if target.kind is kind]
            if not concerned:
                return f"the call touches no {kind.value}"
            other = next((target for target in concerned if not self._fits[kind](target)), None)
            if other is not None:
                return f"{kind.value} {other.also or other.value} is not {wanted}"
        return f"no target is marked {' or '.join(sorted(self.touching.marks))}"

    def covers_all(self, targets: Sequence[Target]) -> bool:
        """Whether every single target is of a kind that this test names, and fits."""
        return bool(targets) and all(
            (fits := self._fits.get(target.kind)) is not None and fits(target) for target in targets
        )

    def names(self, kind: TargetKind) -> bool:
        return kind in self._fits

    @staticmethod
    def _all_fit(kind: TargetKind, fits: Fits, targets: Sequence[Target]) -> bool:
        concerned = [target for target in targets if target.kind is kind]
        return bool(concerned) and all(map(fits, concerned))

    @staticmethod
    def _one_fits(kind: TargetKind, fits: Fits, targets: Sequence[Target]) -> bool:
        return any(target.kind is kind and fits(target) for target in targets)


def host_and_port(value: str) -> tuple[str, str]:
    """A host target's host and port; the port is empty where none is said."""
    host, colon, port = value.rpartition(":")
    if colon and port.isdigit() and (not host.count(":") or host.endswith("]")):
        return host.lower().rstrip("."), port
    return value.lower().rstrip("."), ""


def _fits(kind: TargetKind, patterns: tuple[str, ...], verdict: Verdict) -> Fits:
    match kind:
        case TargetKind.PATH:
            return _path_fits(patterns, verdict)
        case TargetKind.HOST:
            return _host_fits(patterns, verdict)
        case TargetKind.COMMAND:
            return _command_fits(patterns, verdict)
        case _:
            compiled = [compile_text_glob(pattern) for pattern in patterns]
            return lambda target: any(each.fullmatch(target.value) for each in compiled)


def _path_fits(patterns: tuple[str, ...], verdict: Verdict) -> Fits:
    """By the resolved path or its virtual name. A rule that asks or denies does not mind upper and lower case."""
    body = "|".join(compile_path(pattern).pattern for pattern in patterns)
    fits = re.compile(body, re.DOTALL if verdict is Verdict.ALLOW else re.DOTALL | re.IGNORECASE).fullmatch
    return lambda target: fits(target.value) is not None or (target.also != "" and fits(target.also) is not None)


def _host_fits(patterns: tuple[str, ...], verdict: Verdict) -> Fits:
    """By host and port. Where a pattern says no port, an allow means the usual ones and everything else any."""
    from toolcrib.policy.network.hosts import HostPattern  # only where a rule names hosts

    wanted = [HostPattern.of(pattern) for pattern in patterns]

    def fits(target: Target) -> bool:
        host, written = host_and_port(target.value)
        port = int(written or 443)
        if verdict is Verdict.ALLOW:
            return any(pattern.allows(host, port) for pattern in wanted)
        return any(pattern.denies(host, port) for pattern in wanted)

    return fits


def _command_fits(patterns: tuple[str, ...], verdict: Verdict) -> Fits:
    from toolcrib.policy.commands import CommandRule, CommandTarget  # its tables are read only where a rule needs them
    from toolcrib.policy.commands.denied import is_denied
    from toolcrib.policy.commands.scope import as_command_target

    rules = [CommandRule(verdict, pattern) for pattern in patterns]

    def is_covered(target: Target) -> bool:
        if not isinstance(target, CommandTarget) or target.trouble or not target.commands:
            return False
        return all(
            any(rule.names(command) and rule.objection(command) is None for rule in rules)
            for command in target.commands
        )

    def is_meant(target: Target) -> bool:
        command = as_command_target(target)
        return any(is_denied(command, rule) for rule in rules)

    return is_covered if verdict is Verdict.ALLOW else is_meant


def _names_nothing(patterns: tuple[str, ...]) -> bool:
    return any(not pattern.strip("*?.:/") or is_every_path(pattern) for pattern in patterns)
