"""What an install brings in, and that it can be repeated anywhere: hashed pins, no index addresses, a small core."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINS = sorted([*ROOT.glob("requirements/*.txt"), *ROOT.glob("bench/peers/requirements/*.txt")])
PIN = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^ ;\\]+)", re.MULTILINE)
INDEX_HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"}


def tracked_files() -> list[Path]:
    # safe.directory: a clone may belong to another user than the one who runs the tests.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def pinned(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / "requirements" / name).read_text()))


def normalised(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def settings() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_no_lock_file_is_tracked() -> None:
    assert [file for file in tracked_files() if file.name in LOCK_FILES] == []


def test_no_tracked_file_names_a_package_index() -> None:
    named = {
        (file.relative_to(ROOT).as_posix(), host)
        for file in tracked_files()
        for host in INDEX_HOSTS
        if host.encode() in file.read_bytes()
    }
    assert named == set()


@pytest.mark.parametrize("pins", PINS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_pin_is_exact_and_hashed_and_says_nothing_of_where_it_comes_from(pins: Path) -> None:
    statements = re.sub(r"\\\n\s*", "", re.sub(r"#.*", "", pins.read_text())).split("\n")
    for statement in filter(None, map(str.strip, statements)):
        assert PIN.match(statement), statement
        assert "--hash=sha256:" in statement, statement
    assert not re.search(r"://|--index-url|--extra-index-url|--find-links", pins.read_text())


def test_the_core_install_is_at_most_twelve_distributions() -> None:
    assert len(pinned("core.txt")) <= 12, sorted(pinned("core.txt"))


@pytest.mark.parametrize("name", ["core.txt", "all.txt"])
def test_what_users_install_is_what_is_tested(name: str) -> None:
    tested = pinned("dev.txt")
    assert {name: tested.get(name) for name in pinned(name)} == pinned(name)


def test_every_declared_dependency_is_pinned() -> None:
    project = settings()["project"]
    extras = [requirement for group in project["optional-dependencies"].values() for requirement in group]
    assert {normalised(name) for name in project["dependencies"]} <= set(pinned("core.txt"))
    assert {normalised(name) for name in extras} <= set(pinned("all.txt"))


def test_the_extra_named_all_holds_every_other_extra() -> None:
    extras = settings()["project"]["optional-dependencies"]
    others = {requirement for name, group in extras.items() if name != "all" for requirement in group}
    assert set(extras["all"]) == others


def test_the_version_is_written_once_more_and_the_same() -> None:
    import toolcrib

    assert toolcrib.__version__ == settings()["project"]["version"]


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = "import sys, toolcrib; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"pydantic", "rich", "click", "numpy", "hypothesis"} & set(loaded) == set()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111, "not executable"
    assert script.read_text().splitlines()[-1] == "make test"
    assert re.search(r"\bmake test\b(?!-)", (ROOT / "README.md").read_text())
