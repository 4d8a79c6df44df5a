"""Generated reference pages say what the code says."""

from __future__ import annotations

from pathlib import Path

from toolcrib.values.meaning import MEANING, reference
from toolcrib.values.refusal import Reason

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def test_every_code_has_its_meaning() -> None:
    assert set(MEANING) == set(Reason)


def test_the_page_of_error_codes_is_current() -> None:
    assert PAGE.read_text() == reference(), "run: python scripts/references.py"
