"""`toolcrib doctor --sandbox`: attempts to get out of the sandbox, and what became of each."""

from __future__ import annotations

import re

import click

from toolcrib.cli.command import Choices, Form
from toolcrib.cli.ending import Exit
from toolcrib.cli.output import counted, print_json, print_table
from toolcrib.config.sections import SandboxMode
from toolcrib.executors.sandbox.selftest import Selftest, run_selftest_sync

ERRNO = re.compile(r"\[Errno \d+\] ([A-Z][^:]*)?")
WITHOUT = {
    SandboxMode.OFF: "Commands run without one: tools.sandbox is off.",
    SandboxMode.AUTO: "Commands run without one: tools.sandbox is auto, and takes what there is.",
    SandboxMode.REQUIRE: "Commands do not run at all: tools.sandbox requires one.",
}


def try_sandbox(choices: Choices) -> Exit:
    """Try every escape, and tell what holds."""
    mode = choices.load().tools.sandbox
    test = run_selftest_sync()
    ok = test.holds or (test.backend is None and mode is not SandboxMode.REQUIRE)
    if choices.form is Form.JSON:
        attempts = [{"name": row.name, "held": row.held, "detail": row.detail} for row in test.rows]
        print_json(
            {
                "ok": ok,
                "mode": mode.value,
                "backend": test.backend,
                "holds": test.holds,
                "missing": list(test.missing),
                "attempts": attempts,
            }
        )
    elif test.backend is None:
        _tell_missing(test, mode)
    else:
        _tell(test, mode)
    return Exit.DONE if ok else Exit.NOT_SO


def _short(detail: str) -> str:
    """What the system answered, without the names and numbers of the attempt."""
    kind, _, rest = detail.partition("Error: ")
    if kind in ("Index", "Key"):
        return "there was nothing to find"
    said = ERRNO.match(rest)
    return (said[1] or "not permitted").lower() if said else rest or detail


def _tell_missing(test: Selftest, mode: SandboxMode) -> None:
    click.echo("This machine has no sandbox for commands.")
    for why in test.missing:
        click.echo(f"- {why}")
    click.echo(f"\n{WITHOUT[mode]}")


def _tell(test: Selftest, mode: SandboxMode) -> None:
    rows = [
        ("held", row.name, _short(row.detail)) if row.held else ("GOT OUT", row.name, row.detail) for row in test.rows
    ]
    print_table(("sandbox", "attempt to", "what was seen"), rows)
    escaped = sum(not row.held for row in test.rows)
    held = f"{escaped} of {counted(len(test.rows), 'attempt')} got out" if escaped else "all attempts were held"
    click.echo(f"\n{test.backend}: {held}. The mode is {mode.value} (tools.sandbox).")
    for why in test.missing:
        click.echo(f"- {why}")
