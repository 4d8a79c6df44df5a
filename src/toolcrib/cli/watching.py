"""`tools list --watch`: contracts, printed again as the files that tools come from change."""

from __future__ import annotations

import asyncio

import click

from toolcrib.cli.command import Choices, Form
from toolcrib.cli.ending import hint
from toolcrib.cli.guard import print_changes
from toolcrib.cli.guarding import Kept, Look, changes, crib_of, standing_json, standings
from toolcrib.cli.output import print_json_line

PERIOD = 0.5


async def follow_contracts(choices: Choices, look: Look) -> None:
    """Print every tool beside its contract, and then each whose contract changes, until Ctrl-C."""
    async with crib_of(choices, look.modules, {"tools": {"watch": True}}) as crib:
        known: dict[str, Kept] = {}
        aside: dict[str, str] = {}
        while True:
            now = {each.row.name: each for each in await standings(crib, look)}
            for name, each in now.items():
                if name not in known or _state(known[name]) != _state(each):
                    _print_row(choices, each)
                    if choices.form is Form.TEXT and (changed := await changes(crib, each.row)):
                        print_changes(each, changed)
            for name in known.keys() - now.keys():
                hint(f"toolcrib: {name} is gone")
            wrong = {} if crib.outside is None else dict(crib.outside.aside)
            for place in wrong.keys() - {place for place in aside if aside[place] == wrong.get(place)}:
                hint(f"toolcrib: set aside: {wrong[place]}")
            known, aside = now, wrong
            await asyncio.sleep(PERIOD)


def _state(each: Kept) -> tuple[str, str | None]:
    return each.row.status.value, None if each.row.tool is None else each.row.tool.fingerprint


def _print_row(choices: Choices, each: Kept) -> None:
    if choices.form is Form.JSON:
        print_json_line(standing_json(each))
        return
    row = each.row
    stands = row.status.value + ("" if row.change is None else f", {row.change.value}")
    click.echo(f"{row.name}  {stands}  {'' if row.tool is None else row.tool.fingerprint[:19]}")
