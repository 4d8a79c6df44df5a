"""The sandbox: what it keeps in, what it lets through, and that it fails closed."""

from __future__ import annotations

import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox.bounds import Bounds, Network
from toolcrib.executors.sandbox.bubblewrap import find_bubblewrap
from toolcrib.executors.sandbox.escapes import ATTEMPTS
from toolcrib.executors.sandbox.landlock import find_landlock
from toolcrib.executors.sandbox.sandbox import Finder, Mode, Sandbox
from toolcrib.executors.sandbox.selftest import run_selftest
from toolcrib.values.process import Ended, Job
from toolcrib.values.refusal import Reason, Refusal

pytestmark = pytest.mark.anyio
FINDERS: dict[str, Finder] = {"bubblewrap": find_bubblewrap, "landlock": find_landlock}
HERE = [backend.name for backend in Sandbox(Mode.AUTO).backends()]
"""The backends of this machine; tests of a backend run for those that are there."""
SH = shutil.which("sh") or "/bin/sh"


@pytest.fixture
async def runner() -> AsyncIterator[ProcessRunner]:
    runner = ProcessRunner()
    yield runner
    await runner.close()


async def run(runner: ProcessRunner, backend: str, bounds: Bounds, script: str) -> Ended:
    cwd = bounds.write[0]
    sandbox = Sandbox(Mode.REQUIRE, finders=[FINDERS[backend]])
    confinement = sandbox.confine(SH, cwd, bounds)
    words = (SH, "-c", script)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    job = Job(executable=SH, argv=words, cwd=cwd, environment=environment, timeout=30, confinement=confinement)
    try:
        return await runner.run(job)
    finally:
        sandbox.close()


def test_the_self_test_makes_at_least_twenty_attempts() -> None:
    assert len(ATTEMPTS) >= 20


@pytest.mark.parametrize("backend", HERE)
async def test_no_attempt_to_escape_succeeds(backend: str) -> None:
    done = await run_selftest(Sandbox(Mode.REQUIRE, finders=[FINDERS[backend]]))
    assert (done.backend, [row for row in done.rows if not row.held]) == (backend, [])
    assert len(done.rows) == len(ATTEMPTS) + 1


@pytest.mark.parametrize("backend", HERE)
async def test_a_command_works_in_its_workspace(runner: ProcessRunner, backend: str, tmp_path: Path) -> None:
    ended = await run(runner, backend, Bounds.of([str(tmp_path)]), "echo hi > a; cat a; ls /usr > /dev/null; pwd")
    assert (ended.stdout.text(), ended.stderr.text(), ended.code) == (f"hi\n{tmp_path}\n", "", 0)


@pytest.mark.parametrize("backend", HERE)
async def test_read_roots_can_be_read_and_not_written(runner: ProcessRunner, backend: str, tmp_path: Path) -> None:
    work, data = tmp_path / "work", tmp_path / "data"
    work.mkdir()
    data.mkdir()
    (data / "file").write_text("content")
    ended = await run(
        runner, backend, Bounds.of([str(work)], read=[str(data)]), f"cat {data}/file; echo x > {data}/new"
    )
    assert ended.stdout.text() == "content"
    assert ended.code != 0
    assert not (data / "new").exists()


@pytest.mark.parametrize("backend", HERE)
async def test_the_network_is_there_only_when_switched_on(runner: ProcessRunner, backend: str, tmp_path: Path) -> None:
    script = "exec python3 -c 'import socket,sys; socket.create_connection((\"127.0.0.1\", {port}), 2)'"
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = script.format(port=server.getsockname()[1])
        assert (await run(runner, backend, Bounds.of([str(tmp_path)]), asked)).code != 0
        open_bounds = Bounds.of([str(tmp_path)], network=Network.ON)
        assert (await run(runner, backend, open_bounds, asked)).stderr.text() == ""


@pytest.mark.parametrize("backend", [name for name in HERE if name == "bubblewrap"])
async def test_what_is_hidden_inside_the_workspace_cannot_be_seen(
    runner: ProcessRunner, backend: str, tmp_path: Path
) -> None:
    bounds = home_inside(tmp_path)
    ended = await run(runner, backend, bounds, "ls -A .toolcrib; cat .toolcrib/toolcrib.db")
    assert (ended.stdout.text(), ended.code) == ("", 1)


@pytest.mark.parametrize("backend", [name for name in HERE if name == "landlock"])
def test_a_backend_that_cannot_hide_what_it_must_is_not_used(backend: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot hide") as refused:
        Sandbox(Mode.REQUIRE, finders=[FINDERS[backend]]).confine(SH, str(tmp_path), home_inside(tmp_path))
    assert refused.value.reason is Reason.UNSUPPORTED_CAPABILITY


def home_inside(workspace: Path) -> Bounds:
    home = workspace / ".toolcrib"
    home.mkdir()
    (home / "toolcrib.db").write_text("secret")
    return Bounds.of([str(workspace)], hidden=[str(home)])


@pytest.mark.parametrize("backend", [name for name in HERE if name == "bubblewrap"])
async def test_fixed_paths_in_the_workspace_stay_as_they_are(
    runner: ProcessRunner, backend: str, tmp_path: Path
) -> None:
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(parents=True)
    bounds = Bounds.of([str(tmp_path)], fixed=[str(hooks)])
    ended = await run(runner, backend, bounds, "echo x > .git/hooks/pre-commit; echo y > .git/config")
    assert "Read-only" in ended.stderr.text()
    assert (list(hooks.iterdir()), (tmp_path / ".git" / "config").read_text()) == ([], "y\n")


def _nowhere(place: str) -> str:
    return "it is not installed; install it"


def test_require_without_a_sandbox_refuses_with_reason_and_fix(tmp_path: Path) -> None:
    sandbox = Sandbox(Mode.REQUIRE, finders=[_nowhere])
    with pytest.raises(Refusal, match="it is not installed; install it") as refused:
        sandbox.confine(SH, str(tmp_path), Bounds.of([str(tmp_path)]))
    assert refused.value.reason is Reason.UNSUPPORTED_CAPABILITY


@pytest.mark.parametrize(("mode", "finder"), [(Mode.AUTO, _nowhere), (Mode.OFF, find_landlock)])
def test_auto_goes_without_where_there_is_none_and_off_never_looks(mode: Mode, finder: Finder, tmp_path: Path) -> None:
    assert Sandbox(mode, finders=[finder]).confine(SH, str(tmp_path), Bounds.of([str(tmp_path)])) is None


def test_bubblewrap_that_is_not_there_says_what_to_install(tmp_path: Path) -> None:
    assert "install the package" in str(find_bubblewrap(str(tmp_path), search_path=str(tmp_path)))


async def test_a_self_test_without_a_sandbox_says_so() -> None:
    done = await run_selftest(Sandbox(Mode.REQUIRE, finders=[_nowhere]))
    assert (done.backend, done.holds, done.rows) == (None, False, ())
    assert "it is not installed; install it" in done.missing[0]


def test_a_program_or_folder_outside_the_bounds_is_refused_before_it_is_started(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    bounds = Bounds.of([str(inside)])

    class Anything:
        name = "anything"

        def confine(self, bounds: Bounds, cwd: str) -> None:
            raise AssertionError("must not be reached")

        def shortfall(self, bounds: Bounds) -> None:
            return None

    sandbox = Sandbox(Mode.REQUIRE, finders=[lambda place: Anything()])  # type: ignore[list-item,return-value]
    for executable, cwd in ((SH, str(outside)), (str(outside / "program"), str(inside))):
        with pytest.raises(Refusal, match="sandbox_read_roots") as refused:
            sandbox.confine(executable, cwd, bounds)
        assert refused.value.reason is Reason.PATH_OUTSIDE_ROOT
