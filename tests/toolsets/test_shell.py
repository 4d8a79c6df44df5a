"""The command tools through the whole counter: asked before, bounded after, and nothing left over."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from toolcrib.executors.environment import command_environment
from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.sandbox import Mode, Sandbox
from toolcrib.testing.run import make_run
from toolcrib.toolsets.shell import Background, CommandServices, Ground, run_command_tool, toolset
from toolcrib.toolsets.shell.answer import clean, cut
from toolcrib.toolsets.shell.places import HostPlaces
from toolcrib.values.call import ToolCall
from toolcrib.values.context import ToolContext
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.process import Confinement
from toolcrib.values.refusal import Reason, Refusal

pytestmark = pytest.mark.anyio


@dataclass
class Asked:
    """An asker that says yes and remembers what it was asked."""

    requests: list[PermissionRequest] = field(default_factory=list)
    answer: str = "allow_once"

    async def __call__(self, request: PermissionRequest) -> PermissionDecision:
        self.requests.append(request)
        return PermissionDecision(self.answer)


@dataclass
class Kept:
    """Where output goes that does not fit into a result."""

    bodies: list[bytes] = field(default_factory=list)

    async def __call__(self, chunks: Iterable[bytes], context: ToolContext) -> str:
        self.bodies.append(b"".join(chunks))
        return f"artifact{len(self.bodies)}"


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[CommandServices]:
    processes = ProcessRunner()
    root = tmp_path / "project"
    root.mkdir()
    services = CommandServices(
        processes=processes,
        background=Background(processes),
        ground=lambda: Ground(str(root), HostPlaces(roots=(str(root),), sensitive=lambda path: path.endswith("/.env"))),
        environment=command_environment(os.environ, ["PATH"]),
        timeout=20,
    )
    yield services
    await services.background.close()
    await processes.close()


@pytest.fixture
def asked() -> Asked:
    return Asked()


async def test_a_command_is_asked_about_once_with_all_of_it_and_then_runs(
    services: CommandServices, asked: Asked
) -> None:
    async with make_run(run_command_tool(services), asker=asked) as run:
        result = await run.call("code.run_command", {"argv": ["echo", "a b", "c"]})
    assert (result.text, result.metadata["exit_code"]) == ("a b c", 0)
    [request] = asked.requests
    assert [(target.kind, target.value) for target in request.targets] == [("command", "echo 'a b' c")]
    assert request.grant_scope == f"command exe=/usr/bin/echo cwd={services.ground().root}"


async def test_without_anyone_to_ask_nothing_runs(services: CommandServices) -> None:
    async with make_run(run_command_tool(services), toolset(services)) as run:
        for name, arguments in (("code.run_command", {"argv": ["touch", "x"]}), ("shell.run", {"command": "touch x"})):
            result = await run.call(name, arguments)
            assert result.reason is Reason.PERMISSION_DENIED
    assert not (Path(services.ground().root) / "x").exists()


async def test_a_session_answer_covers_the_same_program_and_folder_only(
    services: CommandServices, asked: Asked
) -> None:
    asked.answer = "allow_for_session"
    (Path(services.ground().root) / "sub").mkdir()
    async with make_run(run_command_tool(services), asker=asked) as run:
        for argv, cwd in (
            (["ls"], None),
            (["ls", "-l"], None),
            (["ls"], "sub"),
            (["wc"], None),
            (["sh", "-c", "ls"], None),
        ):
            await run.call("code.run_command", {"argv": argv, "cwd": cwd})
        await run.call("code.run_command", {"argv": ["sh", "-c", "ls"]})
    asked_about = [request.targets[0].value for request in asked.requests]
    assert asked_about == ["ls", "ls", "wc", "sh -c ls", "sh -c ls"]


@pytest.mark.parametrize(
    ("arguments", "path", "mark"),
    [
        ({"argv": ["cat", ".env"]}, "{root}/.env", "sensitive"),
        ({"argv": ["mytool", "--file=.env"]}, "{root}/.env", "sensitive"),
        ({"argv": ["curl", "-d", "@.env", "x"]}, "{root}/.env", "sensitive"),
        ({"argv": ["git", "show", "HEAD:.env"]}, "{root}/.env", "sensitive"),
        ({"argv": ["cat", "link"]}, "/etc/hostname", "outside"),
        ({"argv": ["cat", "../x"]}, "{parent}/x", "outside"),
        ({"argv": ["touch", "/var/x"]}, "/var/x", "outside"),
        ({"argv": ["ls"], "cwd": "/var"}, "/var", "outside"),
        ({"argv": ["ls"], "cwd": ".."}, "{parent}", "outside"),
    ],
)
async def test_paths_that_must_be_asked_about_are_declared(
    services: CommandServices, arguments: dict[str, object], path: str, mark: str
) -> None:
    root = Path(services.ground().root)
    (root / ".env").write_text("SECRET=1")
    (root / "link").symlink_to("/etc/hostname")
    targets = run_command_tool(services).targets(arguments)  # type: ignore[arg-type]
    marked = {target.value: target.marks for target in targets if target.marks}
    assert mark in marked[path.format(root=root, parent=root.parent)]


@pytest.mark.parametrize(
    "argv", [["cat", "a"], ["grep", "-rn", "/etc", "."], ["git", "commit", "-m", "see .env"], ["ls", "/usr"]]
)
async def test_ordinary_words_are_not_taken_for_paths(services: CommandServices, argv: list[str]) -> None:
    targets = run_command_tool(services).targets({"argv": argv})
    assert [target for target in targets if target.marks] == []


async def test_a_program_that_is_not_there_is_an_error_with_its_name(services: CommandServices, asked: Asked) -> None:
    async with make_run(run_command_tool(services), asker=asked) as run:
        result = await run.call("code.run_command", {"argv": ["nosuchprogram"]})
        empty = await run.call("code.run_command", {"argv": []})
    assert (result.reason, "'nosuchprogram'" in result.text) == (Reason.FILE_NOT_FOUND, True)
    assert empty.reason is Reason.VALIDATION_ERROR


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 3", "Exit code 3."),
        ("nosuchprogram", "Exit code 127: a program was not found"),
        ("./plain", "Exit code 126: a program was found but could not be executed"),
        ("kill -9 $$", "Ended by signal 9: it was killed"),
        ("sh -c 'kill -11 $$'; exit 139", "signal 11: it crashed"),
        ("true", "(no output)"),
        ("echo out; echo err >&2", "out\n[stderr]\nerr"),
    ],
)
async def test_the_end_of_a_command_is_explained(
    services: CommandServices, asked: Asked, command: str, said: str
) -> None:
    (Path(services.ground().root) / "plain").write_text("x")
    async with make_run(toolset(services), asker=asked) as run:
        result = await run.call("shell.run", {"command": command})
    assert result.reason is None
    assert said in result.text


async def test_a_call_can_shorten_the_time_limit_and_keeps_what_was_written(
    services: CommandServices, asked: Asked
) -> None:
    async with make_run(toolset(services), asker=asked) as run:
        result = await run.call("shell.run", {"command": "echo begun; sleep 300", "timeout_ms": 800})
    assert result.reason is Reason.TIMEOUT
    assert result.text.startswith("begun\n[It was stopped at its time limit")


async def test_a_call_cannot_raise_the_time_limit(services: CommandServices, asked: Asked) -> None:
    async with make_run(toolset(replace(services, timeout=0.5)), asker=asked) as run:
        result = await run.call("shell.run", {"command": "sleep 300", "timeout_ms": 600_000})
    assert result.reason is Reason.TIMEOUT


async def test_an_aborted_call_keeps_what_was_written(services: CommandServices, asked: Asked, tmp_path: Path) -> None:
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    async with make_run(toolset(services), asker=asked) as run:
        call = ToolCall("shell.run", {"command": f"echo begun; echo > {fifo}; sleep 300"})
        calling = asyncio.ensure_future(run.turn([call]))
        await asyncio.to_thread(fifo.read_bytes)
        run.abort("enough")
        [result] = await calling
    assert result.reason is Reason.ABORTED
    assert "begun" in result.text


async def test_a_background_child_does_not_hold_up_the_result(services: CommandServices, asked: Asked) -> None:
    async with make_run(run_command_tool(services), asker=asked) as run:
        result = await run.call("code.run_command", {"argv": ["sh", "-c", "sleep 300 & echo done"]})
    assert result.text == "done\n[1 background process was left behind, and ended.]"


async def test_a_command_that_leaves_nothing_behind_is_not_said_to(services: CommandServices, asked: Asked) -> None:
    sandbox = Sandbox(Mode.AUTO)

    def confine(executable: str, cwd: str) -> Confinement | None:
        return sandbox.confine(executable, cwd, Bounds.of([services.ground().root]))

    for confined in (services, replace(services, confine=confine)):
        async with make_run(toolset(confined), asker=asked) as run:
            commands = [f"printf 'a\\n{n}\\n' | wc -l" for n in range(5)]
            texts = {(await run.call("shell.run", {"command": command})).text for command in commands}
        assert texts == {"2"}


async def test_long_output_is_cut_in_the_middle_and_kept_as_an_artifact(
    services: CommandServices, asked: Asked
) -> None:
    kept = Kept()
    async with make_run(toolset(replace(services, keep=kept, shown=300)), asker=asked) as run:
        result = await run.call("shell.run", {"command": "seq 1 2000"})
    assert len(result.text) < 500
    shown = re.sub(r"\n\[… 8,\d{3} characters left out …\]\n", "", result.text.partition("\nstdout: ")[0])
    assert f"{8_893 - len(shown) - 1:,} characters left out" in result.text
    assert result.text.startswith("1\n2\n")
    assert "1999\n2000" in result.text
    assert result.artifacts == ("artifact1",)
    assert kept.bodies == ["".join(f"{number}\n" for number in range(1, 2001)).encode()]


async def test_an_artifact_is_capped_and_says_what_was_cut(services: CommandServices, asked: Asked) -> None:
    kept = Kept()
    async with make_run(toolset(replace(services, keep=kept, shown=300, kept=1_000)), asker=asked) as run:
        result = await run.call("shell.run", {"command": "head -c 5000 /dev/zero | tr '\\0' x"})
    assert [len(body) for body in kept.bodies] == [1_000]
    assert "the first 1000 of 5000 bytes; 4000 were cut" in result.text


async def test_a_required_sandbox_that_is_missing_refuses_the_command(services: CommandServices, asked: Asked) -> None:
    def none(executable: str, cwd: str) -> Confinement | None:
        raise Refusal(Reason.UNSUPPORTED_CAPABILITY, "there is no sandbox; install one")

    async with make_run(toolset(replace(services, confine=none)), asker=asked) as run:
        result = await run.call("shell.run", {"command": "touch x"})
    assert (result.reason, result.text) == (Reason.UNSUPPORTED_CAPABILITY, "there is no sandbox; install one")
    assert not (Path(services.ground().root) / "x").exists()


async def test_a_background_process_is_started_read_written_listed_and_killed(
    services: CommandServices, asked: Asked
) -> None:
    async with make_run(toolset(services), asker=asked) as run:
        await run.call("shell.start", {"command": "read line; echo got $line; sleep 300"})
        await run.call("shell.write", {"process": "p1", "text": "hello\n"})
        polled = await run.call("shell.poll", {"process": "p1", "wait_ms": 10_000})
        listed = await run.call("shell.list", {})
        killed = await run.call("shell.kill", {"process": "p1"})
        missing = await run.call("shell.poll", {"process": "p9"})
    assert polled.text == "got hello\n[still running]"
    assert [row["running"] for row in listed.data] == [True]  # type: ignore[union-attr,index,call-overload]
    assert "ended: It was stopped" in killed.text
    assert (missing.reason, "p1" in missing.text) == (Reason.VALIDATION_ERROR, True)


async def test_background_processes_end_with_their_run(services: CommandServices, asked: Asked) -> None:
    async with make_run(toolset(services), asker=asked) as run:
        await run.call("shell.start", {"command": "setsid sleep 300"})
        [process] = services.background.of_run(run.origin.run_id)
        await services.background.end_run(run.origin.run_id)
    assert (process.ended is not None, services.background.of_run(run.origin.run_id)) == (True, [])


async def test_too_many_background_processes_are_refused(services: CommandServices, asked: Asked) -> None:
    few = replace(services, background=Background(services.processes, most=1))
    async with make_run(toolset(few), asker=asked) as run:
        await run.call("shell.start", {"command": "sleep 300"})
        result = await run.call("shell.start", {"command": "sleep 300"})
        await few.background.end_run(run.origin.run_id)
    assert result.reason is Reason.WORKER_BUSY


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("a\r\nb", "a\nb"),
        ("\x1b]0;title\x07x", "x"),
        ("a\x00b\x07c\x9b1m", "abc1m"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("one\r\rtwo\r\nthree\r", "two\nthree"),
        ("a\x1bPquery\x1b\\b", "ab"),
        ("x" * 3_000_000, "x" * 3_000_000),
        ("\x1bP" * 1_500_000, ""),
        ("\x1b]" * 1_500_000, ""),
        ("\r" * 3_000_000, ""),
    ],
    ids=range(12),
)
async def test_what_only_a_terminal_understands_is_taken_out(raw: str, shown: str) -> None:
    assert clean(raw) == shown


async def test_a_text_of_many_lines_is_cut_like_a_long_one() -> None:
    lines = [f"{number}\n" for number in range(1_000, 4_000)]
    shown = cut("".join(lines), 1_000_000)
    assert shown == "".join(lines[:1_200]) + "\n[… 6,000 characters left out …]\n" + "".join(lines[-600:])


async def test_a_text_is_cut_in_the_middle() -> None:
    assert cut("short", 10) == "short"
    assert cut("a" * 50 + "b" * 50, 30).startswith("a" * 20 + "\n[… 70 characters left out …]\n" + "b" * 10)
