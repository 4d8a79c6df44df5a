"""500 rules and the calls to decide under them, as plain data that every contender makes its own rules from."""

from __future__ import annotations

from dataclasses import dataclass

PROGRAMS = "git npm cargo make docker kubectl terraform pip poetry yarn go mvn gradle rake bundle helm aws gcloud az gh"


@dataclass(frozen=True)
class Planned:
    """One rule: a tool pattern, perhaps a path glob or the words that a command begins with."""

    tool: str
    verdict: str
    path: str = ""
    command: str = ""


@dataclass(frozen=True)
class Decided:
    """One call, what kind of rules it meets, and the verdict that every contender must come to."""

    kind: str
    tool: str
    verdict: str
    path: str = ""
    command: str = ""


def _plan() -> list[Planned]:
    verdicts = ("allow", "ask", "deny")
    rules = [Planned(f"part{number % 40}.*", verdicts[number % 2]) for number in range(120)]
    rules += [Planned(f"part{number % 40}.tool{number}", verdicts[number % 3]) for number in range(120)]
    rules += [Planned("notes.read", "allow"), Planned("notes.*", "allow"), Planned("*.wipe", "deny")]
    rules += [Planned("code.write_file", "deny", path=f"/workspace/vendor/lib{number}/**") for number in range(60)]
    rules += [Planned("code.write_file", "allow", path=f"/workspace/team{number}/docs/**") for number in range(60)]
    rules += [Planned("**", "deny", path=f"/srv/closed{number}/**") for number in range(17)]
    names = PROGRAMS.split()
    rules += [
        Planned("code.run_command", "deny" if number % 2 else "ask", command=f"{names[number % 20]} word{number}")
        for number in range(60)
    ]
    rules += [
        Planned("code.run_command", "allow", command=f"{names[number % 20]} fine{number}") for number in range(59)
    ]
    rules.append(Planned("code.run_command", "allow", command="git status"))
    return rules


PLAN = _plan()
CALLS = [
    Decided("fixed", "notes.read", "allow"),
    Decided("path", "code.write_file", "allow", path="/workspace/team59/docs/guide/page.md"),
    Decided("command", "code.run_command", "allow", command="git status --short"),
]
assert len(PLAN) == 500
