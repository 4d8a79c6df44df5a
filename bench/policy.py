"""Deciding: one call under 500 rules, beside the same rules as loops of fnmatch and as a Cedar policy set.

`policy.py` prints a table of CPU times; `policy.py ours` and `policy.py loops` print one line of JSON each, as the peer
does. All of them decide the same calls under rules made from the same plan, and must come to the same verdicts.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
from policy_plan import CALLS, PLAN, Planned  # noqa: E402 - the plan that the peer reads too

ROUNDS, SECONDS = 7, 0.1
TOOLS = 2_000
LIMITS = {"fixed_us": 5.0, "path_us": 25.0, "command_us": 25.0, "compile_ms": 200.0}


def main(mode: str) -> int:
    if mode in ("ours", "loops"):
        print(json.dumps({"ours": ours, "loops": loops}[mode]()))
        return 0
    cedar = HERE.parent / ".bench" / "cedar" / "bin" / "python"
    ways = {"toolcrib": [sys.executable, __file__, "ours"], "fnmatch loops": [sys.executable, __file__, "loops"]}
    if cedar.exists():
        ways["cedar"] = [str(cedar), str(HERE / "peers" / "cedar_policy.py")]
    found = {name: _measured(words) for name, words in ways.items()}
    return _show(found)


def ours() -> dict[str, float]:
    """Slots as a run has them: everything that can be known before a call is compiled."""
    from toolcrib.catalog.registry import Registry
    from toolcrib.engine.effective import EffectiveSet, Terms
    from toolcrib.policy.commands import Command, CommandRule, CommandRules, Whence, command_target, decide_commands
    from toolcrib.policy.rules import Policy, Rule
    from toolcrib.policy.touching import Touching
    from toolcrib.policy.verdict import Verdict
    from toolcrib.values.call import Invocation, ToolCall
    from toolcrib.values.spec import Effect, ToolSpec
    from toolcrib.values.target import Target, TargetKind
    from toolcrib.values.tool import Tool

    verdicts = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
    rules = tuple(
        Rule(verdicts[each.verdict], each.tool, touching=Touching(path=(each.path,) if each.path else ()))
        for each in PLAN
        if not each.command
    )
    commands = CommandRules(tuple(CommandRule(verdicts[each.verdict], each.command) for each in PLAN if each.command))
    policy = Policy(rules)

    def made(name: str) -> Tool:
        dangerous = frozenset({"dangerous"}) if name == "code.run_command" else frozenset[str]()
        effect = Effect.READ if name.endswith("read") else Effect.WRITE
        spec = ToolSpec(name=name, description="d", input_schema={}, effect=effect, tags=dangerous)
        return Tool(spec, lambda context, arguments: None)

    tools = [made(name) for name in dict.fromkeys(call.tool for call in CALLS)]
    registry = Registry()
    registry.add(tools)
    terms = Terms(policy, (), 1.0, 1.0, judge=lambda tool, targets: decide_commands(commands, targets))
    effective = EffectiveSet.compile(registry, registry.snapshot, (), terms)
    figures: dict[str, float] = {}
    for call in CALLS:
        slot = effective.require(call.tool)
        targets: tuple[Target, ...] = ()
        if call.path:
            targets = (Target(TargetKind.PATH, call.path, "x"),)
        elif call.command:
            words = tuple(call.command.split())
            program = f"/usr/bin/{words[0]}"
            targets = (command_target(call.command, (Command(words, program, program, program, Whence.SYSTEM, "/p"),)),)
        invocation = Invocation(ToolCall(call.tool), "c", slot.tool, {}, slot.tool.spec.effect, targets)
        assert slot.decide(invocation).verdict.name.lower() == call.verdict, (call, slot.decide(invocation))
        decide = slot.decide
        figures[f"{call.kind}_us"] = _microseconds(lambda decide=decide, invocation=invocation: decide(invocation))
    figures["compile_ms"] = _compile_ms(
        rules, [made(f"part{number % 40}.tool{number}").spec for number in range(TOOLS)]
    )
    return figures


def _compile_ms(rules: tuple[object, ...], specs: list[object]) -> float:
    """Every tool's ruling from nothing: the index of the rules, and each tool's part of it."""
    from toolcrib.policy.rules import Policy

    times: list[float] = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        policy = Policy(rules)  # type: ignore[arg-type]
        for spec in specs:
            policy.ruling(spec)  # type: ignore[arg-type]
        times.append((time.process_time() - began) * 1_000)
    return statistics.median(times)


def loops() -> dict[str, float]:
    """The same rules the plain way: every rule is tried with fnmatch, the strictest that fits wins."""
    order = {"allow": 0, "ask": 1, "deny": 2}

    def fits(rule: Planned, tool: str, path: str, command: str) -> bool:
        return (
            fnmatchcase(tool, rule.tool.replace("**", "*"))
            and (not rule.path or (bool(path) and fnmatchcase(path, rule.path.replace("**", "*"))))
            and (not rule.command or command == rule.command or command.startswith(f"{rule.command} "))
        )

    def decide(tool: str, path: str, command: str) -> str:
        verdict, strictest = "ask", -1
        for rule in PLAN:
            if order[rule.verdict] > strictest and fits(rule, tool, path, command):
                verdict, strictest = rule.verdict, order[rule.verdict]
        return verdict

    figures: dict[str, float] = {}
    for call in CALLS:
        assert decide(call.tool, call.path, call.command) == call.verdict, call
        figures[f"{call.kind}_us"] = _microseconds(
            lambda call=call: decide(call.tool, call.path, call.command)  # type: ignore[misc]
        )
    return figures


def _microseconds(act: Callable[[], object]) -> float:
    """CPU time of one act: the median of several rounds, the collector out of the way."""
    times: list[float] = []
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        count, began = 0, time.process_time()
        while (spent := time.process_time() - began) < SECONDS:
            for _ in range(100):
                act()
            count += 100
        times.append(spent / count * 1e6)
    gc.enable()
    return statistics.median(times)


def _measured(words: list[str]) -> dict[str, float]:
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    if done.returncode:
        raise SystemExit(f"{words[-1]} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _show(found: dict[str, dict[str, float]]) -> int:
    rows = {
        "fixed_us": f"deciding a call under {len(PLAN)} rules, no predicate, µs",
        "path_us": "the same with path predicates, µs",
        "command_us": "the same with command predicates, µs",
        "compile_ms": f"compiling {TOOLS:,} tools x {len(PLAN)} rules, ms",
    }
    print(f"{'':52}" + "".join(f"{name:>15}" for name in found) + f"{'held to':>12}")
    over = 0
    for key, words in rows.items():
        values = "".join(f"{found[name][key]:>15.2f}" if key in found[name] else f"{'':>15}" for name in found)
        missed = found["toolcrib"][key] > LIMITS[key]
        over += missed
        print(f"{words:52}{values}{'≤ ' + format(LIMITS[key], 'g'):>12}{'  MISSED' if missed else ''}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
