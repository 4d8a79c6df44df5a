"""Tools as a list shows them; what ships with Toolcrib is listed from a file of facts, without loading its code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolcrib
from toolcrib.assemble.declared import declared_files
from toolcrib.config.policies import read_policies
from toolcrib.policy.rules import Policy
from toolcrib.policy.verdict import Decision
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING, Effect, Exposure, ToolSpec, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolcrib.config import Config

FACTS = Path(toolcrib.__file__).parent / "toolsets" / "shipped.json"


@frozen
class Entry:
    """One tool as `tools list` shows it; `out` says why it is not there for this caller."""

    spec: ToolSpec
    decision: Decision
    out: str | None


def shipped(config: Config) -> list[Entry] | None:
    """The tools of the toolsets that the configuration names; None when the file of facts is not enough to tell."""
    if config.tools_config or config.tools.packages or config.apis or declared_files(config.home.tools):
        return None
    if config.names_servers:
        return None
    facts: dict[str, list[dict[str, Any]]] = json.loads(FACTS.read_text())
    if not facts.keys() >= set(config.toolsets):
        return None
    policy = policy_of(config)
    specs = [_spec(fact) for name in config.toolsets for fact in facts[name]]
    return [Entry(spec, policy.decide(spec), None) for spec in sorted(specs, key=lambda spec: spec.name)]


def policy_of(config: Config) -> Policy:
    """The rules in force, those of broken files included, which deny."""
    return Policy(read_policies(config, os.environ).rules)


def facts_of(toolsets: Iterable[tuple[str, Iterable[ToolSpec]]]) -> str:
    """The file of facts, as it is written from the toolsets themselves."""
    facts = {name: [_fact(spec) for spec in specs] for name, specs in toolsets}
    return json.dumps(facts, indent=1, sort_keys=True) + "\n"


def entry_json(entry: Entry) -> dict[str, Json]:
    """A tool as `--json` prints it in a list."""
    decision, spec = entry.decision, entry.spec
    return {
        **_fact(entry.spec),
        "verdict": decision.verdict.name.lower(),
        "rule": decision.cite,
        "because": decision.because,
        "out": entry.out,
        **({"version": spec.source.version, "creator": spec.metadata["creator"]} if "creator" in spec.metadata else {}),
    }


def _fact(spec: ToolSpec) -> dict[str, Json]:
    return {
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "effect": spec.effect.value,
        "tags": sorted(spec.tags),
        "category": spec.category,
        "type": spec.tool_type.value,
        "exposure": spec.exposure.value,
    }


def _spec(fact: dict[str, Any]) -> ToolSpec:
    return ToolSpec(
        name=fact["name"],
        description=fact["description"],
        input_schema=NOTHING,
        title=fact["title"],
        effect=Effect(fact["effect"]),
        tags=frozenset(fact["tags"]),
        category=fact["category"],
        tool_type=ToolType(fact["type"]),
        exposure=Exposure(fact["exposure"]),
    )
