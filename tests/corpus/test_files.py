"""Attacks on files and everyday use of them, as data: attacks never looser than expected, benign calls not prompted."""

import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.worlds import Folders

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.policy.grants import Grant
from toolcrib.ports import Unit
from toolcrib.testing import MemoryStore, make_run
from toolcrib.toolsets import Services, code, workspace
from toolcrib.values.context import ToolContext
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.refusal import Reason
from toolcrib.values.result import ToolResult
from toolcrib.values.target import Target
from toolcrib.workspace import Access, Boundary, Mount, View, Workspace, writing
from toolcrib.workspace.arguments import spots
from toolcrib.workspace.writing import Folders as Missing

AREAS = ("path_escape", "sensitive_path", "protected_config", "benign_friction", "huge_or_hostile_output", "more_files")
CASES = [json.loads(line) for area in AREAS for line in (Path(__file__).parent / f"{area}.jsonl").open()]

NAMES = {
    "workspace_read": "workspace.read",
    "workspace_write": "workspace.write",
    "workspace_edit": "workspace.edit",
    "workspace_list": "workspace.list",
    "workspace_glob": "workspace.glob",
    "workspace_search": "workspace.search",
    "code.read_file": "code.read_file",
    "code.list_dir": "code.list_dir",
    "code.search": "code.search",
    "code.write_file": "code.write_file",
    "code.edit_file": "code.edit_file",
    "archive_extract": "standin.archive_extract",
    "mcp.read_resource": "standin.read_resource",
    "MemoryStore": "standin.memory_store",
}
ELSEWHERE = {"code.run_command", "shell_exec", "web_fetch", "fake", None}
"""Tools of cases that belong to other drivers: commands, network, registration, results."""

CODES = {
    "not_found": {Reason.FILE_NOT_FOUND},
    "path_outside_root": {Reason.PATH_OUTSIDE_ROOT},
    "not_found_or_path_outside_root": {Reason.FILE_NOT_FOUND, Reason.PATH_OUTSIDE_ROOT},
    "symlink_loop": {Reason.PATH_OUTSIDE_ROOT, Reason.VALIDATION_ERROR},
    "not_regular_file": {Reason.PATH_OUTSIDE_ROOT, Reason.VALIDATION_ERROR},
    "invalid_path": {Reason.VALIDATION_ERROR},
    "patch_path_mismatch": {Reason.PATCH_PATH_MISMATCH},
    "patch_unsupported": {Reason.PATCH_APPLY_FAILED},
}
OURS = [case for case in CASES if case["action"].get("tool") in NAMES]


@dataclass
class World(Folders):
    """A case's folders, and what to do while a question is open."""

    meanwhile: Callable[[], None] | None = None
    asked: list[PermissionRequest] = field(default_factory=list)

    def asker(self, answer: str) -> Callable[[PermissionRequest], Any]:
        async def ask(request: PermissionRequest) -> PermissionDecision:
            self.asked.append(request)
            if self.meanwhile is not None:
                self.meanwhile()
            return PermissionDecision(answer)

        return ask


def set_up(world: World, case: Mapping[str, Any]) -> None:
    for step in world.filled(case["setup"]):
        match step:
            case {"file": path, "content": content}:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_text(content)
            case {"symlink": [path, target]}:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                os.symlink(target, path)
            case {"zip": path, "entries": entries}:
                with zipfile.ZipFile(path, "w") as archive:
                    for name, content in entries.items():
                        archive.writestr(name, content)
            case {"tar": path, "entries": entries}:
                write_tar(Path(path), entries)
            case {"policy": _} | {"session_grant": _} | {"mcp": _} | {"sandbox": _} | {"steps": _}:
                pass
            case _:
                raise AssertionError(f"{case['id']}: the setup {step} is not understood")
    SPECIAL.get(case["id"], lambda world: None)(world)


def write_tar(path: Path, entries: Mapping[str, str]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            if content.startswith("symlink->"):
                entry.type, entry.linkname = tarfile.SYMTYPE, content.removeprefix("symlink->")
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, BytesIO(content.encode()))


def swap_file(world: World) -> None:
    def swap() -> None:
        (world.project / "out.txt").unlink(missing_ok=True)
        (world.project / "out.txt").symlink_to(world.outside / "secret.txt")

    (world.project / "out.txt").write_text("mine")
    world.meanwhile = swap


def swap_parent(world: World) -> None:
    def swap() -> None:
        (world.project / "d").rename(world.project / "d.old")
        (world.project / "d").symlink_to(world.outside)

    (world.project / "d").mkdir()
    (world.project / "d" / "f.txt").write_text("a")
    (world.outside / "f.txt").write_text("a")
    world.meanwhile = swap


def swap_memory(world: World) -> None:
    def swap() -> None:
        (world.scratch / "mem" / "notes").unlink()
        (world.scratch / "mem" / "notes").symlink_to(world.home)

    (world.scratch / "mem" / "real").mkdir()
    world.meanwhile = swap


SPECIAL: dict[str, Callable[[World], None]] = {
    "PATH-055": swap_file,
    "PATH-056": swap_parent,
    "PATH-057": swap_parent,
    "PATH-097": swap_memory,
    "PATH-098": lambda world: (world.project / "link").symlink_to(world.home),
}


def stand_ins(here: Workspace, memory: Workspace | None) -> Toolset:
    """Tools that do not exist yet, on the same path layer that the real ones will use."""
    build = ToolsetBuilder("standin")

    def resource_targets(arguments: Mapping[str, Any]) -> Sequence[Target]:
        target = here.target(arguments["uri"].removeprefix("file://"), View.HOST, Access.READ)
        return [Target(target.kind, target.value, "", target.marks | {"outside"})]

    @build.read(targets=resource_targets)
    async def read_resource(server: str, uri: str) -> str:
        """Read a resource of a server that names a file of the host."""
        return uri

    @build.write(targets=lambda arguments: [here.target(arguments["path"], View.VIRTUAL, Access.READ)])
    async def archive_extract(path: str, dest: str) -> str:
        """Extract an archive, entry by entry, each below the destination."""
        for name, link, body in archived(here.project.root + "/" + path):
            spot = here.locate(f"{dest}/{name}", View.VIRTUAL)
            if link:
                os.symlink(link, spot.host_path)
            else:
                writing.create(here, spot, [body], Missing.MAKE)
        return "extracted"

    @build.write(targets=lambda arguments: [memory.target(arguments["path"], View.VIRTUAL, Access.WRITE)])  # type: ignore[union-attr]
    async def memory_store(context: ToolContext, path: str, text: str) -> str:
        """Keep a note below the memory folder."""
        assert memory is not None
        writing.create(memory, spots(context)[0], [text.encode()], Missing.MAKE)
        return "kept"

    return build.build()


def archived(path: str) -> Iterator[tuple[str, str | None, bytes]]:
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, None, archive.read(name)) for name in archive.namelist())
        return
    with tarfile.open(path) as tar:
        for entry in tar:
            content = tar.extractfile(entry) if entry.isreg() else None
            yield entry.name, entry.linkname if entry.issym() else None, content.read() if content else b""


async def call(world: World, case: Mapping[str, Any], answer: str | None) -> ToolResult:
    setup = {key: value for step in world.filled(case["setup"]) for key, value in step.items()}
    roots = setup.get("policy", {}).get("allowed_write_roots", ())
    boundary = Boundary.of(roots, private=[world.home / ".toolcrib"])
    here = Workspace([Mount.of("/workspace", world.project), Mount.of("/scratch", world.scratch)], boundary=boundary)
    folder = world.scratch / "mem"
    memory = Workspace([Mount.of("/workspace", folder)]) if folder.is_dir() else None
    store = MemoryStore()
    services = Services(workspace=lambda: here, artifacts=store.artifacts, holds_secrets=lambda _: False)
    sets = (code.toolset(services), workspace.toolset(services), stand_ins(here, memory))
    asker = None if answer is None else world.asker(answer)
    async with make_run(*sets, asker=asker, store=store) as run:
        if grant := setup.get("session_grant"):
            fingerprint = run.tools.require(grant["tool"]).tool.fingerprint
            held = Grant(run.origin.grantee, grant["tool"], fingerprint, "path", grant["scope"])
            await store.add_grants([held], Unit((), run.ownership))
        return await run.call(NAMES[case["action"]["tool"]], world.filled(case["action"]["args"]))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


@pytest.mark.anyio
@pytest.mark.parametrize("case", OURS, ids=lambda case: case["id"])
async def test_the_case_holds(case: Mapping[str, Any], world: World) -> None:
    set_up(world, case)
    before = world.state()
    expected = case["expected"]
    if expected == "ask":
        await asks(world, case, before)
    elif expected == "allow":
        result = await call(world, case, "deny")
        assert result.ok, result.error
        assert world.asked == []
        assert "id_ed25519" not in result.text
    else:
        result = await call(world, case, "allow_once")
        assert result.reason in CODES[expected.removeprefix("error:")], result.error
        assert "OUTSIDE" not in result.text
        outside = {path for path, body in world.state().items() if before.get(path) != body and "/outside/" in path}
        assert outside == set()


async def asks(world: World, case: Mapping[str, Any], before: Mapping[str, bytes | str]) -> None:
    """Once, before any effect, with the target in the question; and without anyone to ask it is denied."""
    result = await call(world, case, "deny")
    if result.reason is not Reason.PERMISSION_DENIED:
        assert case["kind"] == "attack"
        assert result.reason in (Reason.PATH_OUTSIDE_ROOT, Reason.VALIDATION_ERROR), result.error
        return
    assert len(world.asked) == 1
    arguments = case["action"]["args"]
    named = os.path.basename(next(arguments[name] for name in ("path", "uri", "glob") if name in arguments))
    question = world.asked[0]
    assert all(named in target.value for target in question.targets)
    assert world.state() == before
    assert (await call(world, case, None)).reason is Reason.PERMISSION_DENIED
    assert world.state() == before


def test_every_case_of_these_areas_is_driven_here_or_belongs_to_another_driver() -> None:
    rest = {case["action"].get("tool") for case in CASES} - NAMES.keys()
    assert rest == ELSEWHERE
