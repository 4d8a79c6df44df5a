"""Tools that the tests of the command line use."""

from typing import Literal

from toolcrib import Target, TargetKind, tool


@tool.read(name="notes.read", tags={"notes"})
async def read(title: str, count: int = 1) -> str:
    """Return a note.

    Args:
        title: Which note.
        count: How often to repeat it.
    """
    return " ".join([title] * count)


@tool.read(name="notes.table")
async def table(title: str) -> dict[str, object]:
    """Return a note as data."""
    return {"title": title, "tags": ["a", "b"], "hidden": "x\u202ey"}


def _notes(arguments: dict[str, str]) -> list[Target]:
    return [Target(TargetKind.RESOURCE, f"note {arguments['title']}", scope="notes")]


@tool(name="notes.add", tags={"notes"}, targets=_notes)
async def add(title: str, body: str = "", kind: Literal["todo", "plain"] = "plain") -> str:
    """Write a note."""
    return f"added {title}"


@tool(name="notes.wipe", tags={"dangerous"}, exposure="manual")
async def wipe(titles: list[str]) -> None:
    """Remove notes for good."""


@tool.read(name="notes.dump")
async def dump(lines: int) -> str:
    """Return very many lines."""
    return "\n".join(f"line {number}" for number in range(lines))


@tool.read(name="notes.fail")
async def fail() -> str:
    """Fail."""
    raise ValueError("the shelf is empty")


@tool.read(name="notes.draw", capabilities={"screen"}, exposure="model")
async def draw() -> str:
    """Draw a\x1b[31m red \u202enote."""
    return ""
