"""`toolcrib tools search`, `cost` and `forget`: how models find tools, and what showing them costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Command, Form, examples, module_option
from toolcrib.cli.ending import NO_TOOLS, Exit, NotSo, hint
from toolcrib.cli.output import counted, print_fields, print_heading, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolcrib.catalog.discovery.cost import CatalogCost
    from toolcrib.catalog.discovery.finding import Answer
    from toolcrib.values.json import Json
    from toolcrib.values.spec import ToolSpec

MAIN = "main"


@click.command(
    cls=Command,
    epilog=examples(
        "toolcrib tools search read a file", "toolcrib tools search --tool code.read_file",
        "toolcrib tools search --category FileSystem --json",
    ),
    json="`{found, more, note, definition}`: `found` holds `{name, kind, line, why, signature}`, best first; "
    "`definition` is the whole definition where a tool was asked for by name, else null.",
)  # fmt: skip
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option("--tool", metavar="NAME", help="An exact name or alias: the whole definition.")
@click.option("--server", metavar="NAME", help="The tools of one server.")
@click.option("--category", metavar="NAME", help="The tools of one category.")
@click.option("--limit", type=click.IntRange(1, 1_000), metavar="COUNT", help="Results at most.")
@module_option
@click.option("--agent", metavar="NAME", help="What this agent's model would find, with what it learnt from use.")
@click.pass_obj
def search(
    choices: Choices, words: tuple[str, ...], tool: str | None, server: str | None, category: str | None,
    limit: int | None,
    modules: tuple[str, ...], agent: str | None,
) -> Exit:  # fmt: skip
    """Find tools by words, name, server or category.

    The answers are those that `tools.search` gives a model; words also find agents that can be started. If several
    are asked for, a name counts before a server, a server before a category, a category before words.
    """
    from toolcrib.catalog.discovery.finding import Wanted
    from toolcrib.cli.finding import answer
    from toolcrib.values.refusal import Refusal

    asked = {"tool": tool, "server": server, "category": category, "query": " ".join(words) if words else None}
    try:
        wanted = Wanted.of({key: text for key, text in asked.items() if text is not None})
    except Refusal as refusal:
        raise click.UsageError("say what to look for: words, --tool, --server or --category") from refusal
    found = answer(choices, modules, agent, wanted, limit)
    _tell(found, choices)
    return Exit.DONE if found.found else Exit.NOT_SO


@click.command(
    cls=Command,
    epilog=examples("toolcrib tools cost", "toolcrib tools cost -m tools.py --calls 20 --json"),
    json="`{tools, groups, toolkits, start, session, mode, listing, meta, saving}`: `tools` holds `{name, group, "
    "definition, minified, signature, line, dropped}` in tokens; `start` and `session` compare `eager`, `append` and "
    "`replace`; `saving` is the part of eager that `mode` saves.",
)
@module_option
@click.option("--agent", metavar="NAME", default=MAIN, show_default=True, help="Whose tools.")
@click.option("--calls", type=click.IntRange(1, 1_000), default=10, show_default=True, help="Calls of the session.")
@click.option("--model", metavar="NAME", help="Estimate as observed for this model.")
@click.pass_obj
def cost(choices: Choices, modules: tuple[str, ...], agent: str, calls: int, model: str | None) -> None:
    """Tell what showing tools to a model costs, in tokens.

    Per tool and group, at the start of a session, and over a session in which each call needs a search of its own,
    weighed as a prompt cache charges it: 1.25 for what is new, 0.1 for what is read again.
    """
    from toolcrib.cli.finding import costs

    specs, told = costs(choices, modules, agent, calls, model)
    if not specs:
        raise NotSo(NO_TOOLS)
    if choices.form is Form.JSON:
        print_json(_cost_json(told, specs))
    else:
        _print_cost(told, calls)


@click.command(
    cls=Command,
    epilog=examples("toolcrib tools forget", "toolcrib tools forget notes.read --agent main"),
    json="`{forgotten}`: how many remembered queries were erased.",
)
@click.argument("name", required=False, metavar="[TOOL]")
@click.option("--agent", metavar="NAME", default=MAIN, show_default=True, help="Whose memory.")
@click.pass_obj
def forget(choices: Choices, name: str | None, agent: str) -> None:
    """Erase which searches led to which tools, in this project.

    Without a tool, all of them. The journal keeps its events; `toolcrib sessions purge` erases those.
    """
    import asyncio  # only this command of the group needs a loop

    gone = asyncio.run(_forget(choices, name, agent))
    if choices.form is Form.JSON:
        print_json({"forgotten": gone})
    else:
        told = f"forgot {counted(gone, 'query').replace('querys', 'queries')}" if gone else "nothing was remembered"
        hint(f"toolcrib: {told}{f' for {name}' if name else ''}")


async def _forget(choices: Choices, name: str | None, agent: str) -> int:
    from toolcrib.cli.records import has_records, records
    from toolcrib.engine.usage import Memories

    config = choices.load()
    if not has_records(config):
        return 0
    async with records(choices) as store:
        return await Memories(store, str(config.project or "")).forget(agent, name)


def _tell(found: Answer, choices: Choices) -> None:
    if choices.form is Form.JSON:
        print_json({
            "found": [one.body() for one in found.found],
            "more": found.more,
            "note": found.note,
            "definition": found.definition,
        })  # fmt: skip
        return
    if found.note:
        hint(f"toolcrib: {found.note}")
    if found.definition is not None:
        print_json(found.definition)
    elif found.found:
        print_table(("tool", "why", "description"), [(one.label, one.why, one.line) for one in found.found])
    if found.more:
        hint(f"toolcrib: {found.more} more; --limit shows more of them")


def _cost_json(told: CatalogCost, specs: Sequence[ToolSpec]) -> Mapping[str, Json]:
    from toolcrib.catalog.discovery.cost import by_group
    from toolcrib.cli.finding import by_toolkit

    sessions = {"eager": told.eager, "append": told.append, "replace": told.replace}
    return {
        "tools": [
            {
                "name": one.name, "group": one.group, "definition": one.definition, "minified": one.minified,
                "signature": one.signature, "line": one.line, "dropped": [str(omission) for omission in one.dropped],
            }
            for one in told.tools
        ],
        "groups": by_group(told.tools),
        "toolkits": by_toolkit(told.tools),
        "start": {name: session.start for name, session in sessions.items()},
        "session": {
            name: {"weighted": round(session.weighted), "requests": session.requests}
            for name, session in sessions.items()
        },
        "mode": told.chosen.value,
        "listing": told.level.value,
        "meta": told.meta,
        "saving": round(told.saving, 3),
    }  # fmt: skip


def _print_cost(told: CatalogCost, calls: int) -> None:
    from toolcrib.catalog.discovery.cost import by_group
    from toolcrib.cli.finding import by_toolkit

    dearest = sorted(told.tools, key=lambda one: (-one.definition, one.name))
    columns = ("tool", "tokens: definition", "signature", "line", "group")
    print_table(
        columns, [(one.name, str(one.definition), str(one.signature), str(one.line), one.group) for one in dearest]
    )
    for title, sums in (("Groups", by_group(told.tools)), ("Toolkits", by_toolkit(told.tools))):
        if sums:
            print_heading(title)
            print_fields([(name, f"{tokens:,}") for name, tokens in sums.items()])
    print_heading(f"A session of {calls} calls")
    print_table(
        ("shown", "at the start", "over the session", "requests"),
        [
            (name, f"{session.start:,}", f"{session.weighted:,.0f}", str(session.requests))
            for name, session in (("eager", told.eager), ("append", told.append), ("replace", told.replace))
        ],
    )
    print_heading("In force")
    print_fields([("mode", told.chosen.value), ("listing", told.level.value), ("saving", f"{told.saving:.0%}")])
