"""The reference of every key, written from its declaration.

    python -m toolcrib.config.reference docs/reference/configuration.md

Without a path it is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from toolcrib.config.config import Config
from toolcrib.config.keys import Key, members
from toolcrib.config.kinds import Kind
from toolcrib.config.records import REQUIRED
from toolcrib.config.rendering import toml

_OPENING = """\
# Configuration reference

This page is generated from the code: `python -m toolcrib.config.reference docs/reference/configuration.md`.

Configuration is read once, when Toolcrib is opened, from these layers:

1. the defaults below;
2. the user's `config.toml` in the home folder (`--home`, else the environment variable `TOOLCRIB_HOME`, else
   `~/.toolcrib`);
3. the project's `toolcrib.toml`, which may only narrow: the column "A project may" says how, anything else is an
   error;
4. the overrides of `Toolcrib.open(config={"tools": {"max_threads": 8}})` or, with dotted keys,
   `config={"tools.max_threads": 8}`. They are the operator's like the user's file and win over the project's; rules,
   secrets and denied hosts add up instead, and tables are replaced entry by entry.

A missing file is fine. An unreadable, empty, invalid or changing file, a file of more than 1 MiB, an unknown key and a
value out of bounds are errors, all of which are told at once with file, line and key; nothing of a refused
configuration takes effect. No other environment variable is read.

`toolcrib init` writes a `config.toml` in which every key stands with its default, commented out.
"""


def main() -> None:
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(reference_text(), encoding="utf-8")
    else:
        sys.stdout.write(reference_text())


def reference_text() -> str:
    """The whole page."""
    return "\n".join([_OPENING, *_page(Config, "")])


def _page(holder: type[object], prefix: str) -> Iterator[str]:
    """Sections first: a top-level key is a section of its own to the reader."""
    declared = members(holder)
    keys = {name: member for name, member in declared.items() if isinstance(member, Key)}
    if prefix:
        yield from _table(keys)
        yield from _entries(keys, prefix)
    for name, member in declared.items():
        if not isinstance(member, Key):
            yield f"## {prefix}{name}\n\n{member.__doc__}\n"
            yield from _page(member, f"{prefix}{name}.")
    if not prefix:
        for name, key in keys.items():
            yield f"## {name}\n"
            yield from _table({name: key})
            yield from _entries({name: key}, "")


def _table(keys: Mapping[str, Key[Any]]) -> Iterator[str]:
    yield "| Key | Default | Value | A project may | Meaning |"
    yield "|---|---|---|---|---|"
    for name, key in keys.items():
        unit = f" ({key.unit})" if key.unit else ""
        held = f" Never more than `{key.at_most}`." if key.at_most else ""
        default = toml(key.kind.plain(key.default))
        yield _row(f"`{name}`", f"`{default}`", key.kind.expected + unit, key.project.may, key.doc + held)
    yield ""


def _entries(keys: Mapping[str, Key[Any]], prefix: str) -> Iterator[str]:
    """The keys inside the entries of a table or array, and an example."""
    for name, key in keys.items():
        if entry := _entry_keys(key.kind):
            yield f"Each entry of `{prefix}{name}`:\n"
            yield "| Key | Default | Value | Meaning |"
            yield "|---|---|---|---|"
            for inner, declared in entry.items():
                unit = f" ({declared.unit})" if declared.unit else ""
                yield _row(f"`{inner}`", _default(declared), declared.kind.expected + unit, declared.doc)
            yield ""
        if key.example:
            yield f"```toml\n{key.example}\n```\n"


def _entry_keys(kind: Kind[Any]) -> Mapping[str, Key[Any]]:
    """The keys declared for the entries that a kind holds, however deep."""
    member = kind.member
    while isinstance(member, Kind):
        member = cast("Kind[Any]", member).member
    return cast("Mapping[str, Key[Any]]", member or {})


def _default(key: Key[Any]) -> str:
    if key.default is REQUIRED:
        return "must be given"
    return f"`{toml(key.kind.plain(key.default))}`" if key.default else "none"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
