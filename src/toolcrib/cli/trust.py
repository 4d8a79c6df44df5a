"""`toolcrib trust`: let what a project holds act, exactly as it is now; and take that back."""

from __future__ import annotations

import getpass
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import Denied, NotSo, hint
from toolcrib.cli.output import print_json, print_table, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.trust import Content, Entry, TrustBook
    from toolcrib.values.json import Json

SHAPE = "{path, by, at, files}"


class TrustGroup(Group):
    """A group that takes a path in the place of a command: `toolcrib trust .` is `toolcrib trust add .`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if set(args).isdisjoint({"-h", "--help", *self.commands}):
            args = ["add", *args]
        return super().parse_args(ctx, args)


@click.group(cls=TrustGroup, epilog=examples("toolcrib trust .", "toolcrib trust list", "toolcrib trust revoke ."))
def trust() -> None:
    """Trust what a project holds in .toolcrib, exactly as it is now.

    Agent definitions and other content of a project count only after this. Any change, of one byte or one file, makes
    all of it untrusted again. Without a command: `toolcrib trust add`.
    """


@trust.command(
    epilog=examples("toolcrib trust", "toolcrib trust /srv/project --yes"),
    json=f"`{SHAPE}`: what is trusted now; `files` maps paths to SHA-256.",
)
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--yes", is_flag=True, help="Do not ask; for programs of yours that have looked themselves.")
@click.pass_obj
def add(choices: Choices, path: Path | None, yes: bool) -> None:
    """Show what a project or a file holds, and ask to trust it."""
    from toolcrib.trust import FOLDER, read_content

    place = path or choices.project or Path.cwd()
    content = read_content(place)
    if not content.files:
        raise NotSo(f"{place} has no {FOLDER} folder with anything in it, so there is nothing to trust")
    book = _book(choices)
    if not yes:
        _ask(content, book)
    entry = book.trust(content, getpass.getuser(), time.time())
    if choices.form is Form.JSON:
        print_json(_json(entry))
    else:
        count = len(entry.files)
        click.echo(f"{entry.path} is trusted as it is now: {count} file{'s' if count != 1 else ''}.")


@trust.command(
    "list",
    epilog=examples("toolcrib trust list"),
    json=f"An array: `{SHAPE}`, and `changed`: why it no longer counts, or null.",
)
@click.pass_obj
def list_trusted(choices: Choices) -> None:
    """List what is trusted, and whether it has changed since."""
    book = _book(choices)
    entries = book.entries()
    states = [_state(book, entry) for entry in entries]
    if choices.form is Form.JSON:
        print_json([{**_json(entry), "changed": state} for entry, state in zip(entries, states, strict=True)])
    elif entries:
        rows = [
            ("changed" if state else "trusted", each.by, each.date, each.path)
            for each, state in zip(entries, states, strict=True)
        ]
        print_table(("state", "by", "since", "path"), rows)
        for state in filter(None, states):
            hint(f"toolcrib: {state}")
    else:
        click.echo("Nothing is trusted.")


@trust.command(epilog=examples("toolcrib trust revoke ."), json=f"`{SHAPE}`: what was trusted until now.")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.pass_obj
def revoke(choices: Choices, path: Path | None) -> None:
    """Take trust in a project or a file back."""
    place = os.path.realpath(path or choices.project or Path.cwd())
    gone = _book(choices).revoke(place)
    if gone is None:
        raise NotSo(f"{place} was not trusted; `toolcrib trust list` names what is")
    if choices.form is Form.JSON:
        print_json(_json(gone))
    else:
        click.echo(f"{gone.path} is no longer trusted.")


def _book(choices: Choices) -> TrustBook:
    from toolcrib.config.home import Home, find_root
    from toolcrib.trust import TrustBook

    return TrustBook(Home.at(find_root(choices.home, os.environ)).trust)


def _ask(content: Content, book: TrustBook) -> None:
    """Show every file and ask; without a terminal nobody can be asked, so the answer is no."""
    known = [entry.files for entry in book.entries() if entry.path == content.path]
    trusted: Mapping[str, str] = known[0] if known else {}
    rows = [
        (name, size(len(content.files[name])), _change(trusted.get(name), digest))
        for name, digest in content.digests.items()
    ]
    rows += [(name, "", "gone") for name in sorted(trusted.keys() - content.files.keys())]
    print_table(("file", "size", "since it was trusted"), rows)
    if not sys.stdin.isatty():
        raise Denied("nobody can be asked here; look at these files, then say --yes")
    question = f"Trust these files of {content.path}, as they are now? [y/N]"
    if click.prompt(question, default="n", show_default=False) != "y":
        raise Denied("nothing was trusted")


def _change(before: str | None, now: str) -> str:
    if before is None:
        return "new"
    return "same" if before == now else "changed"


def _state(book: TrustBook, entry: Entry) -> str | None:
    """Why an entry no longer counts; None while it does."""
    from toolcrib.trust import TrustError, read_content

    try:
        book.require(read_content(Path(entry.path)))
    except TrustError as error:
        return str(error)
    return None


def _json(entry: Entry) -> dict[str, Json]:
    return {"path": entry.path, "by": entry.by, "at": entry.at, "files": dict(entry.files)}
