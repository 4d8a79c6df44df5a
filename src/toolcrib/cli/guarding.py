"""Tools beside what was approved of them, for the commands of the guard: gathered, told, approved."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from toolcrib.askers.terminal import user_name
from toolcrib.assemble.crib import SystemClock, Toolcrib, open_store
from toolcrib.catalog.contract import Difference, body_of, differences
from toolcrib.catalog.neighbours import Neighbours
from toolcrib.catalog.poison import Suspicion, suspicions
from toolcrib.cli.command import Choices
from toolcrib.cli.ending import Denied, NotSo
from toolcrib.cli.made import made_changes
from toolcrib.cli.modules import load_tools
from toolcrib.cli.records import has_records, records
from toolcrib.engine.effective import near_names
from toolcrib.engine.guard import Row
from toolcrib.engine.screens import plan_screen
from toolcrib.values.contract import Basis, Lock, SeenEdge, Status
from toolcrib.values.identity import Principal, Standing, Surface
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolType

DRIFTED = frozenset({Status.NEW, Status.MISMATCH, Status.MISSING, Status.BASELINE_ERROR})


@frozen
class Look:
    """What to look at: one surface, with or without tools that reach the network."""

    surface: Surface
    modules: tuple[str, ...] = ()
    web: bool = True


@frozen
class Kept:
    """A row with what only the catalog knows: whether plan mode has the tool, and what it should not say."""

    row: Row
    surface: Surface
    plan: bool
    suspicions: tuple[Suspicion, ...]

    @property
    def drifted(self) -> bool:
        return self.row.status in DRIFTED


async def look_at(choices: Choices, look: Look) -> list[Kept]:
    """Every tool of a surface beside its baseline, by name."""
    async with crib_of(choices, look.modules) as crib:
        return await standings(crib, look)


async def compare(choices: Choices, name: str, look: Look) -> list[tuple[Kept, list[Difference]]]:
    """What differs of one tool, or of all that changed."""
    async with crib_of(choices, look.modules) as crib:
        every = await standings(crib, look)
        wanted = [found(every, name)] if name else [each for each in every if each.row.status is Status.MISMATCH]
        return [(each, changed) for each in wanted if (changed := await changes(crib, each.row)) or each.drifted]


async def take_snapshot(choices: Choices, look: Look, principal: Principal, reason: str) -> tuple[int, list[str]]:
    """Approve all that is there; how many that is, and for which of them that is new."""
    async with crib_of(choices, look.modules) as crib:
        rows = [each.row for each in await standings(crib, look) if each.row.tool is not None]
        seen = {row.name: row.tool for row in rows if row.tool is not None}
        await crib.runtime.contracts.approve(look.surface, list(seen), Basis.SNAPSHOT, principal, reason, seen)
        return len(rows), [row.name for row in rows if row.status is not Status.MATCHED]


async def approve_one(
    choices: Choices, name: str, look: Look, word: tuple[Principal, str], fingerprint: str | None
) -> tuple[Kept, Kept, list[Difference]]:
    """Approve one tool as it is; how it stood before and stands then, and what had changed."""
    async with crib_of(choices, look.modules) as crib:
        before = found(await standings(crib, look), name)
        tool = before.row.tool
        if fingerprint is not None and (tool is None or tool.fingerprint != fingerprint):
            raise NotSo(f"{name} has another fingerprint now: {'none' if tool is None else tool.fingerprint}")
        changed = await changes(crib, before.row)
        seen = {} if tool is None else {name: tool}
        await crib.runtime.contracts.approve(look.surface, [name], Basis.APPROVED, *word, seen)
        after = [each for each in await standings(crib, look) if each.row.name == name]
        return before, (after[0] if after else before), changed


async def edges_of(choices: Choices, scope: str | None) -> tuple[Sequence[SeenEdge], Sequence[Lock]]:
    """Edges and locks; none where nothing was ever recorded."""
    if not has_records(choices.load()):
        return (), ()
    async with records(choices) as store:
        return await store.edges(scope), [each for each in await store.locks() if scope in (None, each.scope)]


async def edge_approved(choices: Choices, edge_id: str, principal: Principal) -> SeenEdge:
    async with records(choices) as store:
        return await store.approve_edge(edge_id, principal)


async def set_lock(choices: Choices, scope: str, principal: Principal, locked: bool) -> None:
    """Lock or open a scope, also before anything was recorded."""
    store = open_store(choices.load(), SystemClock())
    try:
        await (store.lock if locked else store.unlock)(scope, principal)
    finally:
        await store.close()


@asynccontextmanager
async def crib_of(
    choices: Choices, modules: tuple[str, ...], config: Mapping[str, Json] | None = None
) -> AsyncGenerator[Toolcrib, None]:
    """An open crib with every tool it can have; servers are started, and nothing is called."""
    tools = load_tools(modules)
    async with Toolcrib.open(home=choices.home, project=choices.project, config=config, tools=tools) as crib:
        if crib.servers is not None:
            await crib.servers.ready()
        for prepare in crib.runtime.preparations:
            await prepare()
        yield crib


async def standings(crib: Toolcrib, look: Look) -> list[Kept]:
    """Every tool of a surface beside its baseline, by name."""
    guard = crib.runtime.contracts
    rows = [row for row in await guard.rows(look.surface) if look.web or not await _reaches_out(crib, row)]
    neighbours = Neighbours.of(tool.spec for tool in crib.runtime.registry.snapshot.values())
    planned = plan_screen(crib.config.modes.plan_tools)
    return [
        Kept(
            row,
            look.surface,
            row.tool is not None and planned(row.tool.spec) is None,
            ()
            if row.tool is None or row.tool.spec.tool_type is ToolType.BUILTIN
            else tuple(suspicions(row.tool.spec, neighbours)),
        )
        for row in rows
    ]


async def changes(crib: Toolcrib, row: Row) -> list[Difference]:
    """What differs between what was approved and what is there; nothing where there is nothing to compare."""
    if row.tool is None or row.registered is None:
        return []
    made, guard = row.tool.spec.tool_type is ToolType.DYNAMIC, crib.runtime.contracts
    if row.status is not Status.MISMATCH:
        return await made_changes(guard.store, row.tool, None) if made and row.status is Status.NEW else []
    before = await guard.store.contract(row.registered) if row.baseline else body_of(guard.first[row.name])
    if before is None:
        raise NotSo(f"the text of {row.name} as it was approved is not on record; see toolcrib tools show")
    found = differences(before, body_of(row.tool))
    return found + await made_changes(guard.store, row.tool, before) if made else found


def found(every: Sequence[Kept], name: str) -> Kept:
    """The tool of this name; NotSo with the nearest names when there is none."""
    for each in every:
        if each.row.name == name:
            return each
    near = near_names(name, [each.row.name for each in every])
    would_work = f"did you mean {' or '.join(near)}?" if near else "`toolcrib guard tools` names what there is"
    raise NotSo(f"there is no tool {name[:80]!r} on this surface, now or approved; {would_work}")


def principal_of(approved_by: str | None) -> Principal:
    """Who gives their word: the operator that is named, else the person at the terminal."""
    if approved_by is not None:
        return Principal(approved_by, Standing.OPERATOR)
    if not sys.stdin.isatty():
        raise Denied("only a person may approve, and there is no terminal here; name who does with --approved-by NAME")
    return Principal(user_name(), Standing.TERMINAL)


def contract_fields(each: Kept) -> dict[str, Json]:
    """The fields of the catalog that the guard knows."""
    row = each.row
    spec = None if row.tool is None else row.tool.spec
    return {
        "family": None if spec is None else spec.family,
        "aliases": [] if spec is None else list(spec.aliases),
        "plan": each.plan,
        "contract_fingerprint": None if row.tool is None else row.tool.fingerprint,
        "registered_contract_fingerprint": row.registered,
        "contract_status": row.status.value,
        "contract_mismatch": None if row.change is None else row.change.value,
    }


def standing_json(each: Kept) -> dict[str, Json]:
    """A tool as `guard tools --json` prints it."""
    row, baseline = each.row, each.row.baseline
    spec = None if row.tool is None else row.tool.spec
    return {
        "surface": each.surface.value,
        "name": row.name,
        "effect": None if spec is None else spec.effect.value,
        "tags": [] if spec is None else sorted(spec.tags),
        "type": None if spec is None else spec.tool_type.value,
        **contract_fields(each),
        "basis": None if baseline is None else baseline.basis.value,
        "approved_by": None if baseline is None else baseline.principal,
        "approved_at": None if baseline is None else baseline.at,
        "reason": None if baseline is None else baseline.reason,
        "suspicions": [{"kind": one.kind, "place": one.place, "why": one.why} for one in each.suspicions],
    }


def edge_json(seen: SeenEdge) -> JsonObject:
    edge = seen.edge
    return {
        "edge_id": seen.edge_id,
        "scope": edge.scope,
        "source": edge.source,
        "target": edge.target,
        "relation": edge.relation,
        "state": seen.state.value,
        "count": seen.count,
        "first_seen": seen.first_seen,
        "last_seen": seen.last_seen,
        "approved_by": seen.approved_by,
        "approved_at": seen.approved_at,
    }


def lock_json(lock: Lock) -> JsonObject:
    return {"scope": lock.scope, "locked_by": lock.principal, "locked_at": lock.at}


async def _reaches_out(crib: Toolcrib, row: Row) -> bool:
    if row.tool is not None:
        return row.tool.spec.network
    kept = await crib.runtime.store.contract(row.registered or "")
    contract = None if kept is None else kept.get("contract")
    tags = contract.get("tags") if isinstance(contract, dict) else None
    return isinstance(tags, list) and "network" in tags
