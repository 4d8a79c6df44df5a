"""Files that the operating system keeps from the user: the code, the path and the way out, and nothing is changed."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcrib.values.json import Json

SCRIPT = Path(__file__).with_name("unprivileged.py")
CLOSED: dict[str, tuple[str, dict[str, Json]]] = {
    "read a file": ("code.read_file", {"path": "closed.txt"}),
    "read a window": ("workspace.read", {"path": "closed.txt"}),
    "read below a folder": ("code.read_file", {"path": "closed/inside.txt"}),
    "list a folder": ("code.list_dir", {"path": "closed"}),
    "write a new file": ("code.write_file", {"path": "fixed/new.txt", "content": "x"}),
    "edit a file": ("code.edit_file", {"path": "closed.txt", "edits": [{"old": "secret", "new": "x"}]}),
    "edit in a fixed folder": ("code.edit_file", {"path": "fixed/f.txt", "edits": [{"old": "old", "new": "x"}]}),
    "delete a file": ("workspace.delete", {"path": "fixed/f.txt"}),
    "move a file": ("workspace.move", {"source": "fixed/f.txt", "destination": "g.txt"}),
}


@pytest.fixture
def project() -> Iterator[Path]:
    """A project that anyone may enter, with parts that nobody may; below a folder that pytest does not close."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "project"
        for name, text in (("closed.txt", "secret"), ("closed/inside.txt", "secret"), ("fixed/f.txt", "old")):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        modes = {"fixed/f.txt": 0o444, "closed.txt": 0o000, "closed": 0o000, "fixed": 0o555, ".": 0o755, "..": 0o755}
        for name, mode in modes.items():
            (place / name).chmod(mode)
        yield place
        for name in ("closed", "fixed"):
            (place / name).chmod(0o755)


def test_no_permission_is_told_with_path_and_way_out_and_changes_nothing(project: Path) -> None:
    answers = dict(zip(CLOSED, _answers(project, list(CLOSED.values())), strict=True))
    for what, answer in answers.items():
        assert answer is not None, what
        code, message = answer
        assert code == "permission_denied", (what, answer)
        assert "the operating system does not let this user touch" in message, (what, message)
        assert "choose another path or ask the user" in message, (what, message)
    assert sorted(os.listdir(project / "fixed")) == ["f.txt"]
    assert (project / "fixed/f.txt").read_text() == "old"


def test_a_search_passes_over_what_it_may_not_read(project: Path) -> None:
    assert _answers(project, [("code.search", {"query": "secret"})]) == [None]


def _answers(project: Path, calls: list[tuple[str, dict[str, Json]]]) -> list[list[str] | None]:
    words = [sys.executable, str(SCRIPT), str(project), json.dumps(calls)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
