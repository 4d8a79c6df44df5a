"""Real MCP servers, from npm and from PyPI, through the whole counter."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from servers_at_hand import Open

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
NODE = ROOT / ".tools" / "npm" / "node_modules" / "@modelcontextprotocol"
PYTHON = ROOT / ".tools" / "servers" / "bin"


def node(name: str, *arguments: str) -> dict[str, object]:
    script = NODE / f"server-{name}" / "dist" / "index.js"
    assert script.exists(), "the real MCP servers are missing; run: make servers"
    return {"command": "node", "args": [str(script), *arguments], "connect_timeout_ms": 60_000}


def python(name: str, *arguments: str) -> dict[str, object]:
    script = PYTHON / f"mcp-server-{name}"
    assert script.exists(), "the real MCP servers are missing; run: make servers"
    return {"command": str(script), "args": list(arguments), "connect_timeout_ms": 60_000}


def all_servers(folder: Path) -> dict[str, dict[str, object]]:
    """The six real servers, each as mcp.json names it."""
    return {
        "everything": node("everything", "stdio"),
        "files": node("filesystem", str(folder)),
        "memory": node("memory"),
        "time": python("time"),
        "git": python("git"),
        "fetch": python("fetch"),
    }


async def test_the_filesystem_server_reads_and_writes_where_it_may(crib_with: Open, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    async with crib_with(files=node("filesystem", str(folder))) as crib, crib.run() as run:
        note = str(folder / "note.txt")
        assert (await run.call("mcp.files.write_file", {"path": note, "content": "hello"})).ok
        assert "hello" in (await run.call("mcp.files.read_text_file", {"path": note})).text
        assert not (await run.call("mcp.files.read_text_file", {"path": "/etc/passwd"})).ok


async def test_the_everything_server_shows_every_kind_of_answer(crib_with: Open) -> None:
    async with crib_with(all=node("everything", "stdio")) as crib, crib.run() as run:
        assert (await run.call("mcp.all.echo", {"message": "hi"})).text == "Echo: hi"
        picture = await run.call("mcp.all.get-tiny-image", {})
        assert any(block.type == "image" for block in picture.content)
        structured = await run.call("mcp.all.get-structured-content", {"location": "Chicago"})
        assert isinstance(structured.data, dict)
        assert "resources" in str((await run.call("mcp.all.resource_list", {})).data)
        assert "prompts" in str((await run.call("mcp.all.prompt_list", {})).data)
        templates = await run.call("mcp.all.resource_template_list", {})
        assert "demo://resource/dynamic/text/{resourceId}" in str(templates.data)
        assert "Resource 7" in (await run.call("mcp.all.resource_read", {"uri": "demo://resource/dynamic/text/7"})).text
        given = {"resourceType": "Text", "resourceId": "7"}
        prompt = await run.call("mcp.all.prompt_get", {"name": "resource-prompt", "arguments": given})
        assert "Resource 7" in str(prompt.data)
        wrong = await run.call("mcp.all.get-sum", {"a": "one", "b": 2})
        assert wrong.reason == "validation_error"


async def test_a_server_tells_how_far_it_is(crib_with: Open) -> None:
    async with crib_with(all=node("everything", "stdio")) as crib, crib.run() as run:
        events = crib.events(session=run.origin.session_id)
        assert (await anext(events)).type
        steps = {"duration": 0.2, "steps": 4}
        assert (await run.call("mcp.all.trigger-long-running-operation", steps)).ok
        fractions: list[object] = []
        async with asyncio.timeout(10):
            while 1.0 not in fractions:
                event = await anext(events)
                fractions += [(event.payload or {})["fraction"]] if event.type == "tool_progress" else []
        await events.aclose()  # type: ignore[attr-defined]
    assert fractions == [0.25, 0.5, 0.75, 1.0]


async def test_the_memory_server_keeps_what_it_is_told(crib_with: Open, tmp_path: Path) -> None:
    entry = node("memory") | {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
    async with crib_with(memory=entry) as crib, crib.run() as run:
        assert (await run.call("mcp.memory.create_entities", {"entities": [ada]})).ok
        assert "first program" in (await run.call("mcp.memory.search_nodes", {"query": "Ada"})).text


async def test_the_time_server_knows_time_zones(crib_with: Open) -> None:
    async with crib_with(time=python("time")) as crib, crib.run() as run:
        times = {"source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:00"}
        assert "21:00" in (await run.call("mcp.time.convert_time", times)).text


async def test_the_git_server_reads_a_repository(crib_with: Open, tmp_path: Path, git_repository: Path) -> None:
    async with crib_with(git=python("git", "--repository", str(git_repository))) as crib, crib.run() as run:
        log = await run.call("mcp.git.git_log", {"repo_path": str(git_repository)})
        assert "the first commit" in log.text


async def test_the_fetch_server_lists_its_tool(crib_with: Open) -> None:
    async with crib_with(web=python("fetch")) as crib, crib.run() as run:
        assert "mcp.web.fetch" in run.tools


async def test_every_tool_of_every_real_server_can_be_registered(crib_with: Open, tmp_path: Path) -> None:
    async with crib_with({"discovery": {"mode": "eager"}}, **all_servers(tmp_path)) as crib, crib.run() as run:
        assert crib.servers is not None
        assert {name: aside for name, aside in crib.servers.set_aside.items() if aside} == {}
        assert len(run.tools) > 50
        assert len(run.advertise("openai")) == len(run.tools)


async def test_what_the_operator_says_holds_for_resources_and_prompts_too(crib_with: Open) -> None:
    said = {"resource_read": {"hidden": True}, "prompt_get": {"dangerous": True, "network": False}}
    async with crib_with(all={**node("everything", "stdio"), "tools": said}) as crib, crib.run() as run:
        specs = {spec.name: spec for spec in run.tools.specs}
        assert "mcp.all.resource_read" not in specs
        assert "mcp.all.resource_list" in specs
        assert specs["mcp.all.prompt_get"].tags >= {"dangerous"}
        assert not specs["mcp.all.prompt_get"].network
