"""`toolcrib hooks`: what watches calls here, and whether it would answer."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import Exit, NotSo
from toolcrib.cli.output import print_json, print_table

if TYPE_CHECKING:
    from toolcrib.config.hooks import HookEntry
    from toolcrib.values.json import Json


@click.group(cls=Group)
def hooks() -> None:
    """Look at the hooks of hooks.json.

    Hooks hear of calls and other occasions and may veto them. A file that is broken denies everything that it could
    have governed.
    """


@hooks.command(
    "list",
    epilog=examples("toolcrib hooks list", "toolcrib hooks list --json"),
    json="An array: `{name, event, type, runs, matcher, timeout_ms, on_error, place}`.",
)
@click.pass_obj
def list_hooks(choices: Choices) -> None:
    """List the hooks in the order in which they are asked."""
    entries = _entries(choices)
    if choices.form is Form.JSON:
        print_json([_told(entry) for entry in entries])
    elif not entries:
        click.echo("There are no hooks.")
    else:
        rows = [(each.event, each.name, _runs(each), f"{each.timeout_ms} ms", each.on_error) for each in entries]
        print_table(("event", "name", "runs", "limit", "on error"), rows)


@hooks.command(
    "test",
    epilog=examples('toolcrib hooks test watcher --tool notes.read --args \'{"title": "today"}\''),
    json="`{name, decision, reason, problem, duration_ms}`; `problem` is null when the hook answered.",
)
@click.argument("name")
@click.option("--tool", "tool_name", default="example.tool", metavar="NAME", help="The tool that it hears of.")
@click.option("--args", "arguments", default="{}", metavar="JSON", help="The arguments that it hears of.")
@click.pass_obj
def try_hook(choices: Choices, name: str, tool_name: str, arguments: str) -> Exit:
    """Tell one hook of a made-up call, and show what it answers. Nothing else runs, nothing is recorded.

    Ends with exit code 1 when the hook fails, with 3 when it denies.
    """
    from toolcrib.values.json import JsonError, parse_json

    entry = next((each for each in _entries(choices) if each.name == name), None)
    if entry is None:
        raise NotSo(f"there is no hook {name[:80]!r}; toolcrib hooks list names them")
    try:
        given = parse_json(arguments)
    except JsonError as error:
        raise click.UsageError(f"--args: {error}") from error
    told = asyncio.run(_ask(choices, entry, {"event": entry.event.value, "tool": tool_name, "arguments": given}))
    if choices.form is Form.JSON:
        print_json(told)
    else:
        click.echo(f"{told['problem'] or told['decision']}{': ' + str(told['reason']) if told['reason'] else ''}")
    if told["problem"]:
        return Exit.NOT_SO
    return Exit.DENIED if told["decision"] == "deny" else Exit.DONE


async def _ask(choices: Choices, entry: HookEntry, occasion: dict[str, Json]) -> dict[str, Json]:
    from toolcrib.assemble.hooks import declared_hook
    from toolcrib.engine.redact import Redactor
    from toolcrib.executors.process import ProcessRunner

    processes = ProcessRunner()
    began, decision, reason, problem = time.monotonic(), None, "", None
    try:
        answer = await declared_hook(entry, choices.load(), Redactor(), processes).hear(occasion)
        if answer is not None:
            decision, reason = answer.decision.value, answer.reason
    except Exception as error:  # whatever a hook raises is what was asked about
        problem = f"{type(error).__name__}: {error}"
    finally:
        await processes.close()
    spent = round((time.monotonic() - began) * 1_000, 1)
    return {"name": entry.name, "decision": decision, "reason": reason, "problem": problem, "duration_ms": spent}


def _entries(choices: Choices) -> tuple[HookEntry, ...]:
    from toolcrib.config.hooks import read_hooks

    return read_hooks(choices.load().home.hooks)


def _runs(entry: HookEntry) -> str:
    return " ".join(entry.argv) or entry.url or entry.function


def _told(entry: HookEntry) -> dict[str, Json]:
    matcher = entry.matcher
    return {
        "name": entry.name,
        "event": entry.event.value,
        "type": entry.type.value,
        "runs": _runs(entry),
        "matcher": {"tool": matcher.tool, "tag": matcher.tag, "path_prefix": matcher.path_prefix},
        "timeout_ms": entry.timeout_ms,
        "on_error": entry.on_error.value,
        "place": entry.place,
    }
