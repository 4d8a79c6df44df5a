"""Hostile names, schemas and arguments as data: each ends as its case says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.catalog.registry import Registry
from toolcrib.catalog.validate import Validator, arguments_of
from toolcrib.policy.rules import Policy, Rule
from toolcrib.policy.verdict import Verdict
from toolcrib.sources.mcp.entry import read_entries
from toolcrib.values.refusal import ConfigError, Reason, Refusal, RegistrationError
from toolcrib.values.spec import ToolSpec
from toolcrib.values.tool import Tool

CORPUS = Path(__file__).parents[1] / "corpus"
CODES = {
    "duplicate_name": Reason.SCHEMA_ERROR,
    "invalid_name": Reason.SCHEMA_ERROR,
    "mangling_collision": Reason.SCHEMA_ERROR,
    "arguments_invalid": Reason.VALIDATION_ERROR,
    "schema_invalid": Reason.SCHEMA_ERROR,
}
"""What a case calls an outcome, and the code we have for it."""


def cases(area: str) -> list[Any]:
    read = [json.loads(line) for line in (CORPUS / f"{area}.jsonl").read_text().splitlines()]
    return [pytest.param(case, id=case["id"]) for case in read]


def named(name: str) -> Tool:
    spec = ToolSpec(name=name, description=name, input_schema={"type": "object"})
    return Tool(spec, lambda context, arguments: None)


def outcome(case: dict[str, Any]) -> Reason | None:
    """Do what the case says; the code it ended with, or None when it was let through."""
    action = case["action"]
    try:
        if "register" in action:
            register([*(name for step in case["setup"] for name in step["register"]), action["register"]])
        elif "mcp_list" in action:
            server = action["mcp_list"]
            register([f"mcp.{server}.{name}" for name in case["setup"][0]["mcp_tools"][server]])
        elif "cli" in action:
            same = ", ".join(f'"{server}": {{"command": "x"}}' for server in case["setup"][0]["mcp_servers"])
            read_entries(f'{{"mcpServers": {{{same}}}}}', "mcp.json")
        elif "raw_arguments" in action:
            raw = action["raw_arguments"]
            arguments_of(raw if isinstance(raw, str) else raw["repeat"] * raw["count"])
        else:
            schema = case["setup"][0]["tool_schema"]
            return None if Validator(schema).is_valid(action["validate"]) else Reason.SCHEMA_ERROR
    except ConfigError:
        return Reason.SCHEMA_ERROR
    except RegistrationError as error:
        return error.reason
    except Refusal as refusal:
        return refusal.reason
    return None


def register(names: list[str]) -> None:
    registry = Registry()
    for name in names:
        registry.add([named(name)])


ASKED = {"NAME-027"}
"""Cases that end with a question, which the last test here is about."""


REGISTERED = [case for case in [*cases("tool_names"), *cases("schema_bombs")] if case.id not in ASKED]


@pytest.mark.parametrize("case", REGISTERED)
def test_a_corpus_case_ends_as_it_says(case: dict[str, Any]) -> None:
    expected = None if case["expected"] == "allow" else CODES[case["expected"].removeprefix("error:")]
    assert outcome(case) is expected


def test_a_rule_without_a_wildcard_is_about_one_name() -> None:
    (case,) = [each.values[0] for each in cases("tool_names") if each.id in ASKED]
    (allowed,) = case["setup"][0]["policy"]["allow"]
    policy = Policy((Rule(Verdict.ALLOW, allowed),))
    assert policy.decide(named(allowed).spec).verdict is Verdict.ALLOW
    assert policy.decide(named(case["action"]["tool"]).spec).verdict is Verdict.ASK
