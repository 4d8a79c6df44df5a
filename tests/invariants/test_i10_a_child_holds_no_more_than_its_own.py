"""A child never holds a tool that its own role, mode, definition and policy would not give it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib import PermissionDecision, PermissionRequest, Refusal, Tool, Toolcrib
from toolcrib.engine.run import Run
from toolcrib.policy.modes import Mode, is_within
from toolcrib.policy.roles import CHILDREN, excluded
from toolcrib.testing import make_run
from toolcrib.values.identity import Role
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.workspace import Access, Mount

pytestmark = pytest.mark.anyio
NAMES = [
    "agent.create_sub_agent", "agent.task_claim_step", "agent.task_create", "agent.task_get", "agent.plan_template",
    "internal.recall_memory", "memory.store", "worker.start", "worker.check", "code.read_file", "code.write_file",
    "shell.run", "notes.read", "notes.add",
]  # fmt: skip
READS = {"agent.task_get", "internal.recall_memory", "worker.check", "code.read_file", "notes.read"}


async def handler(context, arguments) -> str:
    return "done"


def stand_in(name: str) -> Tool:
    effect = Effect.READ if name in READS else Effect.WRITE
    return Tool(ToolSpec(name=name, description=name, input_schema={"type": "object"}, effect=effect), handler)


TOOLS = [stand_in(name) for name in NAMES]
RUNS = st.tuples(st.sampled_from(["main", "orchestrator"]), st.sampled_from(["default", "plan", "accept_edits"]))
SENT = st.fixed_dictionaries(
    {"role": st.sampled_from([None, *Role])},
    optional={
        "mode": st.sampled_from([*Mode]),
        "allowed_tools": st.lists(st.sampled_from([*NAMES, "**", "code.*"]), max_size=5),
    },
)


@settings(max_examples=120, deadline=None)
@given(RUNS, st.lists(st.sampled_from(NAMES), min_size=8), st.sampled_from(["sub", "default_worker_agent"]), SENT)
async def test_whatever_is_asked_for_a_child_has_no_more_than_its_own(opened, held, agent, sent) -> None:
    role, mode = opened
    async with make_run(*TOOLS, mode=mode, role=role, allowed_tools=held) as parent:
        try:
            async with parent.child(agent, **sent) as child:
                check(parent, child, sent)
        except Refusal:
            return


def check(parent: Run, child: Run, sent) -> None:
    specs = {spec.name: spec for spec in child.tools.specs}
    assert is_within(child.mode, parent.mode)
    assert child.origin.role is not Role.MAIN
    assert [name for name in specs if excluded(child.origin.role, specs[name])] == []
    if child.mode is Mode.PLAN:
        assert {spec.effect for spec in specs.values()} <= {Effect.READ}
    if child.origin.role is Role.WORKER:
        minimum = {"agent.task_get", "agent.task_claim_step", "code.read_file"}
        wanted = set(parent.tools) if "allowed_tools" in sent else set()
        assert specs.keys() <= minimum | wanted
    assert specs.keys() | child.tools.out.keys() == {*NAMES, "tools.search"}


async def test_a_child_without_a_list_has_the_set_of_its_own_role_not_that_of_its_parent() -> None:
    async with make_run(*TOOLS, allowed_tools=["notes.*"]) as parent, parent.child("sub") as child:
        assert "shell.run" in child.tools
        assert "memory.store" not in child.tools


async def test_a_worker_gets_more_than_the_least_only_by_request_and_only_what_its_dispatcher_has() -> None:
    async with make_run(*TOOLS, allowed_tools=["notes.*", "agent.*"]) as parent:
        async with parent.child("default_worker_agent") as worker:
            assert sorted(worker.tools) == ["agent.task_claim_step", "agent.task_get", "code.read_file"]
        asked = ["notes.add", "shell.run", "agent.task_create", "code.read_file"]
        async with parent.child("default_worker_agent", allowed_tools=asked) as worker:
            assert sorted(worker.tools) == ["code.read_file", "notes.add"]
            assert worker.tools.why("shell.run") == "whoever sent this worker does not have it"


async def test_a_child_in_a_looser_mode_is_refused() -> None:
    async with make_run(*TOOLS, mode="plan") as parent:
        for mode in ("default", "accept_edits", "bypass", "dont_ask"):
            with pytest.raises(Refusal, match="looser"):
                await parent.child("sub", mode=mode).__aenter__()
        async with parent.child("sub") as child:
            assert child.mode is Mode.PLAN


@pytest.mark.parametrize(
    ("agent", "role"),
    [("default_worker_agent", "sub"), ("default_worker_agent", "orchestrator"), ("sub", "orchestrator")],
)
async def test_a_child_in_a_wider_role_than_its_own_is_refused(agent: str, role: str) -> None:
    async with make_run(*TOOLS) as parent:
        with pytest.raises(Refusal, match="would have more"):
            await parent.child(agent, role=role).__aenter__()
        async with parent.child("sub", role="worker") as child:
            assert child.origin.role is Role.WORKER


async def test_children_start_no_children_and_there_are_only_so_many() -> None:
    async with make_run(*TOOLS, config={"limits": {"max_children_per_run": 2, "max_depth": 2}}) as main:
        async with main.child("sub") as first, main.child("sub"):
            with pytest.raises(Refusal, match="starts no other agents"):
                await first.child("sub").__aenter__()
            with pytest.raises(Refusal, match="as many as it may have") as refused:
                await main.child("sub").__aenter__()
            assert refused.value.reason == "child_agent_limit_exceeded"
        async with main.child("orchestrator") as second, second.child("orchestrator") as third:
            with pytest.raises(Refusal, match="at most 2 levels deep"):
                await third.child("sub").__aenter__()
        async with main.child("sub"):
            pass


async def test_the_children_of_a_session_are_counted_together() -> None:
    async with make_run(*TOOLS, config={"limits": {"max_children_per_session": 2}}) as main:
        async with main.child("orchestrator") as other, other.child("sub"):
            with pytest.raises(Refusal, match="this session has 2 child agents"):
                await main.child("sub").__aenter__()
        assert main.runtime.children == {}


async def test_an_answer_for_the_session_given_to_one_agent_is_for_no_other() -> None:
    asked: list[str] = []

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request.origin.agent_id)
        return PermissionDecision("allow_for_session")

    async with (
        make_run(*TOOLS, asker=ask, config={"limits.loop.same_call": 0}) as main,
        main.child("sub") as one,
        main.child("sub") as two,
    ):
        for run in (one, one, two, main):
            assert (await run.call("notes.add")).ok
        assert asked == [one.origin.agent_id, two.origin.agent_id, "main"]
        assert one.origin.parent_run_id == main.origin.run_id


async def test_an_abort_reaches_the_children_and_a_child_alone_stays_a_childs_affair() -> None:
    async with make_run(*TOOLS) as main, main.child("sub") as one, main.child("sub") as two:
        one.abort("enough")
        assert (await one.call("notes.read")).reason == "aborted"
        assert (await two.call("notes.read")).ok
        main.abort("all of it")
        assert (await two.call("notes.read")).reason == "aborted"


@pytest.fixture
async def grounded(tmp_path: Path) -> AsyncIterator[Run]:
    (tmp_path / "project" / "part").mkdir(parents=True)
    (tmp_path / "project" / "part" / "a.txt").write_text("inside")
    (tmp_path / "project" / "b.txt").write_text("beside")
    async with (
        Toolcrib.open(home=tmp_path / "home", project=tmp_path / "project") as crib,
        crib.run(mode="accept_edits") as run,
    ):
        yield run


async def test_the_ground_of_a_child_is_its_parents_or_less(grounded: Run, tmp_path: Path) -> None:
    part = tmp_path / "project" / "part"
    async with grounded.child("sub") as child:
        assert "beside" in (await child.call("workspace.read", {"path": "b.txt"})).text
    async with grounded.child("sub", mounts=[Mount.of("/workspace", part, Access.READ)]) as child:
        assert "inside" in (await child.call("workspace.read", {"path": "a.txt"})).text
        assert not (await child.call("workspace.read", {"path": "../b.txt"})).ok
        assert not (await child.call("workspace.write", {"path": "new.txt", "content": "x"})).ok
        assert not (await child.call("code.read_file", {"path": str(tmp_path / "project" / "b.txt")})).ok
    assert "beside" in (await grounded.call("workspace.read", {"path": "b.txt"})).text
    assert not (part / "new.txt").exists()


async def test_a_child_cannot_be_given_ground_that_its_parent_does_not_have(grounded: Run, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="its parent has no mount there"):
        await grounded.child("sub", mounts=[Mount.of("/workspace", tmp_path)]).__aenter__()
    assert grounded.children == set()


def test_every_role_but_main_and_orchestrator_is_a_childs() -> None:
    assert frozenset(Role) - {Role.MAIN, Role.ORCHESTRATOR} == CHILDREN
