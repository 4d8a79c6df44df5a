"""More of what the files of cases are about: what asks inside a granted project, what an answer covers, plan mode."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.test_permission import World, grant
from tests.corpus.test_urls import call, internet_of

from toolcrib import Toolcrib, tool
from toolcrib.askers.question import question_text
from toolcrib.testing import ScriptedAsker
from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio
STEERING = [
    ".git/config", ".GIT/hooks/pre-commit", "sub/.git/config", "src/../.git/config", "./.git//config", ".git./config",
    ".mcp.json", "sub/.mcp.json", ".VSCode/Tasks.json", ".idea/workspace.xml", ".claude/settings.local.json",
    "agents.md", "sub/AGENTS.md", "AGENTS.override.md", "CLAUDE.local.md", "GEMINI.md", ".cursor/rules/x.mdc",
    ".github/copilot-instructions.md", ".zshenv", ".envrc", ".yarnrc", ".cargo/config.toml", ".husky/pre-commit",
    ".pre-commit-config.yaml", ".devcontainer/devcontainer.json", "toolcrib.toml", ".toolcrib/agents/x.md", ".npmrc",
    ".fleet/settings.json", "x.code-workspace", ".jj/repo/config",
]  # fmt: skip
ORDINARY = [
    "Makefile", "package.json", "pyproject.toml", "git/config", "x.git.txt", ".gitignore", ".env.example", "bashrc",
    "docs/AGENTS.txt", "agents/x.py", "src/mcp.py", "claude.py", ".dockerignore", "tsconfig.json", ".eslintrc.json",
    ".editorconfig", "docs/git/hooks.md", ".github/ISSUE_TEMPLATE.md",
]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


async def outcome(world: World, run: Any, name: str, arguments: dict[str, Any]) -> str:
    world.asked.clear()
    await run.user_message("go on")
    result = await run.call(name, world.filled(arguments))
    return "ask" if world.asked else "allow" if result.reason is not Reason.PERMISSION_DENIED else "deny"


async def test_a_grant_for_the_project_covers_its_files_and_nothing_that_steers_programs(world: World) -> None:
    async with AsyncExitStack() as stack:
        crib = await stack.enter_async_context(world.crib())
        run = await stack.enter_async_context(crib.run(workspace=world.project))
        await grant(run, "code.write_file", str(world.project))
        wrong = {
            path: got
            for paths, expected in ((STEERING, "ask"), (ORDINARY, "allow"))
            for path in paths
            if (got := await outcome(world, run, "code.write_file", {"path": path, "content": "x", "overwrite": True}))
            != expected
        }
    assert wrong == {}


def write(path: str) -> tuple[str, dict[str, Any]]:
    return "code.write_file", {"path": path, "content": "x", "overwrite": True}


def run_command(*argv: str, **more: str) -> tuple[str, dict[str, Any]]:
    return "code.run_command", {"argv": list(argv), **more}


ANSWERS: dict[str, tuple[tuple[str, dict[str, Any]], list[tuple[tuple[str, dict[str, Any]], str]]]] = {
    "a file": (
        write("docs/a.md"),
        [
            (write("docs/b.md"), "allow"),
            (write("docs/deep/er/b.md"), "allow"),
            (write("a.md"), "ask"),
            (write("docs2/a.md"), "ask"),
            (write("docs/../src/a.py"), "ask"),
            (write("DOCS/a.md"), "ask"),
            (write("docs/AGENTS.md"), "ask"),
            (write("docs/.env"), "ask"),
            (write("${O}/docs/a.md"), "ask"),
            (("code.edit_file", {"path": "docs/a.md", "edits": [{"old": "x", "new": "y"}]}), "ask"),
        ],
    ),
    "a command that makes files": (
        run_command("touch", "a1"),
        [
            (run_command("touch", "a2"), "allow"),
            (run_command("touch", "../outside/x"), "ask"),
            (run_command("touch", ".git/x"), "ask"),
            (run_command("touch", ".bashrc"), "ask"),
            (run_command("touch", "a3", cwd="docs"), "ask"),
            (run_command("env", "touch", "a4"), "ask"),
            (("shell.run", {"command": "touch a5"}), "ask"),
        ],
    ),
    "a line for the shell": (
        ("shell.run", {"command": "touch x"}),
        [
            (("shell.run", {"command": "touch y"}), "allow"),
            (("shell.run", {"command": "touch y; rm z"}), "ask"),
            (("shell.run", {"command": "touch $(id)"}), "ask"),
            (("shell.run", {"command": "touch y | sh"}), "ask"),
        ],
    ),
    "a dangerous tool": (
        ("workspace.delete", {"path": "src/a.py"}),
        [(("workspace.delete", {"path": "a.py"}), "ask"), (("workspace.delete", {"path": "src"}), "ask")],
    ),
    "an interpreter": (run_command("python3", "-V"), [(run_command("python3", "-V"), "ask")]),
}


@pytest.mark.parametrize(("first", "then"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_an_answer_for_the_session_covers_what_it_said_and_no_more(world: World, first: Any, then: Any) -> None:
    (world.project / ".git").mkdir()
    async with AsyncExitStack() as stack:
        crib = await stack.enter_async_context(world.crib())
        run = await stack.enter_async_context(crib.run(workspace=world.project))
        world.answer = "allow_for_session"
        assert await outcome(world, run, *first) == "ask"
        world.answer = "deny"
        assert [await outcome(world, run, *each) for each, _ in then] == [expected for _, expected in then]


URLS = {
    "deny": [
        "http://ok.example:80@evil.test/", "http://ok.example.evil.test/", "http://ok.example%2eevil.test/",
        "http://ok.example\\.evil.test/", "http:/\\ok.example/", "//ok.example/", "https:///ok.example/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/", "http://[::127.0.0.1]/", "http://0x7f.1/", "http://127.000.000.001/",
        "http://[64:ff9b::a9fe:a9fe]/", "http://[2002:7f00:1::]/", "http://metadata.google.internal/",
        "http://foo.localhost/", "http://ok.example:080/", "http://ok.example:٨٠/", "view-source:http://ok.example/",
        "http://ⓞⓚ.example/", "http://ok..example/", "http://docs.example/", "http://①②⑦.0.0.1/", "http://[::]/",
        "http://127.0.0.1.nip.io/", "http://255.255.255.255/", "http://ok.example?@evil.test/",
    ],
    "allow": [
        "https://ok.example/a?b=c#d", "HTTPS://OK.EXAMPLE/", "http://ok.example./", "http://a.b.docs.example/",
        "http://ok.example/?u=user@host", "http://ok.example/a@b", "http://ok.example/?to=http://evil.test",
        "http://ok.example/päth/日本", "http://ok.example/x;y=1?q=a+b&c[]=1", "http://ok.example?x=1",
        "https://ok.example/~user/", "https://ok.example/a//b", "https://ok.example/search?q=127.0.0.1",
        "http://bücher.docs.example/", "http://a_b.docs.example/",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("url", "expected"), [(url, expected) for expected, urls in URLS.items() for url in urls])
async def test_a_url_is_reached_or_not_and_nobody_is_asked(url: str, expected: str) -> None:
    network = {"allow_hosts": ["ok.example", "*.docs.example"], "deny_private": True}
    case = {
        "id": "",
        "setup": [{"policy": {"network": network}}],
        "action": {"tool": "web_fetch", "args": {"url": url}},
    }
    internet, asker = internet_of(case), ScriptedAsker.always("allow_once")
    result = await call(case, internet, asker)
    assert (result.ok, asker.requests) == (expected == "allow", []), result.text
    assert not [each for each in internet.dialled if each.startswith("127.")]
    assert result.ok or result.reason is Reason.PERMISSION_DENIED


LINES = {
    "ls \u202e;rm -rf ~": "\\u202e", "ls\u200b": "\\u200b", "cat a\ufe0f b": "\\ufe0f", "rm \u2800x": "\\u2800",
    "ls\rrm x": "\\r", "ls\x1b]8;;http://evil\x07click": "\\x1b", "ls\u2028rm x": "\\u2028", "rm\u0336 x": "\\u0336",
    "сurl evil": "is not spelled as it looks", "ls \U000e0072\U000e006d": "\\U000e0072", "echo a\u00ad": "\\xad",
    "echo" + " " * 300 + "; rm x": "gap of 300 blanks", "ls \ufff9a\ufffab": "\\ufff9", "echo\u00a0x": "\\xa0",
    "ls\n\n\n\n  because  an operator said so": "\\n\\n\\n\\n  because", "ls # fine\nrm -rf ~": "\\nrm -rf ~",
}  # fmt: skip


@pytest.mark.parametrize(("line", "shown"), LINES.items())
async def test_nothing_in_a_command_can_disguise_it(world: World, line: str, shown: str) -> None:
    async with world.crib() as crib, crib.run(workspace=world.project) as run:
        await run.call("shell.run", {"command": line})
    [request] = world.asked
    text = question_text(request)
    assert shown in text
    assert all(each == "\n" or each.isprintable() for each in text)


async def test_plan_mode_has_no_way_around_it(tmp_path: Path) -> None:
    done: list[str] = []

    @tool(name="notes.add", tags={"internal"})
    async def add() -> None:
        """Add a note."""
        done.append("added")

    @tool.read(name="notes.read")
    async def read() -> str:
        """Read the notes."""
        return "read"

    (tmp_path / "a.txt").write_text("x")
    asker = ScriptedAsker.always("allow_for_session")
    config: Any = {"policy": {"rules": [{"tool": "**", "verdict": "allow"}]}}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=tmp_path, tools=[add, read], config=config, asker=asker) as crib,
        crib.run(mode="plan") as run,
    ):
        outcomes = {
            name: (await run.call(name, arguments)).reason
            for name, arguments in {
                "workspace.read": {"path": "a.txt"},
                "code.write_file": {"path": "b", "content": "x"},
                "code__write_file": {"path": "b", "content": "x"},
                "tools.call": {"name": "code.write_file", "arguments": {"path": "b", "content": "x"}},
                "code.run_command": {"argv": ["touch", "b"]},
                "shell.run": {"command": "ls"},
                "notes.add": {},
                "notes.read": {},
            }.items()
        }
    assert outcomes.pop("workspace.read") is None
    assert set(outcomes.values()) == {Reason.TOOL_NOT_AVAILABLE}
    assert (done, asker.requests, (tmp_path / "b").exists()) == ([], [], False)


async def test_a_question_about_a_command_says_what_about_it_is_asked(world: World) -> None:
    async with world.crib() as crib, crib.run(workspace=world.project) as run:
        await run.call("code.run_command", {"argv": ["tail", "-3", "a.py"]})
    assert "no rule covers the command 'tail -3 a.py'" in world.asked[0].because
