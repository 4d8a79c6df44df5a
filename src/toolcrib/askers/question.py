"""A question as every asker shows it: the whole call, and nothing in it that hides, acts or passes for another."""

from __future__ import annotations

import json

from toolcrib.askers.cautions import cautions
from toolcrib.values.permission import PermissionRequest
from toolcrib.values.target import Target
from toolcrib.values.visible import visible

LONG = 2_000
_ENDS = 900


def question_text(request: PermissionRequest) -> str:
    """All that a person needs to decide. What is longer than a screen comes first, what the call touches comes last."""
    origin = request.origin
    facts = [
        ("effect", f"{request.effect.value}, DANGEROUS" if request.dangerous else request.effect.value),
        *(("target", _target(target)) for target in request.targets),
        ("host", request.network_host or ""),
        ("folder", request.cwd or ""),
        ("environment", request.environment),
        ("hooks", request.hook_summary),
        ("tags", ", ".join(sorted(request.tags))),
        ("mode", "" if request.mode == "default" else request.mode),
        ("asked by", f"agent {origin.agent_id} in session {origin.session_id}"),
        ("sent by", " > ".join(str(ancestor) for ancestor in origin.ancestry)),
        ("because", request.because),
        ("rule", request.rule),
        *(("CAREFUL", caution) for caution in cautions(request)),
    ]
    lines = _beside("arguments", _arguments(request.details or request.arguments))
    for name, value in facts:
        lines += _beside(name, [value]) if value else []
    return "\n".join([f"{visible(request.tool)} asks for permission:", *lines])


def choices_text(request: PermissionRequest) -> str:
    """The three answers there are, each with what it would cover."""
    if request.grant_scope is None:
        session = "this call only, like o: a call like this is asked about every time"
    else:
        session = f"for this session (for {visible(request.grant_scope)})"
    return f"Allow {visible(request.tool)}?\n  o  once\n  s  {session}\n  d  deny"


def headline(request: PermissionRequest, most: int = 200) -> str:
    """A question in one line, for a list or a notification."""
    touched = request.targets[0].value if request.targets else request.arguments
    line = f"{visible(request.tool)} {visible(touched)}"
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _beside(name: str, lines: list[str]) -> list[str]:
    """Lines with a name beside the first. A newline inside one is shown, so that no value can pass for a line."""
    return [f"  {label:<12}{visible(line)}" for label, line in zip([name, *[""] * len(lines)], lines, strict=False)]


def _arguments(text: str) -> list[str]:
    """The arguments, one per line; text that does not parse was cut, and that is said."""
    try:
        arguments: object = json.loads(text)
    except ValueError:
        return [text, "(cut here: there is more than can be shown)"]
    return json.dumps(arguments, indent=2, ensure_ascii=False).split("\n")


def _target(target: Target) -> str:
    """One thing that the call touches. The middle of a very long one is left out here: it stands in the arguments."""
    value = target.value
    if len(value) > LONG:
        left = len(value) - 2 * _ENDS
        value = f"{value[:_ENDS]} [… {left} characters, whole in the arguments above …] {value[-_ENDS:]}"
    marked = f" ({', '.join(sorted(target.marks))})" if target.marks else ""
    return f"{target.kind} {value}{marked}"
