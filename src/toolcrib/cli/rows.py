"""Rows of the catalog: what a caller would find on a surface, and how each tool stands to its contract."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolcrib.cli.catalogue import Loaded, Viewpoint, entries_of
from toolcrib.cli.command import Choices, Form
from toolcrib.cli.ending import hint
from toolcrib.cli.guarding import Kept, Look, contract_fields, crib_of, standings
from toolcrib.cli.listing import entry_json
from toolcrib.cli.output import print_json, print_table
from toolcrib.values.identity import Surface
from toolcrib.values.json import Json

_COLUMNS = ("tool", "family", "aliases", "effect", "call", "plan", "contract", "fingerprint", "description")
_FINGERPRINTS = ("contract_fingerprint", "registered_contract_fingerprint")
_SHORT = 12


def print_rows(
    choices: Choices, modules: tuple[str, ...], agent: str | None, mode: str | None, surface: str, everything: bool
) -> None:
    """Every tool as a run of this agent in this mode would have it, MCP servers included."""
    found = asyncio.run(_rows(choices, Viewpoint(agent, mode), Look(Surface(surface), modules)))
    shown = [(entry, kept) for entry, kept in found if everything or entry.out is None]
    if choices.form is Form.JSON:
        print_json([{**entry_json(entry), **contract_fields(kept)} for entry, kept in shown])
    elif shown:
        print_table(_COLUMNS, [_line(*each) for each in shown])
    else:
        hint("toolcrib: no tool is there for this caller; --all says why")


async def _rows(choices: Choices, viewpoint: Viewpoint, look: Look) -> list[tuple[Loaded, Kept]]:
    async with crib_of(choices, look.modules) as crib:
        stands = {each.row.name: each for each in await standings(crib, look)}
        caller = "person" if viewpoint.agent is None else "model"
        scope = crib.run(viewpoint.agent or "main", viewpoint.mode, caller=caller, surface=look.surface.value)
        found = entries_of(scope.effective())
        return [(entry, stands[entry.spec.name]) for entry in found]


def _line(entry: Loaded, kept: Kept) -> tuple[str, ...]:
    row, spec = kept.row, entry.spec
    stands = row.status.value + ("" if row.change is None else f", {row.change.value}")
    said = spec.description.strip().partition("\n")[0] if entry.out is None else entry.out
    verdict = entry.decision.verdict.name.lower() if entry.out is None else "out"
    facts = contract_fields(kept)
    family, aliases = str(facts["family"] or "-"), ", ".join(spec.aliases) or "-"
    plan = "yes" if kept.plan else "no"
    return spec.name, family, aliases, spec.effect.value, verdict, plan, stands, _fingerprints(facts), said


def _fingerprints(facts: Mapping[str, Json]) -> str:
    """The tool as it is, and as it was registered where that is another."""
    now, registered = (str(facts[name] or "-")[:_SHORT] for name in _FINGERPRINTS)
    return now if now == registered else f"{now} (registered {registered})"
