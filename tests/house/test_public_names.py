"""The front door: the names users rely on, and nothing by accident."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import toolcrib
from toolcrib.engine import settle

PROMISED = {"Toolcrib", "ToolCall", "tool", "ToolContext", "ToolResult", "PermissionDecision", "PermissionRequest"}


def test_every_public_name_can_be_had_and_there_are_at_most_forty() -> None:
    assert len(toolcrib.__all__) <= 40
    assert [name for name in toolcrib.__all__ if getattr(toolcrib, name, None) is None] == []
    assert set(toolcrib.__all__) >= PROMISED


def test_the_list_of_names_the_type_checker_sees_is_the_same() -> None:
    tree = ast.parse(Path(toolcrib.__file__).read_text())
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(toolcrib.__all__)


def test_importing_toolcrib_loads_no_room_before_it_is_needed() -> None:
    program = "import sys, toolcrib; print([name for name in sys.modules if name.startswith('toolcrib.')])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_front_door_imports_nothing_heavy() -> None:
    heavy = ("pydantic", "rich", "anyio", "click", "hypothesis")
    program = (
        f"import sys; from toolcrib import Toolcrib, tool; print([name for name in {heavy} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_heart_keeps_its_shape() -> None:
    """`_attempt` is consecutive calls with one `except`, short enough to be read at a glance."""
    tree = ast.parse(Path(settle.__file__).read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)}
    attempt = functions["_attempt"]
    assert (attempt.end_lineno or 0) - attempt.lineno <= 22
    assert len([node for node in ast.walk(attempt) if isinstance(node, ast.ExceptHandler)]) == 1
    assert not [node for node in ast.walk(attempt) if isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncWith))]


def test_every_stage_of_settle_has_a_caller() -> None:
    """A stage that nobody calls any more is a stage that was lost."""
    source = Path(settle.__file__).read_text()
    stages = [
        "run.check_alive(", "run.tools.require(", "run.check_contract(", "run.take(", "slot.invoke(",
        "watchers.before(", "run.gate.permit(", "run.lane.enter(", "started(", "recorded(", "executor.execute(",
        "concluded(", "bounded(", "finished(", "store.append(", "watchers.after(",
    ]  # fmt: skip
    assert [stage for stage in stages if stage not in source] == []
