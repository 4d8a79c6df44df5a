"""The whole configuration as one value, with what is known of where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolcrib.config.apis import API, API_NAME, ApiEntry
from toolcrib.config.approvals import Approvals
from toolcrib.config.discovery import DiscoverySettings
from toolcrib.config.dynamic import DynamicSettings
from toolcrib.config.home import Home
from toolcrib.config.keys import all_keys, key, section
from toolcrib.config.kinds import items, table
from toolcrib.config.limits import Limits
from toolcrib.config.narrowing import by_entry, fewer, never
from toolcrib.config.network import Network
from toolcrib.config.problems import Level
from toolcrib.config.records import FEWER_TOOLS, SUB_APP, SWITCH, SWITCH_OFF, SubApp, by_switch
from toolcrib.config.sections import (
    NAME,
    Agents,
    Guard,
    Modes,
    PolicySettings,
    Redaction,
    SelfEvolution,
    Store,
    Tools,
    WorkspaceSettings,
)
from toolcrib.policy.switches import Switch
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen


@frozen
class Given:
    """A key that a layer set, and where."""

    key: str
    level: Level
    place: str


@frozen
class Row:
    """One key as `config show` and `doctor` print it; `source` is empty where the default holds."""

    key: str
    value: Json
    source: str
    default: Json


@frozen(kw_only=True)
class Config:
    """All settings in force, the home and project they belong to, and where each of them comes from."""

    home: Home
    project: Path | None
    sources: tuple[Given, ...]
    places: Mapping[str, str]
    tools: Tools = section(Tools)
    limits: Limits = section(Limits)
    policy: PolicySettings = section(PolicySettings)
    modes: Modes = section(Modes)
    approvals: Approvals = section(Approvals)
    store: Store = section(Store)
    guard: Guard = section(Guard)
    redaction: Redaction = section(Redaction)
    agents: Agents = section(Agents)
    network: Network = section(Network)
    workspace: WorkspaceSettings = section(WorkspaceSettings)
    self_evolution: SelfEvolution = section(SelfEvolution)
    dynamic: DynamicSettings = section(DynamicSettings)
    discovery: DiscoverySettings = section(DiscoverySettings)
    toolsets: tuple[str, ...] = key(
        items(NAME), ("code", "workspace", "shell"), fewer(), "Toolsets of Toolcrib's own that runs have."
    )
    tools_config: Mapping[str, Mapping[str, Switch]] = key(
        table(NAME, table(NAME, SWITCH)),
        MappingProxyType({}),
        SWITCH_OFF,
        "Per agent: toolkits and tools switched on or off by name.",
        combine=by_switch,
        example='[tools_config.main]\nmemory = true\n"code.write_file" = false',
    )
    sub_apps: Mapping[str, SubApp] = key(
        table(NAME, SUB_APP),
        MappingProxyType({}),
        FEWER_TOOLS,
        "Per sub-app: the tools that are bound to it, and the agents that get them.",
        combine=by_entry,
        example='[sub_apps.journal]\ntool_names = ["notes.read", "notes.add"]',
    )

    apis: Mapping[str, ApiEntry] = key(
        table(API_NAME, API),
        MappingProxyType({}),
        never(),
        "HTTP interfaces described by an OpenAPI 3 document; each operation becomes a tool `api.<name>.<operation>`.",
        combine=by_entry,
        example='[apis.shop]\ndocument = "shop.json"\nheaders = { Authorization = "Bearer ${SHOP_TOKEN}" }',
    )

    @property
    def names_servers(self) -> bool:
        """Whether any file names MCP servers; most homes have none, and need not load what reads them."""
        project = self.project
        return self.home.mcp.is_file() or (project is not None and (project / ".mcp.json").is_file())

    def describe(self) -> list[Row]:
        """Every key with its value, where that comes from, and its default."""
        return [
            Row(name, key.kind.plain(_look(self, name)), self.places.get(name, ""), key.kind.plain(key.default))
            for name, key in all_keys(Config)
        ]


def _look(settings: object, name: str) -> Any:
    for part in name.split("."):
        settings = getattr(settings, part)
    return settings
