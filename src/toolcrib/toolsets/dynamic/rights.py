"""Who may make which tool: a role that may, outside plan mode, and never a tool that does more than its maker could."""

from __future__ import annotations

from toolcrib.policy.modes import Mode
from toolcrib.policy.network.decide import decide_hosts
from toolcrib.policy.network.rules import host_target
from toolcrib.policy.verdict import Verdict
from toolcrib.toolsets.dynamic.kinds import Composite, Http, Kind, Script, authority_of, read_kind
from toolcrib.toolsets.dynamic.records import PREFIX, Index, load_definition
from toolcrib.toolsets.dynamic.services import DynamicServices
from toolcrib.values.context import Standing, ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import Exposure, ToolType

COMMANDS = ("shell.run", "code.run_command")
"""Tools of which a maker of scripts must have one."""


def check_maker(context: ToolContext, services: DynamicServices) -> Standing:
    """Whether the caller may make, change or remove tools at all."""
    role, standing = context.origin.role, context.standing()
    if role not in services.creators:
        allowed = ", ".join(sorted(services.creators)) or "nobody"
        raise _refused(f"a {role} makes no tools; dynamic.creators lets {allowed} do so")
    if standing.mode == Mode.PLAN:
        raise _refused("this run is in plan mode, which only reads")
    return standing


def check_kind(name: str, kind: Kind, standing: Standing, services: DynamicServices) -> tuple[str, ...]:
    """Refuse a tool that does what its maker could not; the tools of theirs that give them the right."""
    if isinstance(kind, Script):
        return _command_tools(standing)
    if isinstance(kind, Http):
        return _network_tools(name, kind, standing, services)
    if missing := [each for each in kind.uses if not standing.has(each)]:
        raise _refused(f"{name} would use {', '.join(missing)}, which you do not have")
    return kind.uses


async def check_circle(name: str, kind: Kind, context: ToolContext, index: Index, services: DynamicServices) -> None:
    """Refuse a composite that would come back to itself, by whatever way."""
    waiting = list(kind.uses) if isinstance(kind, Composite) else []
    seen: set[str] = set()
    while waiting:
        each = waiting.pop()
        if each == name:
            raise Refusal(Reason.DEPENDENCY_CYCLE, f"{name} would use itself, directly or by way of another tool")
        latest = index.latest.get(each)
        if each in seen or not each.startswith(PREFIX) or latest is None:
            continue
        seen.add(each)
        other = await load_definition(context.load, each, latest.version)
        inner = read_kind(other.implementation, other.input_schema, services.reach.rules.schemes)
        waiting += inner.uses if isinstance(inner, Composite) else ()


def _command_tools(standing: Standing) -> tuple[str, ...]:
    held = tuple(name for name in COMMANDS if standing.has(name))
    if not held and standing.caller is not Exposure.MANUAL:
        raise _refused(f"a script runs commands, and you have neither {' nor '.join(COMMANDS)}")
    return held


def _network_tools(name: str, kind: Http, standing: Standing, services: DynamicServices) -> tuple[str, ...]:
    rules = services.reach.rules
    decision = decide_hosts(rules, name, (host_target(authority_of(kind, rules.schemes)),))
    if decision is not None and decision.verdict is Verdict.DENY:
        raise _refused(f"{decision.because} [rule: {decision.cite}]")
    held = [spec.name for spec in standing.specs() if spec.network and spec.tool_type is not ToolType.DYNAMIC]
    if not held and standing.caller is not Exposure.MANUAL:
        raise _refused("a request reaches the network, and you have no tool that does")
    return tuple(held[:10])


def _refused(message: str) -> Refusal:
    return Refusal(Reason.PERMISSION_DENIED, message)
