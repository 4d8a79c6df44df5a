"""`make bench`: the kernel beside raw calls and the peers, interleaved, as ratios. Absolute times are noise.

Every figure is the median of several rounds; in each round every measurement runs once, in its own process, so that
all of them see the same machine. `--only WORD` keeps the lines whose name contains the word.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PEERS = ("pydantic_ai", "fastmcp", "adk", "langgraph", "strands", "openai_agents")
WITH_BYTECODE = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # as it is where programs are installed
Numbers = dict[str, float]
Found = dict[str, Numbers]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One process that prints one line of JSON."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: what is compared, how, and the figure it is held to."""

    words: str
    needs: tuple[str, ...]
    value: Callable[[Found], float]
    limit: float
    at_least: bool = False


def ours(name: str, mode: str, tools: int = 1000) -> Measurement:
    return Measurement(name, (sys.executable, str(HERE / "kernel.py"), mode, "--tools", str(tools)))


def theirs(peer: str, mode: str, tools: int = 1000) -> Measurement:
    python = HERE.parent / ".bench" / peer / "bin" / "python"
    return Measurement(
        f"{peer}.{mode}", (str(python), str(HERE / "peers" / f"{peer}_call.py"), mode, "--tools", str(tools))
    )


MEASUREMENTS = [  # peers whose calls grow with the catalog are measured with 100 tools
    ours("call", "call"),
    theirs("pydantic_ai", "call"),
    ours("crowd", "crowd"),
    ours("journalled", "journalled"),
    ours("wide", "wide"),
    ours("call.2", "call", 2),
    ours("call.10000", "call", 10_000),
    ours("effective", "effective"),
    ours("effective.10000", "effective", 10_000),
    ours("register", "register"),
    ours("register.10000", "register", 10_000),
    theirs("pydantic_ai", "register"),
    ours("advertise", "advertise"),
    ours("imports", "imports"),
    ours("full", "full"),
    ours("concurrent", "concurrent"),
    Measurement("guard", (sys.executable, str(HERE / "guard.py"))),
    *(theirs(peer, "call", 100) for peer in PEERS[1:]),
]

LINES = [
    Line("governed call, no sink, 1,000 tools, in raw calls", ("call",), lambda f: f["call"]["ratio"], 60),
    Line(
        "the same, in pydantic-ai handle_call",
        ("call", "pydantic_ai.call"),
        lambda f: f["call"]["call_us"] / f["pydantic_ai.call"]["call_us"],
        0.6,
    ),
    Line("30-field argument, in our own scalar calls", ("wide",), lambda f: f["wide"]["ratio"], 3),
    Line(
        "64 agents, journalled, in pydantic-ai's bare call",
        ("crowd", "pydantic_ai.call"),
        lambda f: f["crowd"]["call_us"] / f["pydantic_ai.call"]["call_us"],
        1.2,
    ),
    Line("one agent, journalled (normal), in raw calls", ("journalled",), lambda f: f["journalled"]["ratio"], 250),
    Line("one agent, full, a read, in fdatasyncs", ("full",), lambda f: f["full"]["read"], 2.5),
    Line("one agent, full, a write written ahead, in fdatasyncs", ("full",), lambda f: f["full"]["write"], 4.5),
    Line("64 agents, full, events per fdatasync", ("full",), lambda f: f["full"]["rate"], 10, at_least=True),
    Line(
        "call among 10,000 tools, in calls among 2",
        ("call.10000", "call.2"),
        lambda f: f["call.10000"]["call_us"] / f["call.2"]["call_us"],
        1.1,
    ),
    Line("effective set compiled, µs per tool", ("effective",), lambda f: f["effective"]["per_tool_us"], 50),
    Line("one of 10,000 tools changed, ms", ("effective.10000",), lambda f: f["effective.10000"]["change_ms"], 0.2),
    Line(
        "registration, in pydantic-ai's",
        ("register", "pydantic_ai.register"),
        lambda f: f["register"]["register_us"] / f["pydantic_ai.register"]["register_us"],
        0.25,
    ),
    Line(
        "registration of 10,000, per tool, in that of 1,000",
        ("register.10000", "register"),
        lambda f: f["register.10000"]["register_us"] / f["register"]["register_us"],
        1.3,
    ),
    Line("memory per registered tool, KiB", ("register",), lambda f: f["register"]["kib_per_tool"], 12),
    Line("provider list of 1,000 tools, warm, ms", ("advertise",), lambda f: f["advertise"]["warm_ms"], 1),
    Line("provider list of 1,000 tools, cold, ms", ("advertise",), lambda f: f["advertise"]["cold_ms"], 40),
    Line("import toolcrib, in import asyncio, sqlite3", ("imports",), lambda f: f["imports"]["import_ratio"], 2),
    Line("import of the front door, in the same", ("imports",), lambda f: f["imports"]["front_door_ratio"], 2),
    Line("toolcrib tools list, in a bare click + sqlite3", ("imports",), lambda f: f["imports"]["cli_ratio"], 3),
    Line(
        "10,000 concurrent calls, right answers",
        ("concurrent",),
        lambda f: f["concurrent"]["right"],
        10_000,
        at_least=True,
    ),
    Line("contract check in each call, µs", ("guard",), lambda f: f["guard"]["check_us"], 0.5),
    Line("10,000 contracts beside their baselines, ms", ("guard",), lambda f: f["guard"]["compare_ms"], 300),
    Line("10,000 concurrent calls, MiB resident", ("concurrent",), lambda f: f["concurrent"]["rss_mib"], 1024),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="keep only the lines whose text contains this")
    options = parser.parse_args()
    lines = [line for line in LINES if options.only in line.words]
    needed = {name for line in lines for name in line.needs}
    wanted = [each for each in MEASUREMENTS if each.name in needed or (not options.only and each.name not in needed)]
    found = gather(wanted, options.rounds)
    over = show(lines, found)
    if not options.only:
        show_peers(found)
    return 1 if over else 0


def gather(wanted: list[Measurement], rounds: int) -> Found:
    """Run every measurement once per round; the median of each figure."""
    collected: dict[str, list[Numbers]] = {each.name: [] for each in wanted}
    for number in range(rounds):
        for each in wanted:
            print(f"\rround {number + 1} of {rounds}: {each.name:<28}", end="", file=sys.stderr, flush=True)
            done = subprocess.run(each.command, capture_output=True, text=True, env=WITH_BYTECODE)
            if done.returncode:
                raise SystemExit(f"\n{each.name} failed:\n{done.stderr}")
            collected[each.name].append(json.loads(done.stdout.splitlines()[-1]))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return {name: medians(runs) for name, runs in collected.items()}


def medians(runs: list[Numbers]) -> Numbers:
    return {
        key: statistics.median(run[key] for run in runs)
        for key, value in runs[0].items()
        if isinstance(value, (int, float))
    }


def show(lines: list[Line], found: Found) -> int:
    """Print the table; returns how many lines miss their figure."""
    over = 0
    print(f"{'':56}{'measured':>10}{'held to':>12}")
    for line in lines:
        value = line.value(found)
        fine = value >= line.limit if line.at_least else value <= line.limit
        over += not fine
        sign = "≥" if line.at_least else "≤"
        print(f"{line.words:56}{value:>10.2f}{sign + ' ' + format(line.limit, 'g'):>12}{'' if fine else '  MISSED'}")
    return over


def show_peers(found: Found) -> None:
    print("\none tool call without a model, in raw calls of the same process")
    rows = [("toolcrib (policy, hooks, limits, contract)", found["call"]["ratio"])]
    rows += [(f"{peer} (100 tools)", found[f"{peer}.call"]["ratio"]) for peer in PEERS if f"{peer}.call" in found]
    for name, ratio in sorted(rows, key=lambda row: row[1]):
        print(f"  {name:54}{ratio:>10.0f}")


if __name__ == "__main__":
    sys.exit(main())
