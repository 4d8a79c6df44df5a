"""How fast every text format is read, whether that is linear, and how much memory it takes.

    .venv/bin/python bench/dialects/measure.py                    all formats, as a table
    .venv/bin/python bench/dialects/measure.py hermes glm45       some formats
    .venv/bin/python bench/dialects/measure.py --hostile          texts made to be slow
    .venv/bin/python bench/dialects/measure.py --json             one line of JSON per format

Times are CPU times, the best of a few rounds. A limit that is missed is marked and makes the exit status 1.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass

from toolcrib.dialects import ParsedCall, StreamParser, parse, render_calls
from toolcrib.dialects.formats import FORMATS

LINE = 'def f(x):  # 3 < 5 and "quoted" {x} [y]\n    return x + 1\n'
STRING = {"type": "string"}
TOOL = {
    "type": "function",
    "function": {
        "name": "write_log",
        "parameters": {"type": "object", "properties": {"path": STRING, "body": STRING}},
    },
}
MOST_RATIO, LEAST_DELTAS, LEAST_MEGABYTES, MOST_MEMORY = 2.3, 250_000, 20.0, 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured for one format."""

    dialect: str
    ratio_1: float
    ratio_4: float
    deltas_1: float
    deltas_4: float
    megabytes: float
    megabytes_2mb: float
    deltas_2mb_1: float
    deltas_2mb_4: float
    parallel_megabytes: float
    parallel_ratio: float
    parallel_deltas_1: float
    parallel_deltas_4: float
    small_megabytes: float
    memory: float
    memory_streamed: float
    parallel_memory: float
    parallel_memory_streamed: float

    def missed(self) -> list[str]:
        over = {
            "ratio_1": MOST_RATIO,
            "ratio_4": MOST_RATIO,
            "parallel_ratio": MOST_RATIO,
            "memory": MOST_MEMORY,
            "memory_streamed": MOST_MEMORY,
            "parallel_memory": MOST_MEMORY,
            "parallel_memory_streamed": MOST_MEMORY,
        }
        under = {
            "deltas_1": LEAST_DELTAS,
            "deltas_4": LEAST_DELTAS,
            "megabytes": LEAST_MEGABYTES,
            "megabytes_2mb": LEAST_MEGABYTES,
            "deltas_2mb_1": LEAST_DELTAS,
            "deltas_2mb_4": LEAST_DELTAS,
            "parallel_megabytes": LEAST_MEGABYTES,
            "small_megabytes": LEAST_MEGABYTES,
            "parallel_deltas_1": LEAST_DELTAS,
            "parallel_deltas_4": LEAST_DELTAS,
        }
        values = asdict(self)
        return [key for key, most in over.items() if values[key] > most] + [
            key for key, least in under.items() if values[key] < least
        ]


def measure(dialect: str, size: int) -> Row:
    small, large, huge = (one_call(dialect, length) for length in (size, 2 * size, 2_000_000))
    many, twice, tiny = calls(dialect, 1000, LINE * 5), calls(dialect, 2000, LINE * 5), calls(dialect, 1000, LINE)
    whole = best_of_each([lambda t=t: parse(t, [TOOL], dialect) for t in (many, twice, tiny)])
    streamed = {n: best_of_each([lambda t=t, n=n: feed(t, dialect, n) for t in (small, large)]) for n in (1, 4)}
    return Row(
        dialect,
        streamed[1][1] / streamed[1][0],
        streamed[4][1] / streamed[4][0],
        len(large) / streamed[1][1],
        len(large) / 4 / streamed[4][1],
        len(large) / best(lambda: parse(large, [TOOL], dialect)) / 1e6,
        len(huge) / best(lambda: parse(huge, [TOOL], dialect)) / 1e6,
        len(huge) / best(lambda: feed(huge, dialect, 1), 1),
        len(huge) / 4 / best(lambda: feed(huge, dialect, 4), 1),
        len(many) / whole[0] / 1e6,
        whole[1] / whole[0],
        len(many) / best(lambda: feed(many, dialect, 1)),
        len(many) / 4 / best(lambda: feed(many, dialect, 4)),
        len(tiny) / whole[2] / 1e6,
        memory(lambda: parse(large, [TOOL], dialect)) / sys.getsizeof(large),
        memory(lambda: feed(large, dialect, 4)) / sys.getsizeof(large),
        memory(lambda: parse(many, [TOOL], dialect)) / sys.getsizeof(many),
        memory(lambda: feed(many, dialect, 4)) / sys.getsizeof(many),
    )


def one_call(dialect: str, size: int) -> str:
    body = (LINE * (size // len(LINE) + 1))[:size]
    return render_calls([ParsedCall("write_log", {"path": "/a.py", "body": body})], dialect)


def calls(dialect: str, count: int, body: str) -> str:
    return render_calls([ParsedCall("write_log", {"path": f"/{n}", "body": body}) for n in range(count)], dialect)


def feed(text: str, dialect: str | None, count: int) -> object:
    parser = StreamParser([TOOL], dialect)
    take = parser.feed
    for start in range(0, len(text), count):
        take(text[start : start + count])
    return parser.finish()


def best(action: Callable[[], object], rounds: int = 3) -> float:
    return best_of_each([action], rounds)[0]


def best_of_each(actions: list[Callable[[], object]], rounds: int = 3) -> list[float]:
    """The best time of each action. They take turns, so that a slow moment does not fall on one of them alone."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, taken in zip(actions, times, strict=True):
            gc.collect()
            began = time.process_time()
            action()
            taken.append(time.process_time() - began)
    return [max(min(taken), 1e-6) for taken in times]


def memory(action: Callable[[], object]) -> float:
    tracemalloc.start()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float(peak)


HOSTILE = [
    '<tool_call>{"',
    '<tool_call>{"name": "write_log", "arguments": {"path": "',
    '{"name": "write_log", "parameters": {"a": ',
    "[write_log(path='",
    "<tool_call><function=write_log><parameter=path>x</function></tool_call>",
    "<tool_call>write_log<arg_key>path</arg_key><arg_value>x</tool_call>",
    '<invoke name="write_log"><parameter name="path">x</invoke>',
    '<tool_call>[{"name": "write_log", "arguments": {"path": "x}}, ',
    '<|channel|>commentary to=functions.write_log<|message|>{"a',
    '[TOOL_CALLS]write_log[ARGS]{"x',
    '<|tool_call>call:write_log{path:<|"|>x',
    ']<]minimax[>[<invoke name="write_log">]<]minimax[>[<a>',
    "<write_log><path>x",
    "<think>",
    ' "<tool_call>',
    "\n> <tool_call>",
    '<tool_call>{"name": "write_log", "arguments": {}}</tool_call><tool_call>{"name": "write_log", "arguments": {"',
    "`",
    "```",
    "~~~",
    "[[[[",
    "{{{{",
    '{"a":',
    "<",
    " ",
    "\\",
    '"',
]


def hostile(size: int) -> int:
    """Time each unit repeated to `size` and to twice that; return how many were not linear."""
    bad = 0
    for unit in HOSTILE:
        for dialect in (None, "hermes", "llama3_json"):
            times = [
                best(lambda n=n, d=dialect, u=unit: feed((u * (n // len(u) + 1))[:n], d, 4), 2)
                for n in (size, 2 * size)
            ]
            ratio = times[1] / times[0]
            late = times[1] / (2 * size) > 40e-6
            bad += late
            mark = "  SLOW" if late else ""
            each = times[1] / (2 * size) * 1e6
            print(f"{unit[:44]!r:48} {dialect or 'found':12} ratio {ratio:4.2f}  {each:5.2f} µs/char{mark}")
    return bad


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("dialects", nargs="*", choices=[*FORMATS, []])
    options.add_argument("--size", type=int, default=200_000)
    options.add_argument("--hostile", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    if chosen.hostile:
        return 1 if hostile(chosen.size // 4) else 0
    bad = 0
    if not chosen.json:
        print(f"{'':79}  2 MB argument          |  1000 calls with 300 bytes of arguments                   | 60 bytes")
        print(f"{'format':18} ratio@1 ratio@4 deltas/s@1 deltas/s@4 memory streamed   MB/s", end="")
        print("    MB/s deltas/s@1 deltas/s@4 |  MB/s ratio deltas/s@1 deltas/s@4 memory streamed |  MB/s")
        print(
            f"{'limit':18} {MOST_RATIO:7.2f} {MOST_RATIO:7.2f} {LEAST_DELTAS:10,} {LEAST_DELTAS:10,} "
            f"{MOST_MEMORY:5.2f}x {MOST_MEMORY:7.2f}x {LEAST_MEGABYTES:6.0f} "
            f"{LEAST_MEGABYTES:7.0f} {LEAST_DELTAS:10,} {LEAST_DELTAS:10,} | "
            f"{LEAST_MEGABYTES:5.1f} {MOST_RATIO:5.2f} {LEAST_DELTAS:10,} {LEAST_DELTAS:10,} "
            f"{MOST_MEMORY:5.2f}x {MOST_MEMORY:7.2f}x | {LEAST_MEGABYTES:5.1f}"
        )
    for dialect in chosen.dialects or FORMATS:
        row = measure(dialect, chosen.size)
        bad += bool(row.missed())
        if chosen.json:
            print(json.dumps(asdict(row)), flush=True)
            continue
        print(
            f"{row.dialect:18} {row.ratio_1:7.2f} {row.ratio_4:7.2f} {row.deltas_1:10,.0f} {row.deltas_4:10,.0f} "
            f"{row.memory:5.2f}x {row.memory_streamed:7.2f}x {row.megabytes:6.0f} "
            f"{row.megabytes_2mb:7.0f} {row.deltas_2mb_1:10,.0f} {row.deltas_2mb_4:10,.0f} | "
            f"{row.parallel_megabytes:5.1f} {row.parallel_ratio:5.2f} {row.parallel_deltas_1:10,.0f} "
            f"{row.parallel_deltas_4:10,.0f} {row.parallel_memory:5.2f}x {row.parallel_memory_streamed:7.2f}x | "
            f"{row.small_megabytes:5.1f} {' '.join(row.missed())}",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
