"""One call by a person, through the same counter as every other call, and how its result is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence

import click

from toolcrib.askers.deny import deny
from toolcrib.askers.inbox import InboxAsker
from toolcrib.askers.terminal import TerminalAsker
from toolcrib.assemble.asking import Asking
from toolcrib.assemble.crib import Toolcrib
from toolcrib.cli.command import Choices, Form
from toolcrib.cli.ending import Exit, complain, hint
from toolcrib.cli.output import json_text, print_json
from toolcrib.engine.record import DENIALS
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.permission import PermissionRequest
from toolcrib.values.result import ArtifactRef, Block, Image, JsonBlock, Text, ToolResult, result_json
from toolcrib.values.tool import Tool
from toolcrib.values.visible import visible


@frozen
class Asked:
    """What the person asks for."""

    name: str
    arguments: Mapping[str, Json]
    session_id: str | None
    approve: str = "terminal"
    mode: str | None = None
    agent: str = "main"


def call_tool(choices: Choices, tools: Sequence[Tool], asked: Asked) -> Exit:
    """Make the call and tell its result."""
    session_id, result = asyncio.run(_call(choices, tools, asked))
    if choices.form is Form.JSON:
        print_json({**result_json(result), "session_id": session_id})
    else:
        _tell(result)
    if result.reason is None:
        return Exit.DONE
    return Exit.DENIED if result.reason in DENIALS else Exit.NOT_SO


async def _call(choices: Choices, tools: Sequence[Tool], asked: Asked) -> tuple[str, ToolResult]:
    async with (
        Toolcrib.open(home=choices.home, project=choices.project, tools=tools, asker=_asker(asked.approve)) as crib,
        crib.run(
            asked.agent, mode=asked.mode, caller="person", session=asked.session_id, workspace=choices.project
        ) as run,
    ):
        return run.origin.session_id, await run.call(asked.name, asked.arguments)


def _asker(approve: str) -> Asking:
    """Who is asked: the person at the terminal, whoever looks into the inbox, or nobody."""
    if approve == "inbox":
        return InboxAsker(notifiers=(("terminal", _say_that_it_waits),))
    return deny if approve == "deny" else TerminalAsker(sys.stdin, sys.stderr)


async def _say_that_it_waits(request: PermissionRequest) -> None:
    hint(f"toolcrib: {visible(request.tool)} waits for: toolcrib approvals approve {request.request_id}")


def _tell(result: ToolResult) -> None:
    """What came out on standard output, also of a call that failed half-way; what went wrong beside it."""
    error = result.error
    for block in result.content:
        if error is None or not (isinstance(block, Text) and block.text == error.message):
            _print_block(block)
    for artifact_id in dict.fromkeys(result.artifacts):
        hint(f"toolcrib: the whole result is kept; see toolcrib artifacts show {artifact_id}")
    if result.metadata.get("ends_with") == "run":
        hint("toolcrib: this has ended again: it lives as long as the run that started it, and this call was all of it")
    if error is not None and not (sys.stdout.isatty() and f"[{error.message}]" in result.text):
        complain(error.message)


def _print_block(block: Block) -> None:
    match block:
        case Text(text):
            click.echo(_shown(text))
        case JsonBlock(data=data):
            click.echo(json_text(data, indent=2))
        case ArtifactRef(summary=summary):
            click.echo(_shown(summary))
        case Image(mime_type=mime_type):
            click.echo(_shown(f"[{mime_type}]"))
        case _:
            click.echo(f"[{block.type}]")


def _shown(text: str) -> str:
    """Text as it is into a pipe; on a terminal nothing in it may act."""
    return visible(text, keep="\n\t") if sys.stdout.isatty() else text
