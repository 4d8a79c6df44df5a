"""Long work on the event loop leaves it to those who are lively."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from toolcrib.values.turn import Turn

PIECES, PIECE = 100, 0.0003


@dataclass
class Neighbours:
    lively: bool = False
    awaited: bool = False

    def is_awaited(self) -> bool:
        return self.awaited

    def is_lively(self) -> bool:
        return self.lively


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("neighbours", "leaves_the_loop_free"),
    [(Neighbours(), False), (Neighbours(lively=True), True), (Neighbours(awaited=True), True)],
)
async def test_long_work_leaves_most_of_the_time_to_lively_others(
    neighbours: Neighbours, leaves_the_loop_free: bool
) -> None:
    turn, worked, began = Turn(neighbours), 0.0, time.perf_counter()
    for _ in range(PIECES):
        worked += _work()
        await turn.pass_on()
    took = time.perf_counter() - began
    assert (took > 2 * worked) is leaves_the_loop_free


def _work() -> float:
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < PIECE:
        pass
    return spent
