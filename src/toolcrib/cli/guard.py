"""`toolcrib guard`: whether tools are still what was approved, and which agents start which."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, TypeVar

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import NotSo, hint
from toolcrib.cli.output import counted, print_heading, print_json, print_table, when
from toolcrib.cli.tools import module_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolcrib.catalog.contract import Difference
    from toolcrib.cli.guarding import Kept, Look
    from toolcrib.values.contract import SeenEdge
    from toolcrib.values.json import Json

F = TypeVar("F", bound="Callable[..., object]")
SURFACES = ("runtime", "gateway", "adapter")
SHAPE = (
    "{surface, name, effect, tags, type, family, aliases, plan, contract_fingerprint, registered_contract_fingerprint, "
    "contract_status, contract_mismatch, basis, approved_by, approved_at, reason, suspicions}"
)
EDGE = (
    "{edge_id, scope, source, target, relation, state, count, first_seen, last_seen, approved_by, approved_at}"
)  # fmt: skip


def surface_option(command: F) -> F:
    """The option that says which baselines are meant."""
    return click.option(
        "--surface", type=click.Choice(SURFACES), default="runtime", show_default=True,
        help="Where the tools are used: each surface has approvals of its own.",
    )(command)  # fmt: skip


def any_surface_option(command: F) -> F:
    """Edges and locks hold on every surface; scripts may name one all the same."""
    return click.option(
        "--surface", type=click.Choice(SURFACES), expose_value=False, help="Taken for any: edges hold on all surfaces."
    )(command)


def web_option(command: F) -> F:
    return click.option(
        "--web", type=click.Choice(["on", "off"]), default="on", show_default=True,
        help="With or without tools that reach the network.",
    )(command)  # fmt: skip


def word_options(command: F) -> F:
    """Who approves, and why."""
    by = click.option("--approved-by", metavar="NAME", help="Who approves, where there is no terminal.")
    why = click.option("--reason", default="", metavar="TEXT", help="Why; kept with the approval.")
    return by(why(command))


def fail_option(command: F) -> F:
    return click.option("--fail-on-drift", is_flag=True, help="End with exit code 1 when anything is not as approved.")(
        command
    )


@click.group(cls=Group)
def guard() -> None:
    """See whether tools are still what was approved, and approve them.

    Tools are gathered as a run would have them: toolsets, modules given here, and MCP servers, which are started.
    Nothing is called.
    """


@guard.command(
    "tools",
    epilog=examples("toolcrib guard tools", "toolcrib guard tools --surface gateway --web off --json"),
    json=f"An array by name: `{SHAPE}`; `contract_status` is unchecked, matched, new, mismatch, missing or "
    "baseline_error, `contract_mismatch` is cosmetic, wording, narrowed, widened or null.",
)
@surface_option
@web_option
@module_option
@fail_option
@click.pass_obj
def list_contracts(choices: Choices, surface: str, web: str, modules: tuple[str, ...], fail_on_drift: bool) -> None:
    """List every tool beside what was approved of it."""
    from toolcrib.cli.guarding import look_at

    every = asyncio.run(look_at(choices, _look(surface, web, modules)))
    _print(choices, every, "no tools are loaded")
    _ending(every, fail_on_drift)


@guard.command(
    epilog=examples("toolcrib guard mismatches", "toolcrib guard mismatches --fail-on-drift --json"),
    json=f"An array by name of those that are not as approved, or that say what they should not: `{SHAPE}`; each of "
    "`suspicions` is `{kind, place, why}`.",
)
@surface_option
@web_option
@module_option
@fail_option
@click.pass_obj
def mismatches(choices: Choices, surface: str, web: str, modules: tuple[str, ...], fail_on_drift: bool) -> None:
    """List tools that are new, changed, missing or suspect.

    A tool is suspect when it says what it should not. One that is not as approved stays listed until it is.
    """
    from toolcrib.cli.guarding import look_at

    every = asyncio.run(look_at(choices, _look(surface, web, modules)))
    wrong = [each for each in every if each.drifted or each.suspicions]
    _print(choices, wrong, "every tool is as it was approved")
    if choices.form is Form.TEXT:
        _print_suspicions(wrong)
    _ending(every, fail_on_drift)


@guard.command(
    epilog=examples("toolcrib guard diff", "toolcrib guard diff mcp.team.send_note --surface gateway"),
    json="An array of `{name, contract_mismatch, differences}`, each difference `{place, before, after}`, where null "
    "means that there is nothing at that place; characters that do not show are written as escapes.",
)
@click.argument("tool", default="")
@surface_option
@module_option
@fail_option
@click.pass_obj
def diff(choices: Choices, tool: str, surface: str, modules: tuple[str, ...], fail_on_drift: bool) -> None:
    """Show what changed since it was approved.

    One TOOL, or all that changed. Nothing that is shown can hide or reorder text.
    """
    from toolcrib.cli.guarding import compare

    pairs = asyncio.run(compare(choices, tool, _look(surface, "on", modules)))
    if choices.form is Form.JSON:
        print_json([_diff_json(each, changed) for each, changed in pairs])
    else:
        for each, changed in pairs:
            print_changes(each, changed)
            _hint_approval(each, surface, modules)
        if not pairs:
            hint("toolcrib: nothing differs from what was approved")
    _ending([each for each, _ in pairs], fail_on_drift)


@guard.command(
    epilog=examples("toolcrib guard snapshot --approved-by ann", "toolcrib guard snapshot --surface gateway --web off"),
    json="`{surface, approved_by, tools, changed}`: how many tools are approved now, and the names of those for which "
    "that is new.",
)
@surface_option
@web_option
@module_option
@word_options
@click.pass_obj
def snapshot(
    choices: Choices, surface: str, web: str, modules: tuple[str, ...], approved_by: str | None, reason: str
) -> None:
    """Approve every tool of a surface as it is now.

    What was approved before stays on record. Tools that are gone stay missing until each is approved as gone.
    """
    from toolcrib.cli.guarding import principal_of, take_snapshot

    principal = principal_of(approved_by)
    count, changed = asyncio.run(take_snapshot(choices, _look(surface, web, modules), principal, reason))
    if choices.form is Form.JSON:
        print_json({"surface": surface, "approved_by": str(principal), "tools": count, "changed": changed})
    else:
        click.echo(f"{counted(count, 'tool')} approved on the surface {surface} by {principal}, {len(changed)} anew.")


@guard.command(
    "approve-contract",
    epilog=examples("toolcrib guard approve-contract runtime mcp.team.send_note --approved-by ann --reason reviewed"),
    json=f"`{SHAPE}`, as it stands now.",
)
@click.argument("surface", type=click.Choice(SURFACES))
@click.argument("tool")
@module_option
@word_options
@click.option("--fingerprint", metavar="HASH", help="Only if the tool still has this fingerprint.")
@click.pass_obj
def approve_contract(
    choices: Choices,
    surface: str,
    tool: str,
    modules: tuple[str, ...],
    approved_by: str | None,
    reason: str,
    fingerprint: str | None,
) -> None:
    """Approve one tool as it is now, or that it is gone.

    Shows what changed. Earlier approvals stay on record and no longer count.
    """
    from toolcrib.cli.guarding import approve_one, principal_of, standing_json

    word = (principal_of(approved_by), reason)
    before, after, changed = asyncio.run(approve_one(choices, tool, _look(surface, "on", modules), word, fingerprint))
    if choices.form is Form.JSON:
        print_json(standing_json(after))
        return
    if changed:
        print_changes(before, changed)
    click.echo(f"{tool} is approved on the surface {surface} by {word[0]}.")


@guard.command(
    epilog=examples("toolcrib guard topology", "toolcrib guard topology --scope subagent --json"),
    json=f"`{{edges, locks}}`: each edge is `{EDGE}`, each lock `{{scope, locked_by, locked_at}}`.",
)
@any_surface_option
@click.option("--scope", metavar="SCOPE", help="Only this scope: subagent or worker.")
@click.pass_obj
def topology(choices: Choices, scope: str | None) -> None:
    """List which agents start which, and what is locked."""
    from toolcrib.cli.guarding import edge_json, edges_of, lock_json

    if scope is not None:
        _check_scope(scope)
    edges, locks = asyncio.run(edges_of(choices, scope))
    if choices.form is Form.JSON:
        print_json({"edges": [edge_json(each) for each in edges], "locks": [lock_json(each) for each in locks]})
        return
    if edges:
        print_table(("edge", "scope", "from", "to", "as", "state", "times", "last"), [_edge_line(one) for one in edges])
    else:
        hint("toolcrib: no agent has started another yet")
    for each in locks:
        click.echo(f"the scope {each.scope} is locked by {each.principal}, {when(each.at)}")


@guard.command(
    "approve-edge",
    epilog=examples("toolcrib guard approve-edge edge_5f0c11d2aa01 --approved-by ann"),
    json=f"`{EDGE}`, as it stands now.",
)
@click.argument("edge_id", metavar="ID")
@any_surface_option
@click.option("--approved-by", metavar="NAME", help="Who approves, where there is no terminal.")
@click.pass_obj
def approve_edge(choices: Choices, edge_id: str, approved_by: str | None) -> None:
    """Approve that one agent starts another."""
    from toolcrib.cli.guarding import edge_approved, edge_json, principal_of

    seen = asyncio.run(edge_approved(choices, edge_id, principal_of(approved_by)))
    if choices.form is Form.JSON:
        print_json(edge_json(seen))
    else:
        click.echo(f"{seen.edge} is approved by {seen.approved_by}.")


@guard.command(
    epilog=examples("toolcrib guard lock subagent --approved-by ann"),
    json="`{scope, locked}`.",
)
@click.argument("scope")
@any_surface_option
@click.option("--approved-by", metavar="NAME", help="Who locks it, where there is no terminal.")
@click.pass_obj
def lock(choices: Choices, scope: str, approved_by: str | None) -> None:
    """Let only approved agents start in a scope.

    Scopes are subagent (children that an agent waits for) and worker.
    """
    _set_lock(choices, scope, approved_by, True)


@guard.command(
    epilog=examples("toolcrib guard unlock subagent --approved-by ann"),
    json="`{scope, locked}`.",
)
@click.argument("scope")
@any_surface_option
@click.option("--approved-by", metavar="NAME", help="Who unlocks it, where there is no terminal.")
@click.pass_obj
def unlock(choices: Choices, scope: str, approved_by: str | None) -> None:
    """Let any agent start in a scope again."""
    _set_lock(choices, scope, approved_by, False)


def print_changes(kept: Kept, changed: Sequence[Difference]) -> None:
    """A change as before and after, place by place."""
    row = kept.row
    print_heading(f"{row.name}  {row.status.value}{'' if row.change is None else f', {row.change.value}'}")
    for each in changed:
        click.echo(f"  {each.place}")
        for sign, text in (("-", each.before), ("+", each.after)):
            for line in () if text is None else text.splitlines():
                click.echo(f"    {sign} {line}")


def _hint_approval(kept: Kept, surface: str, modules: tuple[str, ...]) -> None:
    """How to approve what was shown, and nothing that it becomes meanwhile."""
    tool = kept.row.tool
    if tool is not None and kept.drifted:
        named = "".join(f" --module {shlex.quote(module)}" for module in modules)
        command = f"toolcrib guard approve-contract {surface} {tool.name}{named} --fingerprint {tool.fingerprint}"
        hint(f"  to approve it as shown: {command}")


def _look(surface: str, web: str, modules: tuple[str, ...]) -> Look:
    from toolcrib.cli.guarding import Look
    from toolcrib.values.identity import Surface

    return Look(Surface(surface), modules, web == "on")


def _ending(every: Sequence[Kept], fail_on_drift: bool) -> None:
    drifted = sum(each.drifted for each in every)
    if fail_on_drift and drifted:
        raise NotSo(f"{counted(drifted, 'tool')} not as approved; look: toolcrib guard diff")


def _print(choices: Choices, every: Sequence[Kept], nothing: str) -> None:
    from toolcrib.cli.guarding import standing_json

    if choices.form is Form.JSON:
        print_json([standing_json(each) for each in every])
    elif every:
        print_table(("tool", "effect", "plan", "contract", "approved by"), [_line(each) for each in every])
    else:
        hint(f"toolcrib: {nothing}")


def _line(kept: Kept) -> tuple[str, str, str, str, str]:
    row = kept.row
    stands = row.status.value + ("" if row.change is None else f", {row.change.value}")
    by = "-" if row.baseline is None else f"{row.baseline.principal}, {when(row.baseline.at)}"
    effect = "-" if row.tool is None else row.tool.spec.effect.value
    return row.name, effect, "yes" if kept.plan else "no", stands, by


def _print_suspicions(every: Sequence[Kept]) -> None:
    rows = [(kept.row.name, each.place, each.why) for kept in every for each in kept.suspicions]
    if rows:
        print_heading("Look at these")
        print_table(("tool", "where", "why"), rows)


def _diff_json(kept: Kept, changed: Sequence[Difference]) -> dict[str, Json]:
    return {
        "name": kept.row.name,
        "contract_mismatch": None if kept.row.change is None else kept.row.change.value,
        "differences": [{"place": each.place, "before": each.before, "after": each.after} for each in changed],
    }


def _edge_line(seen: SeenEdge) -> tuple[str, ...]:
    edge = seen.edge
    times = str(seen.count)
    return seen.edge_id, edge.scope, edge.source, edge.target, edge.relation, seen.state, times, when(seen.last_seen)


def _set_lock(choices: Choices, scope: str, approved_by: str | None, locked: bool) -> None:
    from toolcrib.cli.guarding import principal_of, set_lock

    _check_scope(scope)
    asyncio.run(set_lock(choices, scope, principal_of(approved_by), locked))
    if choices.form is Form.JSON:
        print_json({"scope": scope, "locked": locked})
    else:
        click.echo(f"the scope {scope} is {'locked' if locked else 'open'}.")


def _check_scope(scope: str) -> None:
    from toolcrib.policy.topology import SCOPES

    if scope not in SCOPES:
        raise click.UsageError(f"there is no scope {scope[:60]!r}; there are {' and '.join(SCOPES)}")
