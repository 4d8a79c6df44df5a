"""What `doctor` says of MCP servers, without starting or reaching any."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from toolcrib.assemble.server_files import PROJECT_FILE, find_servers, home_file
from toolcrib.cli.examination import Finding, State
from toolcrib.config import Config
from toolcrib.sources.mcp.entry import Entry
from toolcrib.values.references import resolved
from toolcrib.values.refusal import ConfigError


def examine_servers(config: Config) -> Iterator[Finding]:
    try:
        found = find_servers(config)
    except ConfigError as error:
        yield Finding("mcp", State.WRONG, str(error), f"mend {home_file(config)}; until then no crib opens here")
        return
    if found.waiting:
        fix = f"look at it, then: toolcrib trust {(config.project or config.home.root) / PROJECT_FILE}"
        yield Finding("mcp", State.NOTE, found.waiting, fix)
    yield from map(_examined, found.entries)


def _examined(entry: Entry) -> Finding:
    subject = f"mcp {entry.name}"
    if entry.disabled:
        return Finding(subject, State.NOTE, "is switched off (disabled)")
    try:
        words = {f"args {number}": word for number, word in enumerate(entry.args)}
        resolved({**words, **entry.env, **entry.headers}, os.environ, f"server {entry.name!r}")
    except ConfigError as error:
        return Finding(subject, State.WRONG, str(error), "set it where toolcrib is started")
    if not entry.remote and shutil.which(entry.command) is None:
        fix = f"install it, or mend its entry; then: toolcrib mcp-servers test {entry.name}"
        return Finding(subject, State.WRONG, f"its command {entry.command} was not found", fix)
    return Finding(subject, State.OK, entry.identity)
