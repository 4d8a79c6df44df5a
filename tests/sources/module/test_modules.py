"""Custom modules: every form a tool can have, clear words for what is missing, and only bytes that were trusted."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from toolcrib import ConfigError, Toolcrib
from toolcrib.assemble.watching import look, state_of
from toolcrib.testing import ScriptedAsker
from toolcrib.trust import TrustBook, read_content
from toolcrib.values.event import Event

pytestmark = pytest.mark.anyio
MODULE = '''
from dataclasses import dataclass
from toolcrib import ToolContext, tool
from toolcrib.sources.module import Sandbox
from toolcrib.workspace import Workspace

@dataclass
class Point:
    x: int
    y: int = 0

def hinted(point: Point, times: int = 1) -> int:
    """Add up.

    Args:
        times: how often
    """
    return (point.x + point.y) * times

def bare(n: int):
    return n

def beside(width, height):
    """Width times height."""
    return width * height

beside_schema = {"type": "object", "properties": {"width": {"type": "number"}, "height": {"type": "number"}},
                 "required": ["width", "height"], "additionalProperties": False}

async def whole(context: ToolContext, input):
    return {"keys": sorted(input), "call": context.name}

whole_schema = {"type": "object"}

@tool.read(tags={"maths"}, needs_approval=lambda arguments: arguments["n"] > 10)
def marked(n: int) -> int:
    """Marked by its author."""
    return n

class Full:
    name = "full"
    description = "A whole tool."
    inputSchema = {"type": "object", "properties": {"a": {"type": "integer"}}}

    def needsApproval(self, input, options):
        return input["a"] == 1

    async def execute(self, input, options):
        return {"got": input["a"], "call": options.name}

full_tool = Full()
mapping = {"name": "mapping", "description": "A dict.", "inputSchema": {"type": "object"}, "needsApproval": True,
           "execute": lambda input: "ran"}
broken = {"name": "broken", "description": "", "inputSchema": {"type": "object"}, "execute": lambda input: "ran",
          "needsApproval": lambda input: 1 / 0}

async def inside(sandbox: Sandbox, files: Workspace, word: str) -> list[str]:
    done = await sandbox.run(["echo", word])
    return [done.stdout.text().strip(), sandbox.root, files.project.root]

def untyped(thing):
    return thing

constant = 3
'''


class Place:
    """A home and a project with definitions and modules."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.agents, self.theirs = self.home / "agents", self.project / ".toolcrib" / "agents"
        for each in (self.agents, self.theirs):
            each.mkdir(parents=True)
        self.asker = ScriptedAsker.always("allow_once")

    def define(self, tools: str, approval: str = "preApproved", name: str = "maker", module: str = MODULE) -> None:
        (self.agents / f"{name}.yaml").write_text(_definition(tools, approval))
        (self.agents / "tools.py").write_text(module)

    def trust(self) -> None:
        TrustBook(self.home / "trust.json").trust(read_content(self.project), "anna", time.time())

    def open(self, **config: Any):
        return Toolcrib.open(home=self.home, project=self.project, asker=self.asker, config=config)

    async def problem(self, agent: str = "maker") -> str:
        async with self.open() as crib:
            with pytest.raises(ConfigError) as caught:
                crib.run(agent=agent)
            return str(caught.value)


def _definition(tools: str, approval: str = "preApproved") -> str:
    return f"toolsets:\n  custom: {{module: ./tools.py, tools: [{tools}], approval: {approval}}}\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("name", "arguments", "data", "asked"),
    [
        ("hinted", {"point": {"x": 2, "y": 3}, "times": 2}, 10, 0),
        ("bare", {"n": 4}, 4, 0),
        ("beside", {"width": 2, "height": 3}, 6, 0),
        ("whole", {"b": 1, "a": 2}, {"keys": ["a", "b"], "call": "custom.whole"}, 0),
        ("marked", {"n": 1}, 1, 0),
        ("marked", {"n": 11}, 11, 1),
        ("full", {"a": 2}, {"got": 2, "call": "custom.full"}, 0),
        ("full_tool", {"a": 1}, {"got": 1, "call": "custom.full_tool"}, 1),
        ("mapping", {}, "ran", 1),
        ("broken", {}, "ran", 1),
    ],
)
async def test_a_tool_can_be_written_in_every_form_and_asks_for_itself(
    place: Place, name: str, arguments: Any, data: Any, asked: int
) -> None:
    place.define(name)
    async with place.open() as crib, crib.run(agent="maker") as run:
        assert list(run.tools) == [f"custom.{name}"]
        result = await run.call(f"custom.{name}", arguments)
        assert result.ok, result.text
        assert (result.data if result.data is not None else result.text) == data
        assert len(place.asker.requests) == asked


async def test_a_tool_gets_the_sandbox_of_its_run_by_annotation(place: Place) -> None:
    place.define("inside")
    async with place.open() as crib, crib.run(agent="maker") as run:
        assert set(crib.runtime.registry.snapshot["custom.inside"].spec.input_schema["properties"]) == {"word"}
        result = await run.call("custom.inside", {"word": "hi"})
        assert result.data == ["hi", str(place.project), str(place.project)]


async def test_arguments_are_checked_and_described_as_for_every_tool(place: Place) -> None:
    place.define("hinted, bare")
    async with place.open() as crib, crib.run(agent="maker") as run:
        assert (await run.call("custom.hinted", {"point": {"x": "a"}})).reason == "validation_error"
        specs = {spec.name: spec for spec in run.tools.specs}
        assert specs["custom.hinted"].description == "Add up."
        assert specs["custom.bare"].description == "Custom tool: bare"


@pytest.mark.parametrize(
    ("approval", "asked", "reason"),
    [
        ("preApproved", 0, None),
        ("ask", 1, None),
        ("{tools: {bare: preApproved}}", 0, None),
        ("{default: preApproved, tools: {bare: ask}}", 1, None),
        ("blocked", 0, "permission_denied"),
        ("{}", 1, None),
    ],
)
async def test_approval_of_the_definition_is_a_rule_of_its_agent(
    place: Place, approval: str, asked: int, reason: str | None
) -> None:
    place.define("bare", approval)
    async with place.open() as crib, crib.run(agent="maker") as run:
        result = await run.call("custom.bare", {"n": 1})
        assert (result.reason, len(place.asker.requests)) == (reason, asked)


async def test_what_a_definition_approves_the_operator_can_still_deny(place: Place) -> None:
    place.define("bare")
    rules = [{"tool": "custom.*", "verdict": "deny"}]
    async with place.open(policy={"rules": rules}) as crib, crib.run(agent="maker") as run:
        assert (await run.call("custom.bare", {"n": 1})).reason == "permission_denied"


async def test_tools_of_a_definition_belong_to_its_agent_alone(place: Place) -> None:
    place.define("bare")
    async with place.open() as crib, crib.run() as run:
        assert "custom.bare" not in run.tools
        assert "comes with the definitions of other agents" in str(run.tools.why("custom.bare"))


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("hintd", "tools.py has no 'hintd'; did you mean hinted? it has bare, beside, broken, full_tool, hinted, "),
        ("constant", "tools.py: constant must be a function or a tool object, not int"),
        ("Point", "tools.py: Point must be a function or a tool object, not the class Point"),
        ("untyped", "untyped says nothing about its parameter 'thing'; give it a type hint, or put a JSON Schema named "
         "untyped_schema beside the function"),
    ],
)  # fmt: skip
async def test_what_is_missing_is_said_with_what_is_there(place: Place, tools: str, said: str) -> None:
    place.define(f"bare, {tools}")
    told = await place.problem()
    assert told.startswith("the agent maker cannot have its tools: ")
    assert said in told


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("x = 1\ny = = 2\n", "tools.py:2: cannot be loaded: invalid syntax"),
        ("x = 1\n\n1 / 0\n", "tools.py:3: cannot be loaded: ZeroDivisionError"),
        ("import helpers_beside\n", "tools.py:1: cannot be loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "tools.py:1: cannot be loaded: SystemExit"),
        ("bare_schema = 3\ndef bare(n): return n\n", "bare_schema must be a JSON Schema (a dict) or a pydantic model"),
        ("bare = {'execute': lambda i: 1}\n", "bare has no inputSchema"),
        ("bare = {'execute': lambda: 1, 'inputSchema': {}}\n", "execute must take (input) or (input, options)"),
        ("from toolcrib import tool\n@tool(isolate='process')\ndef bare(n: int): ...\n", "is for installed modules"),
        ("from toolcrib import tool\n@tool(tags={'internal'})\ndef bare(n: int): ...\n", "'internal' is not for tools"),
    ],
)
async def test_a_module_that_cannot_be_used_says_where_and_why(place: Place, module: str, said: str) -> None:
    place.define("bare", module=module)
    assert said in await place.problem()


async def test_one_broken_module_leaves_other_agents_alone(place: Place) -> None:
    place.define("nothing")
    (place.agents / "other.yaml").write_text(
        "toolsets:\n  custom: {module: other.py, tools: [fine], approval: preApproved}\n"
    )
    (place.agents / "other.py").write_text("def fine() -> str:\n    return 'fine'\n")
    async with place.open() as crib, crib.run(agent="other") as run:
        assert (await run.call("custom.fine")).text == "fine"


async def test_an_agent_of_two_modules_has_neither_until_both_can_be_used(place: Place) -> None:
    entries = "[{module: one.py, tools: [one]}, {module: two.py, tools: [two]}]"
    (place.agents / "maker.yaml").write_text(f"toolsets:\n  custom: {entries}\n")
    (place.agents / "one.py").write_text("def one( -> str:\n")
    (place.agents / "two.py").write_text("def two() -> str:\n    return 'two'\n")
    assert "one.py:1" in await place.problem()


async def test_two_modules_cannot_have_one_name_for_two_tools(place: Place) -> None:
    place.define("bare")
    (place.agents / "other.yaml").write_text("toolsets:\n  custom: {module: other.py, tools: [bare]}\n")
    (place.agents / "other.py").write_text("def bare() -> str:\n    return 'other'\n")
    told = await place.problem("other")
    assert f"other.py: {place.agents / 'tools.py'} has a tool custom.bare already; rename one of them" in told


async def test_a_function_without_a_name_of_its_own_has_that_of_its_export(place: Place) -> None:
    place.define("same", module="same = lambda: 'ran'\n")
    async with place.open() as crib, crib.run(agent="maker") as run:
        assert [spec.description for spec in run.tools.specs] == ["Custom tool: same"]
    place.define("same", module="same = lambda x: x\n")
    assert "named same_schema beside" in await place.problem()


async def test_a_projects_module_is_nothing_until_it_is_trusted_and_then_those_bytes(place: Place) -> None:
    (place.theirs / "maker.yaml").write_text(_definition("bare"))
    (place.theirs / "tools.py").write_text(
        "import os\nos.environ['RAN'] = '1'\ndef bare() -> str:\n    return 'mine'\n"
    )
    os.environ.pop("RAN", None)
    assert "is not trusted" in await place.problem()
    assert "RAN" not in os.environ
    place.trust()
    async with place.open() as crib:
        (place.theirs / "tools.py").write_text("def bare() -> str:\n    return 'theirs'\n")
        assert crib.runtime.registry.snapshot["custom.bare"].handler(None, {}) == "mine"  # pyright: ignore
        with pytest.raises(ConfigError, match="no longer trusted"):
            crib.run(agent="maker")
    os.environ.pop("RAN", None)


async def test_a_changed_module_is_another_contract_for_the_runs_that_are_open(place: Place) -> None:
    place.define("bare", module="def bare() -> str:\n    return 'one'\n")
    async with place.open(tools={"watch": True}) as crib:
        assert crib.outside is not None
        store = crib.runtime.store
        async with crib.run(agent="maker") as run:
            assert (await run.call("custom.bare")).text == "one"
            seen = state_of(crib.config, crib.outside.agents)
            assert look(crib.outside, seen, store) == seen
            place.define("bare", module="def bare() -> str:\n    return 'second'\n")
            look(crib.outside, seen, store)
            assert (await run.call("custom.bare")).reason == "contract_drift"
        async with crib.run(agent="maker") as run:
            assert (await run.call("custom.bare")).text == "second"
            seen = state_of(crib.config, crib.outside.agents)
            place.define("bare", module="def bare( -> str:\n")
            seen = look(crib.outside, seen, store)
            assert "tools.py:1" in str(crib.outside.aside)
            assert (await run.call("custom.bare")).text == "second"
            place.define("bare", module="def bare() -> str:\n    return 'third'\n")
            look(crib.outside, seen, store)
            assert crib.outside.aside == {}


async def test_a_projects_module_goes_at_once_when_it_is_no_longer_what_was_trusted(place: Place) -> None:
    (place.theirs / "maker.yaml").write_text(_definition("bare"))
    (place.theirs / "tools.py").write_text("def bare() -> str:\n    return 'one'\n")
    place.trust()
    async with place.open() as crib, crib.run(agent="maker") as run:
        assert crib.outside is not None
        seen = state_of(crib.config, crib.outside.agents)
        (place.theirs / "tools.py").write_text("def bare() -> str:\n    return 'other'\n")
        seen = look(crib.outside, seen, crib.runtime.store)
        assert (await run.call("custom.bare")).reason == "tool_not_available"
        place.trust()
        look(crib.outside, seen, crib.runtime.store)
        assert crib.runtime.registry.snapshot["custom.bare"].handler(None, {}) == "other"  # pyright: ignore


async def test_declared_commands_come_and_go_while_a_crib_is_open(place: Place) -> None:
    async with place.open(tools={"watch": True}) as crib:
        assert crib.outside is not None
        seen = state_of(crib.config, crib.outside.agents)
        file = place.home / "tools" / "user.hi.json"
        file.parent.mkdir()
        file.write_text(
            '{"name": "user.hi", "description": "Hi.", "command": "echo", "permission": "readonly", "output": "text"}'
        )
        seen = look(crib.outside, seen, crib.runtime.store)
        assert "user.hi" in crib.runtime.registry.snapshot
        file.unlink()
        look(crib.outside, seen, crib.runtime.store)
        assert "user.hi" not in crib.runtime.registry.snapshot


async def test_a_crib_that_watches_notices_by_itself(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.assemble.watching.PERIOD", 0.01)
    async with place.open(tools={"watch": True}) as crib:
        (place.home / "tools").mkdir()
        (place.home / "tools" / "a.json").write_text('{"name": "user.a", "description": "A.", "command": "true"}')
        with anyio.fail_after(10):
            told = [event async for event in _first(crib.events("sources"))]
        assert (told[0].type, "user.a" in crib.runtime.registry.snapshot) == ("source_changed", True)


async def _first(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    async for event in events:
        yield event
        return
