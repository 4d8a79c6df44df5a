"""Roles: what children never have, whatever their definition says."""

import pytest

from toolcrib.policy.roles import CHILDREN, beyond_minimum, excluded
from toolcrib.values.identity import Role
from toolcrib.values.spec import Effect, ToolSpec

NEVER = [
    "agent.plan_template", "agent.task_template", "agent.task_create", "agent.task_update", "agent.task_list",
    "agent.task_complete", "agent.task_fail", "agent.task_cancel", "agent.create_sub_agent", "agent.fork_agent",
    "agent.list_agent_definitions", "agent.list_workers", "agent.dispatch_worker", "internal.recall_memory",
    "memory.store", "memory.forget", "worker.start", "worker.cancel", "worker.list",
]  # fmt: skip
OWN = ["agent.task_get", "agent.task_query_steps", "agent.task_claim_step", "agent.task_update_step"]
OTHERS = ["code.read_file", "code.write_file", "shell.run", "checklist.read", "tools.search", "agent.inspect_agent"]


def spec(name: str, effect: Effect = Effect.READ, category: str = "", tags: frozenset[str] = frozenset()) -> ToolSpec:
    return ToolSpec(name=name, description="", input_schema={}, effect=effect, category=category, tags=tags)


@pytest.mark.parametrize("role", sorted(CHILDREN))
@pytest.mark.parametrize("name", NEVER)
def test_a_child_never_leads_plans_or_remembers(role: Role, name: str) -> None:
    assert excluded(role, spec(name)) is not None


@pytest.mark.parametrize("role", sorted(CHILDREN))
@pytest.mark.parametrize("name", [*OWN, *OTHERS])
def test_a_role_stands_in_the_way_of_nothing_else(role: Role, name: str) -> None:
    assert excluded(role, spec(name, Effect.WRITE)) is None


@pytest.mark.parametrize("name", [*NEVER, *OWN, *OTHERS])
def test_the_main_agent_and_the_orchestrator_lose_nothing_to_their_role(name: str) -> None:
    assert excluded(Role.MAIN, spec(name)) is None
    assert excluded(Role.ORCHESTRATOR, spec(name)) is None


def test_tools_of_the_same_kind_under_other_names_are_out_too() -> None:
    assert excluded(Role.SUB, spec("helpers.delegate", Effect.WRITE, tags=frozenset({"agent"}))) is not None
    assert excluded(Role.FORK, spec("vault.remember", Effect.WRITE, category="Memory")) is not None


def test_the_smallest_set_of_a_worker_is_its_steps_and_reads_of_files() -> None:
    inside = [spec(name, Effect.WRITE) for name in OWN] + [spec("code.search"), spec("workspace.read")]
    outside = [spec("code.write_file", Effect.WRITE), spec("shell.list"), spec("web.fetch"), spec("checklist.read")]
    assert [each.name for each in inside if beyond_minimum(each)] == []
    assert [each.name for each in outside if beyond_minimum(each) is None] == []
