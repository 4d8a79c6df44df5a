"""Write what is generated from the code: `python scripts/references.py`."""

from __future__ import annotations

import os
from pathlib import Path

from toolcrib.assemble.hands import tools_to_show
from toolcrib.cli.listing import FACTS, facts_of
from toolcrib.config import load
from toolcrib.values.meaning import reference
from toolcrib.values.spec import ToolSpec

ROOT = Path(__file__).parents[1]
SHIPPED = ("code", "shell", "workspace")


def shipped_facts() -> str:
    """The facts of every tool that ships with Toolcrib, by toolset."""
    toolsets: list[tuple[str, list[ToolSpec]]] = []
    for name in SHIPPED:
        config = load(None, None, {"toolsets": [name]}, os.environ)
        toolsets.append((name, [tool.spec for tool in tools_to_show(config)]))
    return facts_of(toolsets)


if __name__ == "__main__":
    (ROOT / "docs" / "reference" / "errors.md").write_text(reference())
    FACTS.write_text(shipped_facts())
