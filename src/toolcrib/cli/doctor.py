"""`toolcrib doctor`: what is in order here, what is not, and the command that mends it."""

from __future__ import annotations

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.ending import Exit
from toolcrib.cli.output import counted, print_json, print_table


@click.command(
    cls=Command,
    epilog=examples("toolcrib doctor", "toolcrib doctor --project .", "toolcrib doctor --sandbox"),
    json="`{ok, findings}`: each finding `{subject, state, finding, fix}`, `state` is ok, note or wrong; `ok` is false "
    "when anything is wrong. With `--sandbox`: `{ok, mode, backend, holds, missing, attempts}`, each attempt "
    "`{name, held, detail}`.",
)
@click.option("--sandbox", is_flag=True, help="Try to escape the sandbox of commands, and tell what holds here.")
@click.pass_obj
def doctor(choices: Choices, sandbox: bool) -> Exit:
    """Check the home folder, its settings and its store.

    Changes nothing. Ends with exit code 1 when something is wrong.

    With --sandbox, commands are run that try to get out of the sandbox they are in. It ends with exit code 1 when one
    gets out, or when tools.sandbox requires a sandbox that this machine does not have.
    """
    if sandbox:
        from toolcrib.cli.sandbox import try_sandbox

        return try_sandbox(choices)
    from toolcrib.cli.examination import State, examine

    findings = examine(choices)
    wrong = sum(finding.state is State.WRONG for finding in findings)
    if choices.form is Form.JSON:
        told = [
            {"subject": each.subject, "state": each.state.value, "finding": each.finding, "fix": each.fix or None}
            for each in findings
        ]
        print_json({"ok": not wrong, "findings": told})
    else:
        rows = [(each.subject, each.state.value, each.finding) for each in findings]
        print_table(("subject", "state", "finding"), rows)
        for each in findings:
            if each.fix:
                click.echo(f"\n{each.subject}: {each.fix}")
        click.echo(f"\n{counted(wrong, 'thing')} to put right." if wrong else "\nAll is well.")
    return Exit.NOT_SO if wrong else Exit.DONE
