"""Every case of the corpus holds: with the dialect given, with the dialect found out, and however the text is cut."""

from __future__ import annotations

from typing import Any

import pytest
from samples import cases, pieces, stream

from toolcrib.dialects import Parsed, Status, parse

FILES = ("constructed", "edge", "extra_formats", "streaming")
ALL = [case for file in FILES for case in cases(file)]
CHUNKINGS = [{"kind": "every", "n": 1}, {"kind": "every", "n": 3}]


def names(case: dict[str, Any]) -> str:
    return f"{case['format']}-{case['case'].partition(':')[2]}-{case['id'][:4]}"


@pytest.mark.parametrize("how", ["given", "found"])
@pytest.mark.parametrize("case", ALL, ids=names)
def test_the_corpus_case_holds_for_every_chunking(case: dict[str, Any], how: str) -> None:
    dialect = case["format"] if how == "given" else None
    options = {"tools": case["tools"], "start_in_reasoning": bool(case.get("start_in_reasoning"))}
    whole = parse(case["text"], dialect=dialect, **options)
    assert holds(whole, case["expect"])
    for chunking in [*case.get("chunkings", ()), *CHUNKINGS]:
        assert stream(pieces(case["text"], chunking), dialect, **options) == whole, chunking


@pytest.mark.parametrize("case", ALL, ids=names)
def test_no_character_of_a_corpus_text_is_lost(case: dict[str, Any]) -> None:
    parsed = parse(case["text"], case["tools"], case["format"])
    assert [span.start for span in parsed.spans] == [0, *(span.end for span in parsed.spans[:-1])]
    assert parsed.spans[-1].end == len(case["text"])


def holds(parsed: Parsed, expected: dict[str, Any]) -> bool:
    if expected.get("policy") == "incomplete":
        return [call.status for call in parsed.calls] == [Status.INCOMPLETE]
    calls = [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
    return (
        calls == expected["calls"]
        and all(call.status is Status.COMPLETE for call in parsed.calls)
        and parsed.content == expected.get("content", parsed.content)
        and parsed.reasoning == expected.get("reasoning", parsed.reasoning)
    )
