"""Tools, calls and texts that several tests share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from toolcrib.dialects import Parsed, ParsedCall, StreamParser

CORPUS = Path(__file__).parents[1] / "corpus" / "formats"
GOLDEN = Path(__file__).parents[1] / "golden" / "dialects"


def function(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
TOOLS = [
    function("ring_bell"),
    function("tide_at", harbour=STRING),
    function("book_ferry", harbour=STRING, deck=STRING),
    function("write_log", path=STRING, body=STRING),
    function(
        "set_buoy",
        count=INTEGER,
        depth=NUMBER,
        lit={"type": "boolean"},
        code=STRING,
        flag=STRING,
        raw=STRING,
        owner={"type": ["string", "null"]},
    ),
    function(
        "plan_route",
        stops={"type": "array", "items": {"type": "object", "properties": {"port": STRING, "nights": INTEGER}}},
        limits={"type": "object", "properties": {"max_km": NUMBER, "night": {"type": "boolean"}}},
        tags={"type": "array", "items": STRING},
    ),
]

MINIMAL = [ParsedCall("tide_at", {"harbour": "Lund"})]
PARALLEL = [
    ParsedCall("tide_at", {"harbour": "Oban"}),
    ParsedCall("book_ferry", {"harbour": "Oban", "deck": "lower"}),
]
NESTED = [
    ParsedCall(
        "plan_route",
        {
            "stops": [{"port": "Iona", "nights": 2}, {"port": "Mull", "nights": 1}],
            "limits": {"max_km": 40.5, "night": False},
            "tags": ["slow", "scenic"],
        },
    )
]
TYPED = [
    ParsedCall(
        "set_buoy",
        {"count": 7, "depth": -3.25, "lit": True, "code": "007", "flag": "true", "raw": "[1]", "owner": None},
    )
]


def cases(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]


def pieces(text: str, chunking: dict[str, Any]) -> Iterator[str | bytes]:
    if chunking["kind"] == "whole":
        yield text
        return
    data: str | bytes = text.encode() if chunking["kind"] == "byte_cuts" else text
    cuts = range(chunking["n"], len(data), chunking["n"]) if chunking["kind"] == "every" else chunking["at"]
    edges = [0, *cuts, len(data)]
    for start, end in pairwise(edges):
        yield data[start:end]


def stream(parts: Iterator[str | bytes] | list[str], dialect: str | None, **options: Any) -> Parsed:
    parser = StreamParser(options.pop("tools", TOOLS), dialect, **options)
    for part in parts:
        parser.feed(part)
    return parser.finish()


def plain(calls: list[ParsedCall]) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in calls]
