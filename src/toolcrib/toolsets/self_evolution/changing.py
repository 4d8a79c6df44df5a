"""self_evolution.begin, patch, commit and revert: changes on a branch of its own, file by file, never anything else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from toolcrib.catalog.toolset import ToolsetBuilder
from toolcrib.toolsets.self_evolution.guard import branch_target, writable_target
from toolcrib.toolsets.self_evolution.records import BRANCH, Record, find
from toolcrib.toolsets.self_evolution.repository import Repository
from toolcrib.toolsets.self_evolution.reverting import revert_commit
from toolcrib.toolsets.self_evolution.services import EvolutionServices
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments
from toolcrib.workspace.answers import fact_answer
from toolcrib.workspace.arguments import refuse_redacted
from toolcrib.workspace.changes import Changes
from toolcrib.workspace.changing import Missing, patch_text
from toolcrib.workspace.spots import Final, PathTarget, Spot, spot_of

MOST_PATHS = 200


class _Name:
    pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$"


class _Commit:
    pattern = r"^[0-9a-f]{7,64}$"


class _Some:
    min_length = 1
    max_length = MOST_PATHS


class _Message:
    min_length = 1
    max_length = 10_000


Paths = Annotated[list[str], _Some()]


def add_changing(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    """Add the tools that change the repository."""
    _add_begin(build, repository)
    _add_patch(build, services, repository)
    _add_commit(build, services, repository)
    _add_revert(build, services, repository)


def _add_begin(build: ToolsetBuilder, repository: Repository) -> None:
    def targets(arguments: Arguments) -> Sequence[Target]:
        return [branch_target(repository.git.repository, f"{repository.prefix}{arguments.get('name')}")]

    @build.write(targets=targets, category="Workflow")
    async def begin(context: ToolContext, name: Annotated[str, _Name()]) -> ToolReturn:
        """Begin a piece of work: a new branch at the last commit, checked out. Everything must be committed.

        Args:
            name: A short name of letters, digits, `-` and `_`; the branch gets the configured prefix before it.
        """
        if (was := repository.git.branch()) is None:
            message = "HEAD is detached: no branch is checked out. A person has to check one out first"
            raise Refusal(Reason.CONFLICT, message)
        repository.check_idle()
        head = await repository.head()
        await repository.check_clean()
        branch = f"{repository.prefix}{name}"
        record = await find(context, BRANCH, f"{repository.key}:{branch}")
        await repository.begin(branch, head)
        record.put(context, {"branch": branch, "base": head, "from": was})
        context.emit("self_evolution_began", {"branch": branch, "base": head, "from": was})
        return fact_answer(f"on branch {branch}, from {was} at {head[:12]}", {"branch": branch, "base": head})


def _add_patch(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    here = services.workspace

    def targets(arguments: Arguments) -> Sequence[Target]:
        return [writable_target(here, services.guard, str(arguments.get("path")), Final.FOLLOWED)]

    @build.write(targets=targets, category="FileSystem", tags={"filesystem"})
    async def patch(
        context: ToolContext,
        path: str,
        unified_diff: str,
        create_if_missing: bool = False,
        expected_hash: str | None = None,
    ) -> ToolReturn:
        """Change one file of the repository by a unified diff. Nothing is committed by it.

        Args:
            path: The file, seen from the top of the repository; it must be among the allowed paths.
            unified_diff: A diff of this one file with exact context lines.
            create_if_missing: Make the file if there is none.
            expected_hash: The content_hash that was read; refused as stale_file when the file has changed since.
        """
        repository.own_branch()
        changes = Changes(here, services.artifacts, services.holds_secrets, context)
        missing = Missing.CREATED if create_if_missing else Missing.REFUSED
        return await patch_text(changes, spot_of(context.targets[0]), unified_diff, missing, expected_hash)


def _add_commit(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    @build.write(targets=partial(_commit_targets, services, repository), category="Workflow")
    async def commit(context: ToolContext, message: Annotated[str, _Message()], paths: Paths) -> ToolReturn:
        """Commit changed files on the branch that self_evolution.begin made.

        Args:
            message: What the change is for: a short first line, then why.
            paths: The files to commit, seen from the top of the repository; others stay as they are.
        """
        refuse_redacted(message)
        branch, files = _declared_branch(context, repository), _files(context)
        changed = await repository.changed()
        if same := [path for path in files if path not in changed]:
            raise Refusal(Reason.CONFLICT, f"{', '.join(same[:10])}: nothing has changed there since the last commit")
        await repository.check_unfiltered(files)
        head = await repository.head()
        async with repository.index(head) as index:
            await repository.stage(files, index)
            tree = (await repository.git.run("write-tree", variables={"GIT_INDEX_FILE": index})).decode().strip()
        text = f"{message.rstrip()}\n\nToolcrib-Call: {context.call_id}\n"
        made = await repository.commit(branch, head, tree, text, context.origin.agent_id)
        await repository.stage(files)
        left = sorted(path for path in changed if path not in files)
        context.emit("self_evolution_committed", {"branch": branch, "commit": made, "parent": head, "files": files})
        more = f"; still in no commit: {', '.join(left[:10])}" if left else ""
        return fact_answer(f"committed {made[:12]} on {branch}{more}", {"commit": made, "branch": branch})


def _add_revert(build: ToolsetBuilder, services: EvolutionServices, repository: Repository) -> None:
    @build.write(targets=partial(_commit_targets, services, repository), category="Workflow")
    async def revert(context: ToolContext, commit: Annotated[str, _Commit()], paths: Paths) -> ToolReturn:
        """Take back one commit of this branch by a new commit that undoes it.

        Args:
            commit: The commit, as self_evolution.commit named it.
            paths: The files that it changed: they are changed again, so they have to be named.
        """
        branch = _declared_branch(context, repository)
        began = await begun(context, repository, branch)
        spots = {"/".join(spot.parts): spot for spot in _spots(context)}
        made = await revert_commit(repository, services.workspace, began.text("base"), commit, spots, context)
        context.emit("self_evolution_reverted", {"branch": branch, "commit": made, "of": commit, "files": list(spots)})
        return fact_answer(f"took back {commit[:12]} by {made[:12]} on {branch}", {"commit": made, "branch": branch})


async def begun(context: ToolContext, repository: Repository, branch: str) -> Record:
    """Where a branch began; a refusal when it was not begun by these tools."""
    record = await find(context, BRANCH, f"{repository.key}:{branch}")
    if not record.body:
        message = f"{branch} was not begun by self_evolution.begin; begin a branch, so that its beginning is on record"
        raise Refusal(Reason.CONFLICT, message, {"branch": branch})
    return record


def _commit_targets(services: EvolutionServices, repository: Repository, arguments: Arguments) -> Sequence[Target]:
    """The branch, and each file as it is named: a link is meant itself."""
    named = [str(path) for path in _list(arguments.get("paths"))]
    files = [writable_target(services.workspace, services.guard, path, Final.ITSELF) for path in named]
    return [branch_target(repository.git.repository, repository.own_branch()), *files]


def _declared_branch(context: ToolContext, repository: Repository) -> str:
    """The branch that was declared, if it is still checked out."""
    branch = repository.own_branch()
    if branch_target(repository.git.repository, branch) not in context.targets:
        raise Refusal(Reason.CONFLICT, f"{branch} was checked out meanwhile; look where you are, then call again")
    return branch


def _spots(context: ToolContext) -> list[Spot]:
    return [spot_of(target) for target in context.targets if isinstance(target, PathTarget)]


def _files(context: ToolContext) -> list[str]:
    return list(dict.fromkeys("/".join(spot.parts) for spot in _spots(context)))


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
