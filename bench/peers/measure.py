"""One short measurement of one peer, printed as one line of JSON.

    .bench/fastmcp/bin/python bench/peers/fastmcp_call.py call --tools 1000
    .bench/fastmcp/bin/python bench/peers/fastmcp_call.py register
    .bench/fastmcp/bin/python bench/peers/fastmcp_call.py import

`call` sends one tool call (name and JSON text) through the peer's own execution path, beside `await fn(**args)` in the
same process; `register` makes tools from typed functions; `import` starts a fresh interpreter. All times are CPU times
of all threads. A run takes a second or two, so that runs of several peers can be interleaved.
"""

import argparse
import asyncio
import gc
import importlib.metadata
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

ARGUMENTS = {"a": 1, "b": 2}
ARGUMENT_TEXT = json.dumps(ARGUMENTS)
ANSWER = "3"
ROUNDS = 5
SECONDS_PER_ROUND = 0.15

Function = Callable[..., Awaitable[int]]
Call = Callable[[str, str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Peer:
    """What the measurements need to know of one peer. Its functions import the peer, this module never does."""

    name: str
    distribution: str
    imports: str  # the statement of a program that registers and calls tools
    register: Callable[[list[Function]], object]
    open: Callable[[list[Function]], AbstractAsyncContextManager[Call]]
    answer: Callable[[object], object]  # the tool's own value inside what a call returned


def main(peer: Peer) -> None:
    options = _options()
    logging.disable(logging.WARNING)
    match options.mode:
        case "call":
            figures = asyncio.run(measure_call(peer, options.tools, options.iterations))
        case "register":
            figures = measure_register(peer, options.tools)
        case _:
            figures = measure_import(peer.imports)
    version = importlib.metadata.version(peer.distribution)
    print(json.dumps({"peer": peer.name, "version": version, "mode": options.mode, **figures}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["call", "register", "import"])
    parser.add_argument("--tools", type=int, default=1000, help="how many tools are registered")
    parser.add_argument("--iterations", type=int, default=0, help="calls per round; 0 fills about a second in all")
    return parser.parse_args()


async def measure_call(peer: Peer, tools: int, iterations: int) -> dict[str, float]:
    functions = make_functions(tools)
    function, name = functions[tools // 2], functions[tools // 2].__name__
    async with peer.open(functions) as call:
        answer = peer.answer(await call(name, ARGUMENT_TEXT))
        if str(answer) != ANSWER:
            raise SystemExit(f"{peer.name}: the call answered {answer!r}, not {ANSWER}")
        calls, raws = await _interleave(call, function, name, iterations)
    return _call_figures(tools, calls, raws)


async def _interleave(call: Call, function: Function, name: str, iterations: int) -> tuple[list[float], list[float]]:
    """Alternate rounds of the call and of the bare function, so that both see the same machine."""
    count = iterations or _fill(await _time_calls(call, name, 5))
    raw_count = _fill(await time_raw(function, 1000)) // 4
    await _time_calls(call, name, max(1, count // 5))
    gc.collect()
    calls, raws = list[float](), list[float]()
    for _ in range(ROUNDS):
        calls.append(await _time_calls(call, name, count))
        raws.append(await time_raw(function, raw_count))
    return calls, raws


def _fill(seconds_each: float) -> int:
    return max(3, int(SECONDS_PER_ROUND / max(seconds_each, 1e-9)))


async def _time_calls(call: Call, name: str, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        await call(name, ARGUMENT_TEXT)
    return (time.process_time() - start) / count


async def time_raw(function: Function, count: int) -> float:
    arguments = ARGUMENTS
    start = time.process_time()
    for _ in range(count):
        await function(**arguments)
    return (time.process_time() - start) / count


def _call_figures(tools: int, calls: list[float], raws: list[float]) -> dict[str, float]:
    call_us, raw_us = statistics.median(calls) * 1e6, statistics.median(raws) * 1e6
    ratio = round(call_us / raw_us, 1)
    return {"tools": tools, "call_us": round(call_us, 2), "raw_us": round(raw_us, 4), "ratio": ratio}


def measure_register(peer: Peer, tools: int) -> dict[str, float]:
    peer.register(make_functions(10))
    functions = make_functions(tools)
    gc.collect()
    start = time.process_time()
    registered = peer.register(functions)
    spent = time.process_time() - start
    del registered
    return {"tools": tools, "register_us": round(spent / tools * 1e6, 2)}


def measure_import(statement: str) -> dict[str, float]:
    """Import in a fresh interpreter, where nothing that this module needs is loaded yet; bytecode is there already."""
    program = f"import time; start = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache}
        spent = [_import_seconds(program, environment) for _ in range(4)]
    return {"import_ms": round(statistics.median(spent[1:]) * 1e3, 1)}


def _import_seconds(program: str, environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout.split()[-1])


def make_functions(count: int) -> list[Function]:
    """Distinct typed functions with a described parameter each, as a program has them."""
    text = "\n".join(_SOURCE.format(number=number) for number in range(count))
    namespace: dict[str, Function] = {"__name__": "functions"}  # type: ignore[dict-item]
    exec(compile(text, "functions.py", "exec"), namespace)
    return [namespace[f"add_{number}"] for number in range(count)]


_SOURCE = '''
async def add_{number}(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b
'''
