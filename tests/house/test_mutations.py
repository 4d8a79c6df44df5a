"""Take a safeguard out of the counter, and something must notice: a test, or the type checker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutation:
    """A safeguard, the text that is it, and what stands in its place."""

    name: str
    file: str
    safeguard: str
    instead: str
    noticed_by: str


MUTATIONS = [
    Mutation(
        "that a project's allow never counts",
        "policy/layers.py",
        "        return self is not Layer.PROJECT\n",
        "        return True\n",
        "tests/policy/test_authority_only_narrows.py",
    ),
    Mutation(
        "that a dangerous tool is allowed only by name and target",
        "policy/ruling.py",
        "        if not self.spec.dangerous:\n",
        "        if True:\n",
        "tests/policy/test_authority_only_narrows.py",
    ),
    Mutation(
        "the question about marked targets",
        "policy/ruling.py",
        "            if (marked := decide_targets(",
        "            if False and (marked := decide_targets(",
        "tests/policy/test_authority_only_narrows.py",
    ),
    Mutation(
        "the question after a sensitive read",
        "policy/ruling.py",
        "        if READ_SENSITIVE in marks and",
        "        if False and",
        "tests/policy/test_rules.py",
    ),
    Mutation(
        "the denial by a broken file of rules",
        "config/policies.py",
        "    rules = (*denying, *(rule for",
        "    rules = (*(rule for",
        "tests/config/test_policies.py",
    ),
    Mutation(
        "the owner of managed rules",
        "config/policies.py",
        "            _check_owner(path, managed)\n",
        "            pass\n",
        "tests/config/test_policies.py",
    ),
    Mutation(
        "rules that change under an open run",
        "engine/gate.py",
        "    if runtime.policy is terms.policy:\n",
        "    if True:\n",
        "tests/engine/test_policy_files.py",
    ),
    Mutation(
        "permission",
        "engine/settle.py",
        "        permit = flight.permit = run.gate.pass_through(slot, invocation, flight, run) "
        "or await run.gate.permit(\n"
        "            slot, invocation, flight, run\n"
        "        )\n",
        "",
        "types",
    ),
    Mutation(
        "the question to a person",
        "engine/gate.py",
        "        async with self.turn:\n            return await self._ask(slot, invocation, decision, flight, run)\n",
        "        return Permit(invocation, decision.cite)\n",
        "tests/invariants/test_i2_nothing_executes_without_a_permit.py",
    ),
    Mutation(
        "the start on record",
        "engine/settle.py",
        "        if start is not None:\n            await recorded(start, flight)\n",
        "",
        "tests/invariants/test_i3_started_is_on_record_first.py",
    ),
    Mutation(
        "the started event",
        "engine/settle.py",
        "        start = started(permit, slot, flight, run)\n",
        "        start = None\n",
        "tests/invariants/test_i3_started_is_on_record_first.py",
    ),
    Mutation(
        "validation",
        "engine/effective.py",
        "        if not is_valid(arguments):",
        "        if False:",
        "tests/invariants/test_i3_started_is_on_record_first.py",
    ),
    Mutation(
        "the write barrier of a turn and of the lane",
        "engine/lanes.py",
        "        if self.waiting or self.writing:\n            return False\n",
        "        return True\n",
        "tests/invariants/test_i6_a_write_is_alone.py",
    ),
    Mutation(
        "the split of a turn at writes",
        "policy/plan.py",
        "        if lane is Lane.WRITE:",
        "        if False:",
        "tests/invariants/test_i6_a_write_is_alone.py",
    ),
    Mutation(
        "stickiness of abort",
        "engine/run.py",
        "            if run.aborted is not None:",
        "            if False:",
        "tests/invariants/test_i8_finished_work_is_never_aborted.py",
    ),
    Mutation(
        "the look at the contract",
        "engine/settle.py",
        "        run.check_contract(slot)\n",
        "",
        "tests/invariants/test_i7_membership_is_fixed_authority_is_live.py",
    ),
    Mutation(
        "limits",
        "engine/settle.py",
        "        if flight.parked is None and not run.take(slot, flight):\n            await draw(slot, flight, run)\n",
        "",
        "tests/engine/test_limits.py",
    ),
    Mutation(
        "the loop guard",
        "engine/settle.py",
        "        saw(flight, returned, content, run)\n",
        "        pass\n",
        "tests/engine/test_loops.py",
    ),
    Mutation(
        "the copy that hooks are given",
        "engine/watchers.py",
        "    shown, clock = _copy_of(invocation, slot), run.runtime.clock.monotonic\n",
        "    shown, clock = invocation, run.runtime.clock.monotonic\n",
        "tests/hooks/test_declared.py",
    ),
    Mutation(
        "the baseline of a contract",
        "engine/run.py",
        "        if slot.drift is not None:\n",
        "        if False:\n",
        "tests/engine/test_guard.py",
    ),
    Mutation(
        "the hiding of foreign tools that changed",
        "engine/effective.py",
        "        if post is not None and (reason := post.hides(tool)) is not None:",
        "        if False:",
        "tests/engine/test_guard.py",
    ),
    Mutation(
        "the lock on a scope",
        "engine/children.py",
        "        await take_edge(parent, wish)\n",
        "",
        "tests/engine/test_guard.py",
    ),
    Mutation(
        "hooks",
        "engine/settle.py",
        "        if slot.before:\n            await watchers.before(slot, invocation, flight, run)\n",
        "",
        "tests/invariants/test_i5_order_of_the_counter.py",
    ),
    Mutation(
        "the boundary of plan mode",
        "engine/wish.py",
        "    if wish.mode is Mode.PLAN:\n        screens.append(plan_screen(plan_tools))\n",
        "",
        "tests/engine/test_modes.py",
    ),
    Mutation(
        "what a role never has",
        "engine/wish.py",
        "    if wish.role in CHILDREN:\n        screens.append(role_screen(wish.role))\n",
        "",
        "tests/invariants/test_i10_a_child_holds_no_more_than_its_own.py",
    ),
    Mutation(
        "the mode of a child",
        "engine/children.py",
        "        if all(is_within(mode, limit) for limit in limits):\n",
        "        if limits:\n",
        "tests/invariants/test_i10_a_child_holds_no_more_than_its_own.py",
    ),
    Mutation(
        "the silence of dont_ask",
        "engine/gate.py",
        "        if run.mode is Mode.DONT_ASK:\n",
        "        if False:\n",
        "tests/engine/test_modes.py",
    ),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_missing_safeguard_is_noticed(tmp_path: Path, mutation: Mutation) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    target = tmp_path / "src" / "toolcrib" / mutation.file
    source = target.read_text()
    assert source.count(mutation.safeguard) == 1, "the safeguard has moved: bring this test up to date"
    target.write_text(source.replace(mutation.safeguard, mutation.instead))
    assert _check(mutation, tmp_path).returncode == 1


def test_the_same_checks_pass_without_a_mutation(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    for noticed_by in sorted({mutation.noticed_by for mutation in MUTATIONS}):
        done = _check(Mutation("none", "", "", "", noticed_by), tmp_path)
        assert done.returncode == 0, done.stdout


def _check(mutation: Mutation, folder: Path) -> subprocess.CompletedProcess[str]:
    if mutation.noticed_by == "types":
        (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
        command = [
            str(Path(sys.executable).parent / "pyright"),
            "--pythonpath",
            sys.executable,
            "src/toolcrib/engine/settle.py",
        ]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        mutation.noticed_by,
    ]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
