"""Taking back a commit: computed in an index of our own, committed, and only then written to the files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from toolcrib.toolsets.self_evolution.repository import Repository, Touched
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace import writing
from toolcrib.workspace.changes import hold
from toolcrib.workspace.spots import Spot
from toolcrib.workspace.waiting import changing, looking
from toolcrib.workspace.workspace import Workspace
from toolcrib.workspace.writing import Folders

_DIFF = ("-p", "-R", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")


async def revert_commit(
    repository: Repository, workspace: Workspace, base: str, name: str, spots: Mapping[str, Spot], context: ToolContext
) -> str:
    """The commit that undoes another; files are as in it afterwards."""
    git, head, branch = repository.git, await repository.head(), repository.own_branch()
    commit = await _own_commit(repository, base, name)
    files = await repository.touched(commit)
    _check_named(files, spots)
    await _check_untouched(repository, files)
    diff = await git.run("diff-tree", *_DIFF, f"{commit}^", commit)
    async with repository.index(head) as index:
        variables = {"GIT_INDEX_FILE": index}
        try:
            await git.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=diff, variables=variables)
        except Refusal as error:
            message = f"{commit[:12]} cannot be taken back: later commits changed the same lines. Take those back first"
            raise Refusal(Reason.CONFLICT, message) from error
        tree = (await git.run("write-tree", variables=variables)).decode().strip()
    title = await git.ask("show", "-s", "--no-show-signature", "--format=%s", commit)
    message = f'Revert "{title}"\n\nThis takes back {commit}.\n\nToolcrib-Call: {context.call_id}\n'
    made = await repository.commit(branch, head, tree, message, context.origin.agent_id)
    for file in files:
        await _write(repository, workspace, made, file, spots[file.path])
    await repository.stage([file.path for file in files])
    return made


async def _own_commit(repository: Repository, base: str, name: str) -> str:
    """The full name of a commit that was made on this branch."""
    listed = (await repository.git.run("rev-list", "--no-merges", f"{base}..HEAD")).decode().split()
    found = [commit for commit in listed if commit.startswith(name)]
    if len(found) != 1:
        known = ", ".join(commit[:12] for commit in listed[:10]) or "none"
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} is not one commit of this branch; it has {known}")
    return found[0]


def _check_named(files: list[Touched], spots: Mapping[str, Spot]) -> None:
    wanted = sorted(file.path for file in files)
    if wanted != sorted(spots):
        raise Refusal(Reason.VALIDATION_ERROR, f"that commit changed other files than paths names; give {wanted}")


async def _check_untouched(repository: Repository, files: list[Touched]) -> None:
    changed = await repository.changed()
    if dirty := [file.path for file in files if file.path in changed]:
        message = f"{', '.join(dirty[:10])}: changed since the last commit; commit that first"
        raise Refusal(Reason.CONFLICT, message, {"changed": dirty[:10]})
    await repository.check_unfiltered([file.path for file in files])


async def _write(repository: Repository, workspace: Workspace, commit: str, file: Touched, spot: Spot) -> None:
    """Bring one file to what the new commit has. `before` is how it was before the commit that is taken back."""
    if file.before == "000000":
        await changing(partial(writing.delete, workspace, spot))
        return
    body = await repository.git.run("cat-file", "--filters", f"{commit}:{file.path}")
    if spot.identity is None:
        mode = 0o755 if file.before == "100755" else 0o644
        await changing(partial(writing.create, workspace, spot, [body], Folders.MAKE, mode))
        return
    held = await looking(partial(hold, workspace, spot))
    await changing(partial(writing.replace, workspace, spot, [body], held.status))
