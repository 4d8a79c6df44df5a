"""All MCP servers of a crib: connected when first needed, their tools published and kept up to date."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mcp import Client, MCPError
from mcp_types import Tool as Listed
from pydantic import ValidationError

from toolcrib.network import Reach
from toolcrib.sources.fixed import fixed_target
from toolcrib.sources.mcp.entry import Entry
from toolcrib.sources.mcp.extras import EXTRAS, extra_tools
from toolcrib.sources.mcp.keeper import Keeper, ServerDown, State, ToolChanged, Transport
from toolcrib.sources.mcp.pipe import Link, Spawn, piped
from toolcrib.sources.mcp.traffic import Traffic
from toolcrib.sources.mcp.translate import returned, spec_of
from toolcrib.values.context import ToolContext
from toolcrib.values.references import resolved
from toolcrib.values.refusal import InvalidName, Reason, Refusal, RegistrationError
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Tool
from toolcrib.values.turn import Turn

Publish = Callable[[str, list[Tool], Turn], Awaitable[Mapping[str, str]]]
"""Makes these the tools of a server; returns the ones that could not be registered, with reasons."""
Note = Callable[[str, str, str], None]
"""Records what happened to a server: server, kind of event, words."""
_MOST_NAMED = 5
_MARK = "TOOLCRIB_SERVER"
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL")


class McpSource:
    """Keeps one keeper per server; no server can delay or break another."""

    def __init__(
        self,
        entries: Iterable[Entry],
        environment: Mapping[str, str],
        publish: Publish,
        note: Note,
        family: Callable[[int, str], list[int]],
        reach: Reach | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self.traffic = traffic or Traffic()
        self.entries = {entry.name: entry for entry in entries if not entry.disabled}
        self.set_aside: dict[str, dict[str, str]] = {name: {} for name in self.entries}
        self._environment = environment
        self._publish = publish
        self._note = note
        self._family = family
        self._reach_web = _web(reach or Reach()) if any(entry.remote for entry in self.entries.values()) else None
        self.keepers = {name: self._keeper(entry) for name, entry in self.entries.items()}

    async def ready(self) -> None:
        """Have every server connected that can be; what cannot is reported and tried again later."""
        waiting = [keeper for keeper in self.keepers.values() if keeper.is_untried]
        await asyncio.gather(*(self._reach(keeper) for keeper in waiting))

    def absence(self, name: str) -> str | None:
        """Why a tool of a server is not there, when that is because the server is not."""
        server = name.removeprefix("mcp.").split(".")[0] if name.startswith("mcp.") else ""
        keeper = self.keepers.get(server)
        if keeper is None or keeper.state is State.UP:
            return None
        return f"the MCP server {server!r} is not available: {keeper.why or keeper.state.value}"

    async def close(self) -> None:
        await asyncio.gather(*(keeper.close() for keeper in self.keepers.values()))

    async def _reach(self, keeper: Keeper) -> None:
        try:
            await keeper.ready(self.entries[keeper.name].connect_timeout)
        except ServerDown:
            return  # its keeper has said why, and goes on trying

    def _keeper(self, entry: Entry) -> Keeper:
        return Keeper(
            entry.name,
            partial(self.connect, entry),
            connect_timeout=entry.connect_timeout,
            note=partial(self._note, entry.name),
            changed=partial(self._changed, entry),
            side=self.traffic.side(),
        )

    def connect(self, entry: Entry, link: Link) -> Transport:
        """How a server is reached; whoever has servers in the same process may reach them otherwise."""
        where = f"server {entry.name!r}"
        if self._reach_web is not None and entry.remote:
            return self._reach_web(entry.url, resolved(entry.headers, self._environment, where), link)
        inherited = {key: self._environment[key] for key in _INHERITED if key in self._environment}
        env = inherited | resolved(entry.env, self._environment, where)
        log = partial(self._note, entry.name, "mcp_server_said")
        mark = os.urandom(16).hex()
        args = resolved({str(number): word for number, word in enumerate(entry.args)}, self._environment, where)
        spawn = Spawn((entry.command, *args.values()), env | {_MARK: mark}, entry.cwd, log, partial(self._of, mark))
        return piped(spawn, link)

    def _of(self, mark: str, pid: int) -> list[int]:
        return self._family(pid, f"{_MARK}={mark}")

    async def _changed(self, entry: Entry, keeper: Keeper, client: Client) -> None:
        """Publish what a server lists now; what cannot be a tool is set aside and said."""
        aside = dict(keeper.cleaner.set_aside)
        named: dict[str, list[Tool]] = {}
        version = _version(client)
        turn = Turn(keeper.side)
        for listed in keeper.listed:
            await turn.pass_on()
            try:
                tool = self._tool(listed, entry, keeper, version)
                if tool.fingerprint and not self._hidden(entry, listed):
                    _put(tool, named)
            except (InvalidName, RegistrationError) as error:
                aside[listed.name[:80]] = str(error)
        tools, twins = _apart(named)
        aside |= twins
        for extra in extra_tools(entry, keeper, client, version):
            tools.setdefault(extra.name, _placed(extra, entry))
        names = {listed.name for listed in keeper.listed} if entry.tools else set[str]()
        for name in entry.tools.keys() - names - EXTRAS - aside.keys():
            aside[name] = "its entry says how to treat it, and the server has no tool of this name"
        aside.update(await self._publish(entry.name, list(tools.values()), turn))
        self.set_aside[entry.name] = aside

    def _hidden(self, entry: Entry, listed: Listed) -> bool:
        said = entry.tools.get(listed.name)
        return said is not None and said.hidden

    def _tool(self, listed: Listed, entry: Entry, keeper: Keeper, version: str) -> Tool:
        spec = spec_of(listed, entry, version)
        tool = Tool(spec, partial(_call, keeper, listed), implementation=partial(_called, entry, listed, spec.name))
        return _placed(tool, entry)


def _put(tool: Tool, named: dict[str, list[Tool]]) -> None:
    """Put a tool to those of its name; one that is listed twice is one."""
    twins = named.setdefault(tool.name.lower(), [])
    if not twins or tool.fingerprint != twins[0].fingerprint:
        twins.append(tool)


def _apart(named: Mapping[str, list[Tool]]) -> tuple[dict[str, Tool], dict[str, str]]:
    """The tools by name, and those set aside because others are called the same: of such none is the right one."""
    tools = {twins[0].name: twins[0] for twins in named.values() if len(twins) == 1}
    aside: dict[str, str] = {}
    for twins in (each for each in named.values() if len(each) > 1):
        names = [str(tool.spec.metadata["raw_name"])[:80] for tool in twins]
        said = ", ".join(list(dict.fromkeys(map(repr, names)))[:_MOST_NAMED])
        aside |= dict.fromkeys(names, f"the server lists {len(twins)} tools under one name, so none is used: {said}")
    return tools, aside


def _called(entry: Entry, listed: Listed, name: str) -> str:
    """What the server calls a tool, where our name for it does not say that: another one would be another tool."""
    return "" if name == f"mcp.{entry.name}.{listed.name}" else listed.name


def _placed(tool: Tool, entry: Entry) -> Tool:
    """A tool of a server that is reached over the network touches its host, whatever it is asked."""
    if not entry.remote:
        return tool
    target = (fixed_target(entry.url),)

    def targets(_: Arguments) -> Sequence[Target]:
        return target

    return replace(tool, targets=targets)


def _web(reach: Reach) -> Callable[[str, Mapping[str, str], Link], Transport]:
    from toolcrib.sources.mcp.web import Trust, reached  # only where there is a server to be reached that way

    return partial(reached, trust=Trust(), reach=reach)


async def _call(keeper: Keeper, listed: Listed, context: ToolContext, arguments: Arguments) -> ToolReturn:
    """One call on the server; whatever it does wrong is this call's error and nobody else's."""
    raw_name = listed.name

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        context.progress(message or "", min(1.0, max(0.0, progress / total)) if total else None)

    try:
        return returned(await keeper.call(listed, dict(arguments), tell, WAIT_SECONDS))
    except ToolChanged as error:
        raise Refusal(Reason.CONTRACT_DRIFT, f"{raw_name} {error}; it was not called") from error
    except ServerDown as error:
        raise Refusal(Reason.PROVIDER_ERROR, f"{error}; try again later or use another tool") from error
    except MCPError as error:
        raise Refusal(Reason.PROVIDER_ERROR, f"{raw_name}: {error.message}"[:2_000], {"code": error.code}) from error
    except ValidationError as error:
        said = f"the server's answer does not follow the protocol ({error.error_count()} problems)"
        raise Refusal(Reason.PROVIDER_ERROR, f"{raw_name}: {said}") from error


WAIT_SECONDS = 15.0


def _version(client: Client) -> str:
    info = client.server_info
    return f"{info.name} {info.version}" if info is not None else ""
