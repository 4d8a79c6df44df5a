"""Generated reference pages say what the code says."""

from __future__ import annotations

import os
from pathlib import Path

from toolcrib.assemble.hands import tools_to_show
from toolcrib.cli.listing import FACTS, facts_of
from toolcrib.config import load
from toolcrib.values.meaning import MEANING, reference
from toolcrib.values.refusal import Reason

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def test_every_code_has_its_meaning() -> None:
    assert set(MEANING) == set(Reason)


def test_the_page_of_error_codes_is_current() -> None:
    assert PAGE.read_text() == reference(), "run: python scripts/references.py"


def test_the_facts_of_shipped_tools_are_current() -> None:
    toolsets = []
    for name in ("code", "shell", "workspace"):
        config = load(None, None, {"toolsets": [name]}, os.environ)
        toolsets.append((name, [tool.spec for tool in tools_to_show(config)]))
    assert FACTS.read_text() == facts_of(toolsets), "run: python scripts/references.py"
