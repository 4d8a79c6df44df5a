"""Moments are read as people write them, and nothing else passes for one."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import pytest

from toolcrib.cli.whens import moment

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("90d", NOW - 90 * 86_400),
        ("12h", NOW - 12 * 3_600),
        ("2w", NOW - 14 * 86_400),
        ("2026-01-31T12:00:00+00:00", NOW),
        ("2026-01-31T12:00Z", NOW),
        ("2026-01-31", datetime(2026, 1, 31).astimezone().timestamp()),
    ],
)
def test_a_moment_is_a_date_an_age_or_now(text: str, expected: float) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "90", "d", "-1d", "90 d", "2026-13-01", "1e9", "99999999999d"])
def test_anything_else_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a moment"):
        moment(text, NOW)
