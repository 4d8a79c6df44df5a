"""What is generated from the declarations is current and true."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.config import Config, InvalidConfig, init_home
from toolcrib.config.keys import all_keys
from toolcrib.config.reference import reference_text
from toolcrib.config.starter import starter_text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"
EXAMPLES = {name: key.example for name, key in all_keys(Config) if key.example}


def test_the_reference_is_current():
    assert PAGE.read_text() == reference_text(), (
        "run: python -m toolcrib.config.reference docs/reference/configuration.md"
    )


def test_the_command_that_writes_the_reference_writes_it(tmp_path):
    page = tmp_path / "page.md"
    subprocess.run([sys.executable, "-W", "error", "-m", "toolcrib.config.reference", str(page)], check=True)
    assert page.read_text() == reference_text()


def test_every_key_is_in_the_reference_with_its_own_row(desk):
    text = reference_text()
    for row in desk.load().describe():
        section, _, name = row.key.rpartition(".")
        part = text.split(f"\n## {section or name}\n")[1].split("\n## ")[0]
        assert f"\n| `{name}` |" in part


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_loads_and_sets_its_key(desk, name):
    desk.user(EXAMPLES[name])
    assert {given.key for given in desk.load().sources} == {name}


def test_the_starter_file_as_it_is_changes_nothing(desk):
    desk.user(starter_text())
    config = desk.load()
    assert config.sources == ()
    assert all(row.value == row.default for row in config.describe())


def test_the_starter_file_with_every_key_uncommented_says_the_defaults(desk):
    desk.user(re.sub(r"^#(?=\S)", "", starter_text(), flags=re.MULTILINE))
    config = desk.load()
    assert {given.key for given in config.sources} == {row.key for row in config.describe()}
    assert all(row.value == row.default for row in config.describe())


def test_a_new_home_is_for_its_owner_alone_and_loads(desk, tmp_path):
    home = tmp_path / "deep" / "crib"
    made = init_home(home)
    assert [path.name for path in made] == [
        "crib", "tools", "agents", "skills", "memory", "artifacts", "config.toml",
    ]  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    assert (home / "config.toml").read_text() == starter_text()


def test_a_home_that_is_there_is_completed_and_never_overwritten(desk):
    desk.user("[tools]\nmax_threads = 3\n")
    (desk.home / "tools").mkdir()
    made = init_home(desk.home)
    assert {path.name for path in made} == {"agents", "skills", "memory", "artifacts"}
    assert desk.load().tools.max_threads == 3
    assert init_home(desk.home) == []


def test_a_file_in_the_place_of_a_folder_stops_the_set_up(desk):
    (desk.home / "memory").write_text("mine")
    with pytest.raises(InvalidConfig, match="memory: is in the way: a folder belongs there"):
        init_home(desk.home)
    assert (desk.home / "memory").read_text() == "mine"


def test_loading_needs_nothing_beyond_the_standard_library(tmp_path):
    script = (
        "import sys; from pathlib import Path; from toolcrib.config import load;"
        "load(Path(sys.argv[1]), None, None, {});"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names))"
    )
    told = subprocess.run(
        [sys.executable, "-S", "-c", script, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        env=_environment(),
    )
    assert told.stdout.strip() == "['__main__', 'toolcrib']"


def _environment() -> dict[str, str]:
    import toolcrib

    return {"PYTHONPATH": str(Path(toolcrib.__file__).parents[1])}
