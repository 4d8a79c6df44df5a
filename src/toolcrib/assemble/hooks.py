"""The hooks of hooks.json, made ready to run. A file that is broken denies everything that it could have governed."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from toolcrib.config.hooks import HookEntry, HookType, OnError, read_hooks
from toolcrib.config.problems import InvalidConfig
from toolcrib.executors.environment import command_environment
from toolcrib.executors.process import ProcessRunner
from toolcrib.hooks.command import CommandWay
from toolcrib.hooks.declared import BadAnswer, DeclaredHook, Way
from toolcrib.hooks.function import FunctionWay
from toolcrib.ports import HookAnswer, HookEvent, HookVerdict
from toolcrib.values.json import Json, JsonObject

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.redact import Redactor
    from toolcrib.engine.runtime import Runtime

CALLS = frozenset({HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE})
VETOES = (HookEvent.USER_PROMPT_SUBMIT, HookEvent.PRE_TOOL_USE, HookEvent.SUBAGENT_START)
"""Where something begins that a hook could have refused. A session may begin: without these, nothing happens in it."""


def seat_hooks(
    settings: Config, runtime: Runtime, processes: ProcessRunner | None
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Let the hooks of the home watch a runtime, after those that were given in Python; returns what ends them."""
    own = processes or ProcessRunner()
    declared = home_hooks(settings, runtime.redactor, own)
    runtime.hooks = (*runtime.hooks, *(hook for hook in declared if hook.event in CALLS))
    runtime.listeners = tuple(hook for hook in declared if hook.event not in CALLS)
    return own.close


def home_hooks(settings: Config, redactor: Redactor, processes: ProcessRunner) -> tuple[DeclaredHook, ...]:
    """The hooks of the home's hooks.json."""
    try:
        entries = read_hooks(settings.home.hooks)
    except InvalidConfig as error:
        return broken_hooks(settings.home.hooks, error, redactor)
    return hooks_of(entries, settings, redactor, processes)


def hooks_to_show(settings: Config) -> tuple[DeclaredHook, ...]:
    """What would watch calls under this configuration, to look at: nothing of it can be asked."""

    async def unasked(occasion: JsonObject) -> NoReturn:
        raise BadAnswer("this hook is only looked at")

    if not os.path.lexists(settings.home.hooks):
        return ()
    try:
        entries = read_hooks(settings.home.hooks)
    except InvalidConfig as error:
        name = f"{settings.home.hooks.name}, which is broken and denies: {error.problems[0]}"
        return (DeclaredHook(name=name, event=HookEvent.PRE_TOOL_USE, way=unasked, redact=_as_it_is),)
    return tuple(
        DeclaredHook(
            name=entry.name, event=entry.event, way=unasked, redact=_as_it_is, tool=entry.matcher.tool,
            tag=entry.matcher.tag,
        )
        for entry in entries
    )  # fmt: skip


def hooks_of(
    entries: Sequence[HookEntry], settings: Config, redactor: Redactor, processes: ProcessRunner
) -> tuple[DeclaredHook, ...]:
    """Entries as hooks: from the home, or from a project whose content was trusted."""
    return tuple(declared_hook(entry, settings, redactor, processes) for entry in entries)


def declared_hook(entry: HookEntry, settings: Config, redactor: Redactor, processes: ProcessRunner) -> DeclaredHook:
    """One entry, ready to be asked."""
    return DeclaredHook(
        name=entry.name,
        event=entry.event,
        way=_way(entry, settings, processes),
        redact=_redacting(redactor),
        tool=entry.matcher.tool,
        tag=entry.matcher.tag,
        path_prefix=entry.matcher.path_prefix,
        timeout=entry.timeout_ms / 1_000,
        lenient=entry.on_error is OnError.ALLOW,
    )


def _as_it_is(value: Json) -> Json:
    return value


def broken_hooks(path: Path, error: InvalidConfig, redactor: Redactor) -> tuple[DeclaredHook, ...]:
    """What stands in for a file that cannot be read: a hook that denies and says where the file is broken."""
    because = f"the file is broken, so everything it could have refused is: {error.problems[0]}"

    async def deny(occasion: JsonObject) -> HookAnswer:
        return HookAnswer(HookVerdict.DENY, because)

    return tuple(DeclaredHook(name=path.name, event=event, way=deny, redact=_redacting(redactor)) for event in VETOES)


def _way(entry: HookEntry, settings: Config, processes: ProcessRunner) -> Way:
    timeout, home = entry.timeout_ms / 1_000, settings.home.root
    match entry.type:
        case HookType.COMMAND:
            seen = command_environment(os.environ, (*settings.tools.env_allowlist, *entry.env))
            return CommandWay(entry.argv, str(home), seen, timeout, processes.run)
        case HookType.HTTP:
            from toolcrib.assemble.judging import network_rules  # only where a hook needs it
            from toolcrib.hooks.http import HttpWay
            from toolcrib.network import Reach

            return HttpWay(entry.url, entry.headers, timeout, Reach(network_rules(settings)))
        case HookType.PYTHON:
            return FunctionWay(entry.function, home / "hooks")


def _redacting(redactor: Redactor) -> Callable[[Json], Json]:
    def redact(value: Json) -> Json:
        return redactor.json(value)[0]

    return redact
