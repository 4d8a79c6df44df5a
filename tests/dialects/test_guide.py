"""The examples in the guide run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "dialects.md"


def test_the_examples_of_the_guide_run_one_after_the_other() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    assert len(examples) >= 5
