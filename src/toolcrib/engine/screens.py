"""Screens: what keeps a tool out of a run, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from toolcrib.policy.roles import beyond_minimum, excluded
from toolcrib.policy.rules import compile_pattern
from toolcrib.values.identity import Role
from toolcrib.values.spec import Effect, Exposure, ToolSpec

Screen = Callable[[ToolSpec], str | None]
"""Why a tool is out, or None when this screen lets it through."""


def capability_screen(present: frozenset[str]) -> Screen:
    """Out: tools that need something this runtime does not have."""

    def screen(spec: ToolSpec) -> str | None:
        missing = spec.capabilities - present
        return f"it needs {', '.join(sorted(missing))}, which this runtime does not have" if missing else None

    return screen


def exposure_screen(hidden: Exposure) -> Screen:
    """Out: tools meant for the other kind of caller."""
    other = "a person, not for the model" if hidden is Exposure.MANUAL else "the model, not for a person"

    def screen(spec: ToolSpec) -> str | None:
        return f"it is meant for {other}" if spec.exposure is hidden else None

    return screen


def role_screen(role: Role) -> Screen:
    """Out: what agents in this role never have."""
    return partial(excluded, role)


def dispatch_screen(asked: frozenset[str] | None, dispatcher: frozenset[str] | None) -> Screen:
    """Out, for a worker without a definition of its own: more than the smallest set, unless its dispatcher asked for
    it and has it too."""

    def screen(spec: ToolSpec) -> str | None:
        beyond = beyond_minimum(spec)
        if beyond is None or asked is None:
            return beyond
        return None if dispatcher is None or spec.name in dispatcher else "whoever sent this worker does not have it"

    return screen


def listed_screen(patterns: Iterable[str], because: str) -> Screen:
    """Out: whatever fits none of these name patterns."""
    listed = [compile_pattern(pattern) for pattern in patterns]

    def screen(spec: ToolSpec) -> str | None:
        return None if any(pattern.fullmatch(spec.name) for pattern in listed) else because

    return screen


def plan_screen(patterns: Iterable[str]) -> Screen:
    """Out: whatever can write and has no form that only reads, and reads that are not listed for plan mode."""
    listed = [compile_pattern(pattern) for pattern in patterns]

    def screen(spec: ToolSpec) -> str | None:
        if spec.effect is Effect.WRITE and spec.read_form is None:
            return "it can change things, and this run is in plan mode, which only reads"
        if not any(pattern.fullmatch(spec.name) for pattern in listed):
            return "it is not on the list of tools for plan mode (modes.plan_tools)"
        return None

    return screen
