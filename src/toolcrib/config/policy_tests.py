"""Files of tests for rules: a call, and what has to become of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.config.home import user_home
from toolcrib.config.keys import Key
from toolcrib.config.kinds import choice, items, text, worded
from toolcrib.config.policies import listed
from toolcrib.config.problems import At, Invalid, InvalidConfig, Level, Problem, not_known, show_key
from toolcrib.config.records import REQUIRED, SENTENCE, entry, record
from toolcrib.config.rules import RUN_MARK_SET, any_json
from toolcrib.policy.verdict import Verdict, verdict_of
from toolcrib.values.identity import Role
from toolcrib.values.json import JsonObject
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING

if TYPE_CHECKING:
    from toolcrib.config.config import Config

FOLDER = "policy_tests"
_NAME = text("a name", r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


@frozen
class PolicyTest:
    """One call and the verdict it must get; `rule`, where given, must be part of what the decision cites."""

    place: str
    tool: str
    arguments: JsonObject = field(hash=False)
    expect: Verdict
    agent: str
    role: Role | None
    mode: str
    run_marks: frozenset[str]
    rule: str
    because: str


def read_policy_tests(config: Config, environ: Mapping[str, str]) -> list[PolicyTest]:
    """Every test of the home and of the project; `InvalidConfig` for a file that cannot be read."""
    found: list[PolicyTest] = []
    problems: list[Problem] = []
    folders = [(Level.USER, config.home.root / FOLDER)]
    if config.project is not None:
        folders.append((Level.PROJECT, config.project / ".toolcrib" / FOLDER))
    for level, folder in folders:
        for path in listed(folder):
            try:
                found += _read(path, At((), level, user_home(environ), lambda key: ""))
            except InvalidConfig as error:
                problems += error.problems
    if problems:
        raise InvalidConfig(problems)
    return found


def _read(path: Path, at: At) -> tuple[PolicyTest, ...]:
    from toolcrib.config.document import read_document  # as tomllib: only where there is a file

    document = read_document(path)
    if document is None:
        return ()
    unknown = [name for name in document.content if name != "tests"]
    if unknown:
        raise InvalidConfig([Problem(document.locate((name,)), name, not_known(name, _TOP)) for name in unknown])
    here = At(("tests",), at.level, at.user_home, document.locate)
    try:
        return items(_TEST).read(document.content.get("tests", []), here)
    except Invalid as invalid:
        mistakes = invalid.mistakes
        raise InvalidConfig(
            [Problem(document.locate_exactly(key), show_key(key), why) for key, why in mistakes]
        ) from None


def _test(at: At, **said: Any) -> PolicyTest:
    return PolicyTest(place=at.place, **said)


_TOP = {"tests": "tests"}
_VERDICT = worded('one of "allow", "ask", "deny"', verdict_of, lambda verdict: verdict.name.lower())
_KEYS: Mapping[str, Key[Any]] = {
    "tool": entry(worded("a tool name", check_name, str), REQUIRED, "Name of the tool."),
    "arguments": entry(any_json("a table of arguments"), NOTHING, "Arguments of the call."),
    "expect": entry(_VERDICT, REQUIRED, "What has to become of it."),
    "agent": entry(_NAME, "main", "Agent that calls."),
    "role": entry(choice(Role), None, "Role of the agent."),
    "mode": entry(_NAME, "default", "Mode of the run."),
    "run_marks": entry(RUN_MARK_SET, frozenset[str](), "Marks of the run."),
    "rule": entry(SENTENCE, "", "Part of what the decision must cite."),
    "because": entry(SENTENCE, "", "What the test is for."),
}
_TEST = record(_KEYS, _test)
