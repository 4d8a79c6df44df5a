"""Token estimates follow what providers count, and are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Toolcrib
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.engine.calibrate import estimator_for
from toolcrib.values.refusal import ToolcribError

pytestmark = pytest.mark.anyio
TEXT = "Create an invoice for a customer, with the lines and the date that are given. " * 20


async def test_what_a_provider_counted_is_kept_per_model(tmp_path: Path) -> None:
    counted = TokenEstimator().tokens(TEXT) * 13 // 10
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}) as crib:
        await crib.observe_usage("m1", TEXT, counted)
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}) as crib:
        estimator = await estimator_for(crib.runtime.store, "m1")
        assert abs(estimator.tokens(TEXT) - counted) <= 1
        assert await estimator_for(crib.runtime.store, "m2") == TokenEstimator()


@pytest.mark.parametrize(("text", "tokens"), [("", 5), ("x", 0), ("x", -3)])
async def test_nonsense_is_not_learnt(tmp_path: Path, text: str, tokens: int) -> None:
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}) as crib:
        with pytest.raises(ToolcribError, match="give the text"):
            await crib.observe_usage("m1", text, tokens)


async def test_a_wild_report_moves_the_estimate_within_bounds(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}) as crib:
        assert (await crib.observe_usage("m1", TEXT, 10**9)).scale == 2.0
