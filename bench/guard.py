"""What the guard costs: the check in each call, and ten thousand contracts beside their baselines.

    .venv/bin/python bench/guard.py

Prints one line of JSON. Times are CPU times of all threads, the least of several rounds. The check is what
`Run.check_contract` takes, an empty method call of the same shape taken off. `compare` includes making the
fingerprints, reading the baselines from a SQLite store, and judging every tool; `judged` is the judging alone.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from toolcrib import Toolcrib
from toolcrib.catalog.neighbours import Neighbours
from toolcrib.catalog.poison import suspicions
from toolcrib.values.contract import Basis
from toolcrib.values.identity import Principal, Standing, Surface
from toolcrib.values.spec import Source, ToolSpec, ToolType
from toolcrib.values.tool import Tool

TOOLS = 10_000
CALLS = 200_000
ROUNDS = 5
OPERATOR = Principal("bench", Standing.OPERATOR)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = {"toolsets": [], "guard": {"enforcement": "enforce"}}
        async with Toolcrib.open(home=Path(folder), config=config, tools=tools()) as crib:
            guard = crib.runtime.contracts
            names = list(crib.runtime.registry.snapshot)
            await guard.approve(Surface.RUNTIME, names, Basis.SNAPSHOT, OPERATOR, "")
        compared = [await compare(Path(folder)) for _ in range(ROUNDS)]
        async with Toolcrib.open(home=Path(folder), config=config, tools=tools()) as crib, crib.run() as run:
            slot = run.tools.require("mcp.server0.tool0")
            nothing = Nothing()
            checks = [each(lambda: run.check_contract(slot)) - each(lambda: nothing.check(slot)) for _ in range(ROUNDS)]
    print(
        json.dumps(
            {
                "check_us": max(min(checks), 0.0) * 1e6,
                "compare_ms": min(whole for whole, _ in compared) * 1e3,
                "judged_ms": min(judged for _, judged in compared) * 1e3,
                "lint_us": lint() * 1e6,
            }
        )
    )


async def compare(folder: Path) -> tuple[float, float]:
    """Seconds for everything, and for the judging alone."""
    config = {"toolsets": [], "guard": {"enforcement": "enforce"}}
    async with Toolcrib.open(home=folder, config=config, tools=tools()) as crib:
        guard = crib.runtime.contracts
        started = time.process_time()
        await guard.read(Surface.RUNTIME)
        found = [guard.judge(tool, Surface.RUNTIME) for tool in crib.runtime.registry.snapshot.values()]
        whole = time.process_time() - started
        started = time.process_time()
        found += [guard.judge(tool, Surface.RUNTIME) for tool in crib.runtime.registry.snapshot.values()]
        assert {judged.status.value for judged in found} == {"matched"}
        return whole, time.process_time() - started


class Nothing:
    """A method that does nothing, to be taken off what a check takes."""

    def check(self, slot: object) -> None: ...


def each(act: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(CALLS):
        act()
    return (time.process_time() - started) / CALLS


def lint() -> float:
    specs = [tool.spec for tool in tools()[:2_000]]
    started = time.process_time()
    neighbours = Neighbours.of(specs)
    assert not any(suspicions(spec, neighbours) for spec in specs)
    return (time.process_time() - started) / len(specs)


def tools() -> list[Tool]:
    return [tool(number) for number in range(TOOLS)]


def tool(number: int) -> Tool:
    text = {"type": "string", "description": "What to look for, in the words of the person who asked."}
    schema = {
        "type": "object",
        "properties": {
            "query": text,
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "kind": {"enum": ["a"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    spec = ToolSpec(
        name=f"mcp.server{number // 20}.tool{number % 20}",
        description=f"Search collection {number} and return what fits best, the newest first.",
        input_schema=schema,
        tags=frozenset({"mcp", "network", "write"}),
        tool_type=ToolType.MCP,
        source=Source("mcp", f"server{number // 20}", "1"),
    )
    return Tool(spec, lambda context, arguments: None)


if __name__ == "__main__":
    asyncio.run(main())
