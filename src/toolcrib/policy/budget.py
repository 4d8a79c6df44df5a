"""Budgets: how many calls, seconds, tokens and how much money a run and its session may use up in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

N = TypeVar("N", int, float)
_UNITS = {"calls": "calls", "seconds": "seconds", "tokens": "tokens", "money": "units of money"}


@frozen
class Allowance:
    """What may be used up; 0 = no limit."""

    calls: int = 0
    seconds: float = 0
    tokens: int = 0
    money: float = 0

    def __bool__(self) -> bool:
        return bool(self.calls or self.seconds or self.tokens or self.money)

    def within(self, other: Allowance) -> Allowance:
        """The lower of two in everything."""
        return Allowance(
            _lower(self.calls, other.calls),
            _lower(self.seconds, other.seconds),
            _lower(self.tokens, other.tokens),
            _lower(self.money, other.money),
        )


@dataclass(slots=True)
class Spending:
    """What was used up so far."""

    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    money: float = 0.0

    @classmethod
    def of(cls, stored: JsonObject) -> Spending:
        """Spending as it was stored."""
        return cls(
            int(_number(stored.get("calls"))),
            _number(stored.get("seconds")),
            int(_number(stored.get("tokens"))),
            _number(stored.get("money")),
        )


def check_spending(spent: Spending, allowed: Allowance, whose: str) -> None:
    """Refuse the next call once anything is used up; a call counts itself, so its own number may be the last."""
    over = spent.calls > allowed.calls > 0
    for used_up, name in (
        (over, "calls"),
        (spent.seconds >= allowed.seconds > 0, "seconds"),
        (spent.tokens >= allowed.tokens > 0, "tokens"),
        (spent.money >= allowed.money > 0, "money"),
    ):
        if used_up:
            limit: int | float = getattr(allowed, name)
            message = (
                f"this {whose} has used all of its {limit:g} {_UNITS[name]}; finish with what you have, and tell the "
                "user what is left to do"
            )
            raise Refusal(Reason.RATE_LIMITED, message, {"budget": f"{name}_per_{whose}", "limit": limit})


def _lower(one: N, other: N) -> N:
    return min(one, other) if one and other else one or other


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
