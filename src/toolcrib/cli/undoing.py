"""Undoing calls by hand: what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolcrib.assemble.hands import path_rules_of, workspace_of
from toolcrib.cli.command import Choices, Form
from toolcrib.cli.ending import Exit
from toolcrib.cli.output import print_json, print_table
from toolcrib.cli.records import records
from toolcrib.workspace.undo import Outcome, undo


async def undo_calls(choices: Choices, call_ids: Sequence[str]) -> Exit:
    """Undo, and tell it call by call."""
    settings = choices.load()
    workspace = workspace_of(settings, choices.project or Path.cwd(), None, path_rules_of(settings))
    try:
        async with records(choices) as store:
            done = await undo(call_ids, documents=store, artifacts=store.artifacts, workspace=workspace)
    finally:
        workspace.close()
    if choices.form is Form.JSON:
        print_json(
            [
                {"call_id": each.call_id, "path": each.path, "outcome": each.outcome.value, "message": each.message}
                for each in done
            ]
        )
    else:
        print_table(("call", "outcome", "what"), [(each.call_id, each.outcome.value, each.message) for each in done])
    return Exit.DONE if all(each.outcome is Outcome.UNDONE for each in done) else Exit.NOT_SO
