"""Which MCP servers a crib has: those of the home's `mcp.json`, and of a project's `.mcp.json` that is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolcrib.sources.mcp.entry import Entry, Override, read_entries
from toolcrib.values.noun import frozen
from toolcrib.values.references import secrets_in
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect

if TYPE_CHECKING:
    from pathlib import Path

    from toolcrib.config import Config

PROJECT_FILE = ".mcp.json"


@frozen
class Found:
    """The servers in force. `waiting` says why those of the project are not among them."""

    entries: tuple[Entry, ...] = ()
    waiting: str = ""


def home_file(settings: Config) -> Path:
    return settings.home.root / "mcp.json"


def find_servers(settings: Config) -> Found:
    """Servers of the home, then those of the project that have other names; a broken file of the home is an error."""
    file = home_file(settings)
    own = read_entries(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else ()
    project = settings.project
    if project is None or not (project / PROJECT_FILE).is_file():
        return Found(own)
    try:
        theirs = _trusted(settings, project)
    except ConfigError as error:
        return Found(own, str(error))
    taken = {entry.name.lower() for entry in own}
    return Found((*own, *(_narrowed(entry, project) for entry in theirs if entry.name.lower() not in taken)))


def _trusted(settings: Config, project: Path) -> tuple[Entry, ...]:
    from toolcrib.trust import TrustBook, read_content  # only where a project proposes servers

    content = TrustBook(settings.home.trust).require(read_content(project / PROJECT_FILE))
    text = content.files[PROJECT_FILE].decode("utf-8", "replace")
    return read_entries(text, str(project / PROJECT_FILE))


def _narrowed(entry: Entry, project: Path) -> Entry:
    """A project's word makes nothing looser: its tools write and reach the network unless the home says otherwise."""
    tools = {name: _narrowed_override(said) for name, said in entry.tools.items()}
    return replace(entry, network=True, tools=tools, cwd=str(project / (entry.cwd or "")))


def _narrowed_override(said: Override) -> Override:
    return Override(Effect.WRITE, said.hidden, said.dangerous, None)


def secret_values(entries: tuple[Entry, ...], environment: Mapping[str, str]) -> list[str]:
    """What stands for the references of entries; nothing that a server says may show it."""
    return secrets_in(
        (text for entry in entries for text in (*entry.args, *entry.env.values(), *entry.headers.values())), environment
    )
