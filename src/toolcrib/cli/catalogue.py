"""What a caller would find in the crib: the effective set, and what policy says of each tool, without opening a run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from toolcrib.assemble.kits import switchboard_of
from toolcrib.catalog.registry import Registry
from toolcrib.cli.listing import Entry, entry_json
from toolcrib.config import Config
from toolcrib.engine.effective import EffectiveSet, Terms, near_names
from toolcrib.engine.screens import capability_screen, exposure_screen
from toolcrib.policy.rules import Policy
from toolcrib.values.json import Json
from toolcrib.values.spec import Exposure
from toolcrib.values.tool import Tool


@dataclass(frozen=True, slots=True)
class Loaded(Entry):
    """An entry whose tool itself is at hand."""

    tool: Tool


def entries(config: Config, tools: Iterable[Tool], hidden: Exposure, agent: str) -> list[Loaded]:
    """Every tool by name, whether it is in or out for this agent."""
    registry = Registry(config.tools.schema_profile)
    snapshot = registry.add(tools)
    policy = Policy(config.policy.rules)
    limits = config.tools
    terms = Terms(policy, (), limits.default_timeout_ms / 1000, limits.max_timeout_ms / 1000, {}, {}, time.monotonic)
    board = switchboard_of(config)
    board.check(snapshot)
    screens = (exposure_screen(hidden), capability_screen(frozenset()), board.screen(agent))
    effective = EffectiveSet.compile(registry, snapshot, screens, terms)
    return [
        Loaded(tool.spec, policy.decide(tool.spec), effective.why(name), tool)
        for name, tool in sorted(snapshot.items())
    ]


def no_such_tool(name: str, known: Iterable[str]) -> str:
    """What to say of a name that no tool has."""
    near = near_names(name, known)
    would_work = f"did you mean {' or '.join(near)}?" if near else "`toolcrib tools list --all` names what there is"
    return f"there is no tool {name[:80]!r}; {would_work}"


def contract_json(entry: Loaded) -> dict[str, Json]:
    """A tool as `--json` shows it alone: everything that is known of it."""
    tool, spec = entry.tool, entry.spec
    return {
        **entry_json(entry),
        "help": spec.help,
        "aliases": list(spec.aliases),
        "capabilities": sorted(spec.capabilities),
        "timeout": spec.timeout,
        "source": {"kind": spec.source.kind, "name": spec.source.name, "version": spec.source.version},
        "runs": tool.runs.value,
        "transactional": tool.transactional,
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
        "read_form": spec.read_form,
        "annotations": spec.annotations,
        "metadata": spec.metadata,
        "fingerprint": tool.fingerprint,
    }
