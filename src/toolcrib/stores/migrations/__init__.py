"""Numbered steps that bring a database to the shape this version reads.

Here: `NNNN_name.sql` files in shared SQL, never edited once published, and the one function that lists them.
Not here: how a step is applied under a lock (each database does that itself).
"""

from __future__ import annotations

from pathlib import Path

from toolcrib.values.noun import frozen


@frozen
class Step:
    """One migration: its number, its name, its statements."""

    number: int
    name: str
    statements: tuple[str, ...]


def steps() -> tuple[Step, ...]:
    """All migrations in order."""
    files = sorted(Path(__file__).parent.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return tuple(_step(file) for file in files)


def _step(file: Path) -> Step:
    number, _, name = file.stem.partition("_")
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("--")]
    statements = (statement.strip() for statement in "\n".join(lines).split(";"))
    return Step(int(number), name, tuple(statement for statement in statements if statement))
