"""self_evolution.propose, approve and push: an agent proposes, a person approves and sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets.self_evolution.changing import begun
from toolcrib.toolsets.self_evolution.records import CHECK, PROPOSAL, Record, find, find_proposal
from toolcrib.toolsets.self_evolution.repository import Repository
from toolcrib.toolsets.self_evolution.services import EvolutionServices
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments
from toolcrib.workspace.answers import fact_answer
from toolcrib.workspace.arguments import refuse_redacted

SHORT = 12


class _Title:
    min_length = 1
    max_length = 200


class _Description:
    min_length = 1
    max_length = 10_000


def add_proposing(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    """Add the tool that proposes, and the two that only a person can call."""
    _add_propose(build, services, repository)
    _add_approve(build, repository)
    _add_push(build, services, repository)


def _add_propose(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    @build.write(tags={"internal"}, category="Workflow")
    async def propose(
        context: ToolContext, title: Annotated[str, _Title()], description: Annotated[str, _Description()]
    ) -> ToolReturn:
        """Propose the branch as it is to be pushed; a person decides. All is committed and the checks have passed.

        Args:
            title: What it does, in one line.
            description: Why, how it was checked, and what a reviewer should look at.
        """
        refuse_redacted(title, description)
        branch, head = repository.own_branch(), await repository.head()
        base = (await begun(context, repository, branch)).text("base")
        if head == base:
            raise Refusal(Reason.CONFLICT, f"{branch} has no commits of its own yet; there is nothing to propose")
        await repository.check_clean()
        await _check_passed(context, services, repository, head)
        name = head[:SHORT]
        record = await find(context, PROPOSAL, f"{repository.key}:{name}")
        if record.text("state") in ("approved", "pushed"):
            raise Refusal(Reason.CONFLICT, f"this commit is proposed already, and {record.text('state')}")
        body: JsonObject = {
            "state": "proposed", "title": title, "description": description, "branch": branch, "commit": head,
            "base": base, "proposed_by": context.origin.agent_id, "call": context.call_id,
        }  # fmt: skip
        record.put(context, body)
        context.emit("self_evolution_proposed", {"proposal": name, "branch": branch, "commit": head, "title": title})
        return fact_answer(
            f"proposed as {name}; a person can look at it (self_evolution.show), approve it and push it",
            {"proposal": name, "branch": branch, "commit": head},
        )


def _add_approve(build: ToolsetBuilder, repository: Repository) -> None:
    @build.write(exposure="manual", targets=_proposal_target, needs_approval=True, category="Workflow")
    async def approve(context: ToolContext, proposal: str) -> ToolReturn:
        """Approve a proposal: exactly this commit may be pushed.

        Args:
            proposal: The name that self_evolution.propose gave; look at it with self_evolution.show first.
        """
        record = await find_proposal(context, repository.key, proposal)
        if record.text("state") != "proposed":
            raise Refusal(Reason.CONFLICT, f"{proposal} is {record.text('state')} already")
        who = context.origin.principal
        record.put(context, {**record.body, "state": "approved", "approved_by": who})
        context.emit("self_evolution_approved", {"proposal": proposal, "commit": record.text("commit"), "by": who})
        return fact_answer(f"approved {proposal}: {record.text('title')}", {"proposal": proposal})


def _add_push(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    def targets(arguments: Arguments) -> Sequence[Target]:
        return [*_proposal_target(arguments), _destination(services.push_to)]

    tags = {"dangerous", "network"} if _host(services.push_to) else {"dangerous"}

    @build.write(exposure="manual", targets=targets, tags=tags, category="Workflow")
    async def push(context: ToolContext, proposal: str) -> ToolReturn:
        """Push the commit of an approved proposal to the configured place, on the branch of the same name.

        Args:
            proposal: The name that self_evolution.propose gave.
        """
        record = await find_proposal(context, repository.key, proposal)
        await _check_pushable(repository, record, proposal)
        refspec = f"{record.text('commit')}:refs/heads/{record.text('branch')}"
        await repository.git.push(services.confine_push, services.push_to, refspec)
        record.put(context, {**record.body, "state": "pushed"})
        facts: JsonObject = {"proposal": proposal, "commit": record.text("commit"), "branch": record.text("branch")}
        context.emit("self_evolution_pushed", facts)
        return fact_answer(f"pushed {proposal} as {record.text('branch')}", facts)


async def _check_passed(context: ToolContext, services: EvolutionServices, repository: Repository, head: str) -> None:
    if not services.checks:
        return
    record = await find(context, CHECK, f"{repository.key}:{head}")
    if record.body.get("passed") is not True:
        said = "failed" if record.body else "were not run"
        message = f"the checks {said} at {head[:SHORT]}; call self_evolution.check until they pass"
        raise Refusal(Reason.CONFLICT, message)


async def _check_pushable(repository: Repository, record: Record, proposal: str) -> None:
    if record.text("state") != "approved":
        message = f"{proposal} is {record.text('state')}, not approved; a person approves with self_evolution.approve"
        raise Refusal(Reason.PERMISSION_DENIED, message, {"state": record.text("state")})
    at = await repository.git.ask("rev-parse", "--verify", "--quiet", f"refs/heads/{record.text('branch')}")
    if at != record.text("commit"):
        message = f"{record.text('branch')} has moved since {proposal} was approved; propose it as it is now"
        raise Refusal(Reason.CONFLICT, message, {"at": at})


def _proposal_target(arguments: Arguments) -> Sequence[Target]:
    """A proposal as a target; it is approved and pushed one at a time, never for a session."""
    return [Target(TargetKind.RESOURCE, f"proposal {arguments.get('proposal')}")]


def _destination(push_to: str) -> Target:
    if not push_to:
        raise Refusal(Reason.CONFIG_ERROR, "nothing can be pushed: self_evolution.push_to names no place")
    host = _host(push_to)
    return Target(TargetKind.HOST, host) if host else Target(TargetKind.PATH, push_to, "", frozenset({"outside"}))


def _host(push_to: str) -> str:
    """The host of an address; empty for a folder."""
    if "://" in push_to:
        return urlsplit(push_to).hostname or ""
    before, colon, _ = push_to.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before else ""
