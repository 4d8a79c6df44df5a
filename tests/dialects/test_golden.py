"""One file per format shows its wire text and what is read from it. `UPDATE_GOLDEN=1` writes the files anew."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import pytest
from samples import GOLDEN, MINIMAL, NESTED, PARALLEL, TOOLS, TYPED, stream

from toolcrib.dialects import Kind, Status, parse
from toolcrib.dialects.formats import FORMATS
from toolcrib.dialects.render import render_calls


def texts(dialect: str) -> dict[str, str]:
    """The texts every format is shown with."""
    minimal, parallel = render_calls(MINIMAL, dialect), render_calls(PARALLEL, dialect)
    opened, closed = FORMATS[dialect].reasoning
    damage = parallel.index("Oban") + 4
    return {
        "complete": minimal,
        "parallel": parallel,
        "nested": render_calls(NESTED, dialect),
        "typed": render_calls(TYPED, dialect),
        "prose": f"Let me look, if 3 < 5.\n{minimal}\nDone.",
        "reasoning": f"{opened}Check first.{closed}{minimal}",
        "malformed": parallel[:damage] + parallel[damage + 3 :],
        "truncated": minimal[: minimal.index("Lund") + 2],
    }


def shown(dialect: str, text: str) -> dict[str, Any]:
    parsed = parse(text, TOOLS, dialect)
    assert stream(list(text), dialect) == parsed
    calls = [{**asdict(call), "status": str(call.status)} for call in parsed.calls]
    notes = [note.code for note in parsed.notes]
    owned = [f"{span.kind}: {text[span.start : span.end]}" for span in parsed.spans if span.kind is not Kind.CONTENT]
    return {
        "text": text,
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "calls": calls,
        "notes": notes,
        "markup": owned,
    }


@pytest.mark.parametrize("dialect", FORMATS)
def test_the_format_reads_as_its_golden_file_shows(dialect: str) -> None:
    file = GOLDEN / f"{dialect}.json"
    made = {case: shown(dialect, text) for case, text in texts(dialect).items()}
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert made == json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_truncated_call_is_reported_and_not_run(dialect: str) -> None:
    calls = parse(texts(dialect)["truncated"], TOOLS, dialect).calls
    assert [(call.name, call.status) for call in calls] == [("tide_at", Status.INCOMPLETE)]


def test_there_is_a_golden_file_for_every_format_and_no_other() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(FORMATS)
