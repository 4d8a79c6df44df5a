"""`toolcrib policy`: why a call would be allowed, asked about or denied, and whether the rules are what they seem."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import Exit, hint
from toolcrib.cli.output import counted, print_json, print_table
from toolcrib.cli.tools import module_option

if TYPE_CHECKING:
    from toolcrib.policy.trace import Trace
    from toolcrib.values.identity import Role

MARKS = ("read_sensitive", "read_untrusted")
NEW_LINE = "\n"
ROLES = ("main", "orchestrator", "sub", "fork", "worker")


@click.group(cls=Group)
def policy() -> None:
    """Explain, test, check and suggest rules."""


@policy.command(
    epilog=examples(
        """toolcrib policy explain code.write_file --args '{"path": "a.txt", "content": "x"}'""",
        "toolcrib policy explain code.run_command --args - --mode dont_ask",
    ),
    json="`{tool, verdict, rule, layer, because, targets, grant_scope, stages}`: each stage `{stage, finding, verdict, "
    "rules}`, each rule `{place, layer, verdict, say, why}`, `say` is decides, applies, unmet or void.",
)
@click.argument("name")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--args", "text", metavar="JSON", help="Arguments as one JSON object; - reads it from standard input.")
@click.option("--agent", default="main", metavar="NAME", help="Agent that would call; main unless given.")
@click.option("--role", type=click.Choice(ROLES), help="Its role, instead of the one it is defined with.")
@click.option("--mode", metavar="MODE", help="Mode of the run.")
@click.option("--mark", "marks", multiple=True, type=click.Choice(MARKS), help="What the run has done before.")
@module_option
@click.pass_obj
def explain(
    choices: Choices,
    name: str,
    pairs: tuple[str, ...],
    text: str | None,
    agent: str,
    role: str | None,
    mode: str | None,
    marks: tuple[str, ...],
    modules: tuple[str, ...],
) -> Exit:
    """Show how a call would be decided, stage by stage.

    Nothing is asked, run, spent or recorded. Ends with exit code 3 when the call would be denied.
    """
    from toolcrib.cli.catalogue import Viewpoint
    from toolcrib.cli.deciding import Asked, traced

    asked = Asked(name, text, pairs, Viewpoint(agent, mode, _role(role)), frozenset(marks))
    trace = traced(choices, modules, asked)
    if choices.form is Form.JSON:
        print_json(trace.as_json())
    else:
        _print_trace(trace)
    return Exit.DENIED if trace.verdict == "deny" else Exit.DONE


@policy.command(
    epilog=examples("toolcrib policy test", "toolcrib policy test --project . --json"),
    json="`{ok, passed, failed, examples, results, broken}`: `examples` counts those of rules, each result is `{place, "
    "tool, expected, got, rule, ok, because}`.",
)
@module_option
@click.pass_obj
def test(choices: Choices, modules: tuple[str, ...]) -> Exit:
    """Run the examples of all rules and the files of tests.

    A rule whose own examples do not hold breaks its file. Tests are read from policy_tests/*.toml in the home and in
    the project's .toolcrib folder. Ends with exit code 1 when one fails.
    """
    from toolcrib.cli.deciding import broken_files, count_examples, run_tests

    broken = broken_files(choices)
    results = [] if broken else run_tests(choices, modules)
    examples = count_examples(choices)
    failed = [each for each in results if not each.ok]
    if choices.form is Form.JSON:
        told = [{**each.as_json()} for each in results]
        print_json({"ok": not (failed or broken), "passed": len(results) - len(failed), "failed": len(failed),
                    "examples": examples, "results": told, "broken": [str(problem) for problem in broken]})  # fmt: skip
    else:
        for problem in broken:
            click.echo(f"broken  {problem}")
        for each in failed:
            click.echo(f"failed  {each.place}: {each.told}")
        passed = f"{counted(examples, 'example')} and {counted(len(results) - len(failed), 'test')}"
        click.echo(f"{passed} passed, {len(failed) + len(broken)} failed.")
    return Exit.NOT_SO if failed or broken else Exit.DONE


@policy.command(
    epilog=examples("toolcrib policy check", "toolcrib policy check --project ."),
    json="`{ok, files, findings}`: each file `{path, layer, rules, commands, problems}`, each finding `{place, kind, "
    "message}`; `ok` is false when a file is broken.",
)
@module_option
@click.pass_obj
def check(choices: Choices, modules: tuple[str, ...]) -> Exit:
    """Look for broken and doubtful rules.

    Doubtful are rules that are shadowed by others, unreachable or too wide.

    Ends with exit code 1 when a file is broken; what is only doubtful is told.
    """
    from toolcrib.cli.deciding import checked

    found = checked(choices, modules)
    broken = [problem for file in found.files for problem in file.problems]
    if choices.form is Form.JSON:
        print_json(found.as_json())
        return Exit.NOT_SO if broken else Exit.DONE
    rows = [
        (file.level.value, str(file.path), "broken" if file.problems else counted(len(file.rules), "rule"),
         counted(len(file.commands), "command rule"))
        for file in found.files
    ]  # fmt: skip
    if rows:
        print_table(("layer", "file", "rules", "commands"), rows)
        click.echo()
    for problem in broken:
        click.echo(f"broken       {problem}")
    for finding in found.findings:
        click.echo(f"{finding.kind:<11}  {finding.place}: {finding.message}")
    if broken:
        click.echo("\nEverything is denied until the broken files are mended.")
    elif not found.findings:
        click.echo(f"{counted(found.total, 'rule')} in force, none of them doubtful.")
    return Exit.NOT_SO if broken else Exit.DONE


@policy.command(
    epilog=examples("toolcrib policy suggest", "toolcrib policy suggest --times 5 >> ~/.toolcrib/policy.toml"),
    json="An array of `{rule, tool, targets, allowed, sessions, first, last, requests}`; `rule` is TOML for a file of "
    "rules.",
)
@click.option("--times", type=click.IntRange(2), default=3, show_default=True, help="Answers that make a habit.")
@click.pass_obj
def suggest(choices: Choices, times: int) -> None:
    """Propose rules for what people often approve.

    The evidence stands above each rule. Nothing is changed; copy what you agree with into policy.toml.
    """
    from toolcrib.cli.deciding import suggestion_json, suggestion_text, suggestions

    found = asyncio.run(suggestions(choices, times))
    if choices.form is Form.JSON:
        print_json([suggestion_json(each) for each in found])
    elif found:
        click.echo("\n\n".join(suggestion_text(each) for each in found))
    else:
        hint(f"toolcrib: nothing was approved {times} times without a refusal, as far as a rule could say it")


def _role(given: str | None) -> Role | None:
    from toolcrib.values.identity import Role

    return None if given is None else Role(given)


def _print_trace(trace: Trace) -> None:
    from toolcrib.values.visible import visible

    click.echo(f"{_styled(trace.verdict, trace.verdict.upper())}  {visible(trace.tool)}")
    click.echo(f"{visible(trace.because, keep=NEW_LINE)} [{visible(trace.rule)}, {trace.layer}]\n")
    wide = max(len(stage.name) for stage in trace.stages)
    for number, stage in enumerate(trace.stages, 1):
        first, *rest = visible(stage.finding, keep=NEW_LINE).split(NEW_LINE)
        click.echo(f"{number:>2}  {stage.name:<{wide}}  {first}")
        for line in rest:
            click.echo(f"{'':{wide + 6}}{line}")
        for step in stage.rules:
            sign = {"decides": "▶", "applies": "•", "unmet": "·", "void": "×"}[step.say.value]
            verdict = _styled(step.verdict if step.say in ("decides", "applies") else "", f"{step.verdict:<6}")
            click.echo(f"{'':{wide + 6}}{sign} {verdict} {visible(step.place)} ({step.layer})")
            click.echo(f"{'':{wide + 15}}{visible(step.why)}")
    if any(stage.rules for stage in trace.stages):
        click.echo("\n▶ decides   • applies   · does not apply   × does not count")


def _styled(verdict: str, text: str) -> str:
    colour = {"allow": "green", "notify": "green", "ask": "yellow", "deny": "red"}.get(verdict)
    return click.style(text, fg=colour, bold=True) if colour and sys.stdout.isatty() else text
