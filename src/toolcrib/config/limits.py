"""The keys below `limits`: how much may happen at once, how fast, in all, and how often the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolcrib.config.keys import key, section
from toolcrib.config.kinds import integer, number, table
from toolcrib.config.narrowing import by_entry, lower, never
from toolcrib.config.records import LOWER_RATES, RATE, TOOL_PATTERN
from toolcrib.policy.limits import Rate
from toolcrib.values.noun import frozen


@frozen(kw_only=True)
class LoopLimits:
    """When repetition counts as a loop. Progress is a result that this run has not seen yet."""

    same_call: int = key(
        integer(1, 1_000, zero="off"),
        3,
        lower(unlimited=0),
        "Identical calls (tool and arguments) without progress that count as a loop: the last one is refused.",
        "calls",
    )
    warn: int = key(
        integer(1, 1_000, zero="off"),
        2,
        lower(unlimited=0),
        "Identical calls at which the model is warned.",
        "calls",
        at_most="same_call",
    )
    same_tool: int = key(
        integer(2, 1_000, zero="off"),
        5,
        lower(unlimited=0),
        "Calls of one tool in a row without progress.",
        "calls",
    )
    oscillation: int = key(
        integer(2, 1_000, zero="off"),
        3,
        lower(unlimited=0),
        "Cycles of the same few calls without progress.",
        "cycles",
    )
    no_progress: int = key(
        integer(2, 10_000, zero="off"),
        10,
        lower(unlimited=0),
        "Calls of any tool in a row without progress.",
        "calls",
    )
    idle_seconds: int = key(
        integer(1, 86_400), 60, never(), "Time without a call after which the guard starts afresh.", "s"
    )


@frozen(kw_only=True)
class Limits:
    """How much may happen at once and in all."""

    max_parallel_reads: int = key(
        integer(1, 10_000), 32, lower(), "Reads of one turn that run at the same time.", "calls"
    )
    max_calls_per_turn: int = key(integer(1, 10_000), 128, lower(), "Calls that one model answer may hold.", "calls")
    max_children_per_run: int = key(
        integer(1, 1_000), 4, lower(), "Child agents that one run may have at a time.", "agents"
    )
    max_children_per_session: int = key(
        integer(1, 1_000), 8, lower(), "Child agents that one session may have at a time.", "agents"
    )
    max_depth: int = key(integer(1, 100), 5, lower(), "How deep agents may start agents.", "levels")
    calls_per_run: int = key(
        integer(1, 10**9, zero="no limit"), 0, lower(unlimited=0), "Calls that one run may make in all.", "calls"
    )
    calls_per_session: int = key(
        integer(1, 10**9, zero="no limit"), 0, lower(unlimited=0), "Calls that all runs of a session may make.", "calls"
    )
    seconds_per_run: int = key(
        integer(1, 10**9, zero="no limit"),
        0,
        lower(unlimited=0),
        "Time since its start after which a run starts no more calls.",
        "s",
    )
    seconds_per_session: int = key(
        integer(1, 10**9, zero="no limit"),
        0,
        lower(unlimited=0),
        "Time of all runs of a session after which it starts no more calls.",
        "s",
    )
    tokens_per_run: int = key(
        integer(1, 10**15, zero="no limit"),
        0,
        lower(unlimited=0),
        "Model tokens after which a run starts no more calls.",
        "tokens",
    )
    tokens_per_session: int = key(
        integer(1, 10**15, zero="no limit"),
        0,
        lower(unlimited=0),
        "Model tokens after which a session starts no more calls.",
        "tokens",
    )
    money_per_run: float = key(
        number(0.000_001, 1e12, zero="no limit"),
        0.0,
        lower(unlimited=0),
        "Money, in whatever currency it is reported, after which a run starts no more calls.",
    )
    money_per_session: float = key(
        number(0.000_001, 1e12, zero="no limit"),
        0.0,
        lower(unlimited=0),
        "Money after which a session starts no more calls.",
    )
    rate: Mapping[str, Rate] = key(
        table(TOOL_PATTERN, RATE),
        MappingProxyType({}),
        LOWER_RATES,
        "Rate limits by tool name pattern; every pattern that matches a tool applies to it.",
        combine=by_entry,
        example='[limits.rate."web.**"]\nmax_calls = 30\nper_seconds = 60',
    )
    agent_rate: Mapping[str, Rate] = key(
        table(TOOL_PATTERN, RATE),
        MappingProxyType({}),
        LOWER_RATES,
        "Rate limits by tool name pattern that each agent has for all the matching tools together.",
        combine=by_entry,
        example='[limits.agent_rate."**"]\nmax_calls = 600\nper_seconds = 60',
    )
    session_rate: Mapping[str, Rate] = key(
        table(TOOL_PATTERN, RATE),
        MappingProxyType({}),
        LOWER_RATES,
        "Rate limits by tool name pattern that each session has for all the matching tools together.",
        combine=by_entry,
        example='[limits.session_rate."web.**"]\nmax_calls = 100\nper_seconds = 3600',
    )
    loop: LoopLimits = section(LoopLimits)
