"""A self-test of the sandbox: prepares things worth reaching, tries to reach them from inside, looks what happened."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import cast

from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox import escapes
from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.escapes import World
from toolcrib.executors.sandbox.sandbox import Mode, Sandbox
from toolcrib.values.noun import frozen
from toolcrib.values.process import Ended, Job
from toolcrib.values.refusal import Refusal

SECRET = "the secret of the self-test"
LEFT_BEHIND = "leave a process behind"
SECONDS = 30.0
PROGRAM = os.path.realpath(sys.executable)


@frozen
class Row:
    """One attempt to escape: whether the sandbox held, and what was seen."""

    name: str
    held: bool
    detail: str


@frozen
class Selftest:
    """What the sandbox of this machine is worth. Without a backend there are no rows, only reasons."""

    backend: str | None
    rows: tuple[Row, ...]
    missing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.backend is not None and bool(self.rows) and all(row.held for row in self.rows)


async def run_selftest(sandbox: Sandbox | None = None) -> Selftest:
    """Try every escape in the sandbox that commands would get on this machine."""
    sandbox = sandbox or Sandbox(Mode.REQUIRE)
    with tempfile.TemporaryDirectory(prefix="toolcrib-selftest-") as folder, _world(folder) as world:
        bounds = Bounds.of([world.workspace], read=[sys.prefix, sys.base_prefix], hidden=[world.home])
        try:
            ended, backend = await _try_all(sandbox, bounds, world)
        except Refusal as refusal:
            return Selftest(None, (), (*sandbox.missing, refusal.message))
        return Selftest(backend, tuple(_rows(ended, world)), tuple(sandbox.missing))


def run_selftest_sync(sandbox: Sandbox | None = None) -> Selftest:
    """The same, for code without an event loop."""
    return asyncio.run(run_selftest(sandbox))


async def _try_all(sandbox: Sandbox, bounds: Bounds, world: World) -> tuple[Ended, str]:
    program = PROGRAM
    words = (program, "-I", "-S", f"{world.workspace}/escapes.py", json.dumps(asdict(world)))
    confinement = sandbox.confine(program, world.workspace, bounds)
    job = Job(
        executable=program,
        argv=words,
        cwd=world.workspace,
        environment={"PATH": os.defpath},
        timeout=SECONDS,
        confinement=confinement,
    )
    runner = ProcessRunner()
    try:
        return await runner.run(job), confinement.backend if confinement else "none"
    finally:
        await runner.close()


def _rows(ended: Ended, world: World) -> Generator[Row]:
    told = [cast("dict[str, object]", json.loads(line)) for line in ended.stdout.text().splitlines() if line[:1] == "{"]
    found = {str(row["name"]): Row(str(row["name"]), bool(row["held"]), str(row["detail"])) for row in told}
    for name in escapes.ATTEMPTS:
        row = found.get(name, Row(name, held=False, detail=f"was not tried: {ended.stderr.text()[-300:]}"))
        if name == LEFT_BEHIND:
            stays = _still_runs(world)
            row = Row(name, not stays, "it is still there" if stays else "it is gone")
        yield row
    damage = _damage(world)
    yield Row("leave any trace outside", not damage, damage or "nothing outside was touched")


def _damage(world: World) -> str:
    secret = Path(world.secret)
    if not secret.exists() or secret.read_text() != SECRET or secret.stat().st_mode & 0o777 != 0o600:
        return "the secret file was changed"
    written = sorted(path.name for path in Path(world.outside).iterdir()) != ["secret"]
    planted = [path for path in ("/etc/toolcrib-escape", "/usr/bin/toolcrib-escape") if os.path.exists(path)]
    return f"{planted[0]} was written" if planted else "a file was written outside" if written else ""


def _still_runs(world: World) -> bool:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if world.abstract_socket.encode() in entry.read_bytes() and entry.parent.name != str(os.getpid()):
                return True
        except OSError:
            continue
    return False


@contextmanager
def _world(folder: str) -> Generator[World]:
    base = Path(folder)
    for name in ("outside", "home", "workspace"):
        (base / name).mkdir()
    secret = base / "outside" / "secret"
    shutil.copyfile(escapes.__file__, base / "workspace" / "escapes.py")
    secret.write_text(SECRET)
    secret.chmod(0o600)
    (base / "home" / "toolcrib.db").write_text(SECRET)
    name = f"toolcrib-{secrets.token_hex(8)}"
    bystander = subprocess.Popen(["sleep", "60"], env={"PATH": os.defpath, "SECRET": SECRET})
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as by_path, _abstract(name):
        by_path.bind(str(base / "service"))
        by_path.listen()
        try:
            yield World(
                outside=str(base / "outside"), secret=str(secret), home=str(base / "home"),
                workspace=str(base / "workspace"), pid=bystander.pid, port=server.getsockname()[1],
                unix_socket=str(base / "service"), abstract_socket=name, variable="TOOLCRIB_SELFTEST",
            )  # fmt: skip
        finally:
            bystander.send_signal(signal.SIGKILL)
            bystander.wait()


@contextmanager
def _abstract(name: str) -> Generator[None]:
    with socket.socket(socket.AF_UNIX) as server:
        if sys.platform == "linux":
            server.bind("\0" + name)
            server.listen()
        yield
