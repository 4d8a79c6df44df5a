"""Undo by hand: what became of each call, and an exit code that says whether all is as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SECRET = "token = ghp_" + "a1B2c3D4e5F6" * 3 + "\n"
ALLOWED = '[[policy.rules]]\ntool = "**"\nverdict = "allow"\n'
Command = Callable[..., Any]


@pytest.fixture
def write(toolcrib: Command, folder: Path) -> Callable[[str, str], str]:
    """Changes a file through its tool and gives the id of the call."""
    home = folder.parent / "me" / ".toolcrib"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(ALLOWED)

    def change(path: str, content: str) -> str:
        arguments = json.dumps({"path": path, "content": content, "overwrite": True})
        done = toolcrib("tools", "call", "code.write_file", "--args", arguments, "--json")
        assert done.code == 0, done.out + done.err
        return str(json.loads(done.out)["call_id"])

    return change


def test_a_change_is_undone_and_said_to_be(toolcrib: Command, folder: Path, write: Callable[[str, str], str]) -> None:
    call = write("list.txt", "cheese\n")
    done = toolcrib("sessions", "undo", call)
    assert (done.code, folder.joinpath("list.txt").read_text()) == (0, "milk\neggs\n")
    assert done.out.splitlines()[1].split(maxsplit=2) == [
        call, "undone", f"{folder}/list.txt has its 10 bytes from before the call again",
    ]  # fmt: skip


def test_several_calls_are_undone_in_any_order(
    toolcrib: Command, folder: Path, write: Callable[[str, str], str]
) -> None:
    calls = [write("list.txt", "cheese\n"), write("list.txt", "bread\n"), write("new.txt", "new\n")]
    assert toolcrib("sessions", "undo", *calls).code == 0
    assert folder.joinpath("list.txt").read_text() == "milk\neggs\n"
    assert not folder.joinpath("new.txt").exists()


def test_a_file_that_changed_since_is_left_alone(
    toolcrib: Command, folder: Path, write: Callable[[str, str], str]
) -> None:
    call = write("list.txt", "cheese\n")
    folder.joinpath("list.txt").write_text("mine\n")
    done = toolcrib("sessions", "undo", call, "call_nobody", "--json")
    assert (done.code, folder.joinpath("list.txt").read_text()) == (1, "mine\n")
    assert [(row["call_id"], row["outcome"]) for row in json.loads(done.out)] == [
        (call, "changed since"),
        ("call_nobody", "no file change"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_what_holds_secrets_is_not_kept_and_said_not_to_be(
    toolcrib: Command, folder: Path, write: Callable[[str, str], str], encoding: str
) -> None:
    folder.joinpath("deploy.txt").write_bytes(f"é {SECRET}".encode(encoding))
    call = write("deploy.txt", "nothing\n")
    done = toolcrib("sessions", "undo", call)
    assert done.code == 1
    assert "not kept" in done.out
    assert "was not kept: it holds secrets" in done.out
    kept = [path.read_bytes() for path in folder.parent.joinpath("me").rglob("*") if path.is_file()]
    assert not any(SECRET[8:30].encode(form) in body for body in kept for form in ("utf-8", "utf-16-le"))
