"""Results on standard output: tables and text for people, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import click

from toolcrib.values.json import Json
from toolcrib.values.visible import is_unseen, visible

_BEYOND_ASCII = re.compile(r"[^\n -~]")


def print_json(value: Json) -> None:
    """One JSON document."""
    click.echo(json_text(value, indent=2))


def print_json_line(value: Json) -> None:
    """One line of JSON Lines, sent off at once."""
    click.echo(json_text(value, indent=None))


def json_text(value: Json, indent: int | None) -> str:
    """JSON that is safe on a terminal too: what could reorder or hide text is written as an escape."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)
    return _BEYOND_ASCII.sub(_escaped, text)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows under their headings; the last column takes what room there is."""
    cells = [[visible(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and _print_rich_table(columns, cells):
        return
    for line in aligned([[column.upper() for column in columns], *cells]):
        click.echo(line)


def print_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Names and values, one pair per line; a value of several lines is indented below its name."""
    pairs = [(name, visible(value, keep="\n")) for name, value in fields if value]
    wide = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        first, *rest = value.splitlines()
        for label, line in ((name, first), *(("", line) for line in rest)):
            click.echo(f"{label:<{wide}}  {line}".rstrip())


def print_heading(text: str) -> None:
    """A title above a part of the output, set apart by an empty line."""
    click.echo(f"\n{text}" if not sys.stdout.isatty() else f"\n{click.style(text, bold=True)}")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns begin at the same place."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (wide - _width(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cut(text: str, length: int) -> str:
    """A text of at most this many characters, with a sign where it was cut."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def when(moment: float | None) -> str:
    """A moment in local time."""
    return "" if not moment else datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def size(count: int) -> str:
    """A number of bytes in the largest fitting unit."""
    number = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


def counted(count: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _print_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """The table as rich draws it; False where rich is not installed."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns[:-1]:
        table.add_column(column.upper(), overflow="fold")
    table.add_column(columns[-1].upper(), overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(soft_wrap=False, highlight=False).print(table)
    return True


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF") for each in text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if is_unseen(found[0]) else found[0]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise TypeError(f"{type(value).__name__} is not JSON")
