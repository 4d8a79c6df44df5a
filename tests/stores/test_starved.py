"""A real file system that is full, read-only or failing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock

SCRIPT = Path(__file__).with_name("starved.py")
ALONE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.mark.parametrize("durability", Durability)
@pytest.mark.parametrize("scenario", ["full", "readonly", "broken"])
def test_a_starved_store_refuses_clearly_and_loses_nothing(
    tmp_path: Path, scenario: str, durability: Durability
) -> None:
    prefix = [] if scenario == "broken" else ALONE
    command = [*prefix, sys.executable, str(SCRIPT), scenario, str(tmp_path), durability.value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_store_in_memory_of_the_machine_is_warned_about(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from toolcrib.stores.sqlite.place import doubts;"
        "print(*doubts(Path(sys.argv[1]) / 'store.db'))"
    )
    shell = 'mount -t tmpfs tmpfs "$2" && exec "$0" -c "$1" "$2"'
    command = [*ALONE, "sh", "-c", shell, sys.executable, script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "is on tmpfs: it is gone when the machine restarts" in done.stdout, done.stderr


def test_a_store_on_an_ordinary_disk_is_not_warned_about(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.db", durability=Durability.NORMAL, clock=FrozenClock())
    assert [text for text in store.warnings() if "lock" in text] == []
