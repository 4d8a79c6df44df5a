"""Following changes of declared commands and modules while a crib is open: a look at their files now and then.

A look is a handful of `stat` calls, so there is no need for the system's own notices. A changed file puts other tools
in the place of those it gave: for runs that are open their contract has changed, and the guard has its say.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from toolcrib.assemble.agents import project_content
from toolcrib.assemble.declared import declared_files
from toolcrib.assemble.modules import NamedModule, module_files, trusted_body
from toolcrib.ports import Journal, Unit
from toolcrib.values.event import Draft, Level

if TYPE_CHECKING:
    from toolcrib.assemble.agents import Agents
    from toolcrib.assemble.outside import Outside
    from toolcrib.config import Config

PERIOD = 1.0
_MOST_NEAR = 1_000
SESSION = "sources"
"""What happens to sources belongs to no agent's session; it is recorded in one of its own."""
State = Mapping[str, tuple[int, int, int] | None]


async def watch(outside: Outside, state: State, journal: Journal) -> None:
    """Look again and again, until cancelled; `state` is how things stood before they were loaded."""
    while True:
        await asyncio.sleep(PERIOD)
        state = look(outside, state, journal)


def look(outside: Outside, before: State, journal: Journal) -> State:
    """Load again what is not as it was; returns what is there now."""
    now = state_of(outside.settings, outside.agents)
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    if not changed:
        return now
    aside = dict(outside.aside)
    folder = str(outside.settings.home.tools)
    if any(os.path.dirname(path) == folder for path in changed):
        outside.load_declared()
    trust = str(outside.settings.home.trust)
    for module in module_files(outside.agents, outside.settings):
        if _is_touched(module, changed, outside) or (module.trusted and trust in changed):
            _reload(outside, module)
    for path in sorted(changed):
        _record(journal, path, outside.aside.get(path, ""))
    for path in outside.aside.keys() - aside.keys() - changed:
        _record(journal, path, outside.aside[path])
    return now


def _is_touched(module: NamedModule, changed: set[str], outside: Outside) -> bool:
    """Whether a file of which it is made has changed; one that cannot be used may need any file of its folder."""
    parts = outside.parts.get(module.path, frozenset({module.path}))
    return not changed.isdisjoint(parts) or (module.path in outside.aside and not changed.isdisjoint(_near(module)))


def _near(module: NamedModule) -> list[str]:
    """The Python files in the folder of a module and below it; that many are never one module's."""
    folder = os.path.dirname(module.path)
    found = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".py"))
    return list(islice(found, _MOST_NEAR))


def state_of(settings: Config, agents: Agents) -> State:
    """What can be seen of every file that tools come from, without reading any."""
    paths = [str(file) for file in declared_files(settings.home.tools)]
    modules = list(module_files(agents, settings))
    paths += [path for module in modules for path in (module.path, *_near(module))]
    if any(module.trusted for module in modules):
        paths.append(str(settings.home.trust))
    return {path: _stamp(path) for path in paths}


def _reload(outside: Outside, module: NamedModule) -> None:
    """A broken edit of one's own module leaves the tools as they were; what is no longer trusted goes at once."""
    if not module.trusted:
        outside.load_module(module.path, module.read, module.wanted, keep=True)
        return
    content, why = project_content(outside.settings)
    if content is None:
        outside.withdraw(module.path, why, module.wanted)
    else:
        outside.load_module(module.path, partial(trusted_body, content, outside.settings), module.wanted)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _record(journal: Journal, path: str, why: str) -> None:
    kind, level = ("source_set_aside", Level.WARNING) if why else ("source_changed", Level.INFO)
    journal.queue(Unit((Draft(kind, SESSION, level=level, payload={"place": path, "text": why}),)))
