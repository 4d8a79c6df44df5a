"""The command line: one file per command group, each loading what it needs when it runs.

Here: reading arguments, choosing a form of output, telling errors in one line. Not here: anything that decides about
tools; every command goes through `assemble`, the store or the configuration, as any other program would.
"""

from __future__ import annotations

import gc


def main() -> int:
    """Run the program with this process's arguments; returns the exit code."""
    gc.set_threshold(50_000)  # loading makes many objects that stay: looking through them again and again costs 7 %
    try:
        from toolcrib.cli.program import run

        return run()
    except KeyboardInterrupt:  # before or after the program had its own hands on it
        return 130
