"""What registration costs: CPU time and memory per tool made from a typed function, and one change among many.

    .venv/bin/python bench/registration.py [--tools 1000 10000] [--json]

Times are CPU times of all threads. `first call` is the cost that registration leaves for later: compiling a tool's
schemas when it is first called. Memory is what stays allocated per tool, functions themselves not counted.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from measure import Function, make_functions
from toolcrib.catalog.registry import Registry

ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--resident", type=int, help="only the resident bytes of so many tools, for a fresh process")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of a table")
    options = parser.parse_args()
    if options.resident:
        print(_resident_growth(options.resident))
        return
    figures = {count: measure(count) for count in options.tools}
    if options.json:
        print(json.dumps(figures))
        return
    for name in next(iter(figures.values())):
        print(f"{name:34}", *(f"{figures[count][name]:>10.2f} ({count:,} tools)" for count in options.tools))


def measure(count: int) -> dict[str, float]:
    """Every figure for one number of tools; medians of several rounds."""
    registered = [_cpu(lambda functions=make_functions(count): Registry().add(functions)) for _ in range(ROUNDS)]
    registry = Registry()
    registry.add(make_functions(count))
    compiled = _cpu(lambda: [registry.checks(tool) for tool in registry.snapshot.values()])
    return {
        "registration, us per tool": statistics.median(registered) / count * 1e6,
        "first call, us per tool": compiled / count * 1e6,
        "one change among them, ms": statistics.median(_change(registry) for _ in range(5)) * 1e3,
        "memory, KiB per tool": _memory(count) / count / 1024,
        "and its validators, KiB": _validators(count) / count / 1024,
    }


def _change(registry: Registry) -> float:
    """Seconds for one change, of ten tools added and removed one by one."""
    (extra,) = _renamed(make_functions(1))

    def change() -> None:
        for _ in range(10):
            registry.add([extra])
            registry.remove("extra")

    return _cpu(change) / 20


def _renamed(functions: list[Function]) -> list[Function]:
    for function in functions:
        function.__name__ = "extra"
    return functions


def _memory(count: int) -> float:
    functions = make_functions(count)
    gc.collect()
    tracemalloc.start()
    registry = Registry()
    registry.add(functions)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


def _validators(count: int) -> float:
    """By resident size in a fresh process, because a validator lives outside Python's allocator."""
    command = [sys.executable, __file__, "--resident", str(count)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _resident_growth(count: int) -> int:
    """What compiling every tool's schemas adds, once memory that was free before is given back."""
    registry = Registry()
    registry.add(make_functions(count))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = _resident()
    checks = [registry.checks(tool) for tool in registry.snapshot.values()]
    return (_resident() - before) if checks else 0


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _cpu(act: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    act()
    return time.process_time() - start


if __name__ == "__main__":
    main()
