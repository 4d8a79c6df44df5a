"""`toolcrib bench`: what a governed call costs on this machine, in a few seconds."""

from __future__ import annotations

import asyncio

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.output import print_json, print_table


@click.command(
    cls=Command,
    epilog=examples("toolcrib bench", "toolcrib bench --calls 5000"),
    json="`{calls, rounds, measured}`: each measure `{what, cpu_us, wall_us, times_raw}` per call, the median of the "
    "rounds; `times_raw` compares CPU time of all threads.",
)
@click.option(
    "--calls", type=click.IntRange(100, 1_000_000), default=2_000, show_default=True, metavar="N", help="Calls a round."
)
@click.pass_obj
def bench(choices: Choices, calls: int) -> None:
    """Measure what a governed call costs on this machine.

    Uses a store of its own, thrown away afterwards. The comparison with other libraries is `make bench` in the source.
    """
    from toolcrib.cli.measuring import ROUNDS, measure

    measured = asyncio.run(measure(calls))
    raw = measured[0].cpu
    if choices.form is Form.JSON:
        told = [
            {
                "what": each.what,
                "cpu_us": round(each.cpu, 3),
                "wall_us": round(each.wall, 3),
                "times_raw": round(each.cpu / raw, 1),
            }
            for each in measured
        ]
        print_json({"calls": calls, "rounds": ROUNDS, "measured": told})
        return
    rows = [
        (each.what, f"{each.cpu:.1f} µs", f"{each.cpu / raw:.0f}", f"{each.wall:.1f} µs", each.meaning)
        for each in measured
    ]
    print_table(("call", "cpu", "× raw", "wall", "what it is"), rows)
