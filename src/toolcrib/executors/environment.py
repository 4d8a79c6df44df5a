"""What a command gets to see of the environment: named variables, a search path without surprises, no prompts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

QUIET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Nobody sits at the other end: programs must neither page nor ask."""
NO_PLANTED_REPOSITORY = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
}
"""A folder with the layout of a bare repository is made of ordinary files, and its configuration names programs to run:
git must not take one for its repository only because a command runs there."""
STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def command_environment(source: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    """The allowed variables of a source, with a sound search path."""
    chosen = {name: source[name] for name in allowed if name in source}
    return {**QUIET, **NO_PLANTED_REPOSITORY, **chosen, "PATH": sound_path(chosen.get("PATH", STANDARD_PATH))}


def sound_path(path: str) -> str:
    """A search path of absolute folders only: an empty or relative entry would find programs where the command runs."""
    entries = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(entries) or STANDARD_PATH
