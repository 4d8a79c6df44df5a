"""Roles: what an agent never has because of its place in the work, whatever its definition and its caller ask for."""

from __future__ import annotations

from toolcrib.values.identity import Role
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect, ToolSpec

CHILDREN = frozenset({Role.SUB, Role.FORK, Role.WORKER})
STEP_TOOLS = frozenset({"agent.task_get", "agent.task_query_steps", "agent.task_claim_step", "agent.task_update_step"})
"""The task tools of a child: find what is ready, claim it, look at it, say how it went."""
DEFAULT_WORKER = "default_worker_agent"
BUILT_IN = {
    "main": Role.MAIN,
    "orchestrator": Role.ORCHESTRATOR,
    "sub": Role.SUB,
    "fork": Role.FORK,
    DEFAULT_WORKER: Role.WORKER,
}
"""Agents that need no definition, and the role each has."""

_LEADING = frozenset(
    {"agent.plan_template", "agent.create_sub_agent", "agent.fork_agent", "agent.list_agent_definitions"}
    | {"agent.list_workers", "agent.dispatch_worker"}
)


_REACH = {Role.MAIN: 3, Role.ORCHESTRATOR: 2, Role.SUB: 1, Role.FORK: 1, Role.WORKER: 0}


def is_wider(role: Role, own: Role) -> bool:
    """Whether agents in the first role may have tools that those in the second never have."""
    return _REACH[role] > _REACH[own]


def role_of(word: str) -> Role:
    """Read a role as arguments and definitions write it."""
    try:
        return Role(word)
    except ValueError:
        raise ConfigError(f"{word!r} is not a role: use one of {', '.join(Role)}") from None


def excluded(role: Role, spec: ToolSpec) -> str | None:
    """Why agents in this role never have a tool; None when the role does not stand in its way."""
    if role not in CHILDREN or spec.name in STEP_TOOLS:
        return None
    name = spec.name
    if name == "internal.recall_memory" or name.startswith("memory.") or spec.category == "Memory":
        return f"long-term memory belongs to the main agent and the orchestrator, and this run is a {role}"
    if name.startswith("agent.task_"):
        return f"a {role} works on steps of a task that exist; it does not make or change tasks"
    if name in _LEADING or name.startswith("worker.") or ("agent" in spec.tags and spec.effect is Effect.WRITE):
        return f"a {role} starts and steers no other agents"
    return None


def beyond_minimum(spec: ToolSpec) -> str | None:
    """Why a worker that was sent without a list of tools does not have this one; None for the smallest set."""
    if spec.name in STEP_TOOLS:
        return None
    if spec.effect is Effect.READ and spec.name.startswith(("code.", "workspace.")):
        return None
    return "a worker has only step tools and reads of files unless its dispatcher asks for more"
