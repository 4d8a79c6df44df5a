"""The repository as the tools see it: where it stands, what changed, and new commits made without touching the rest."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress

from toolcrib.toolsets.self_evolution.git import IDENTITY, NO_VARIABLES, Git
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}
_LISTED = 10
_PLAIN = ("100644", "100755", "000000")


@frozen
class Touched:
    """A file that a commit changes: its modes before and after."""

    path: str
    before: str
    after: str


@frozen
class Repository:
    """Questions and changes, each by the smallest git command that does it; the checked-out files stay the user's."""

    git: Git
    prefix: str

    @property
    def key(self) -> str:
        """What records of this repository are filed under."""
        return hashlib.sha256(self.git.repository.encode()).hexdigest()[:12]

    def own_branch(self) -> str:
        """The branch that is checked out, if it is one of ours; anything else is a refusal."""
        branch = self.git.branch()
        if branch is None:
            raise Refusal(Reason.CONFLICT, "HEAD is detached: no branch is checked out. Check one out, then begin")
        if not branch.startswith(self.prefix):
            message = f"{branch} is checked out, which is not a branch of self evolution; call self_evolution.begin"
            raise Refusal(Reason.CONFLICT, message, {"branch": branch})
        return branch

    async def head(self) -> str:
        found = await self.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if found is None:
            raise Refusal(Reason.CONFLICT, "the repository has no commit yet; make the first one by hand")
        return found

    def check_idle(self) -> None:
        """Refuse to begin in the middle of somebody's merge or rebase."""
        for name, what in UNDER_WAY.items():
            if os.path.lexists(os.path.join(self.git.folder, name)):
                raise Refusal(Reason.CONFLICT, f"{what} is under way in the repository; finish it first")

    async def changed(self) -> dict[str, str]:
        """Files that differ from the last commit, by path, with git's two letters for how."""
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        listed = (await self.git.run(*words)).decode(errors="surrogateescape")
        return {entry[3:]: entry[:2] for entry in listed.split("\0") if entry}

    async def check_clean(self) -> None:
        """Refuse when tracked files have changes that are in no commit."""
        dirty = sorted(path for path, how in (await self.changed()).items() if how != "??")
        if dirty:
            more = " …" if len(dirty) > _LISTED else ""
            message = f"there are changes that are in no commit: {', '.join(dirty[:_LISTED])}{more}; commit them first"
            raise Refusal(Reason.CONFLICT, message, {"changed": dirty[:_LISTED]})

    async def check_unfiltered(self, paths: Sequence[str]) -> None:
        """Refuse files that the repository passes through a program: it is not run here."""
        listed = await self.git.run("check-attr", "-z", "filter", "--", *paths)
        fields = listed.decode(errors="surrogateescape").split("\0")
        for path, _, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            if value not in ("unspecified", "unset"):
                message = f"{path} goes through the filter {value!r}, which is not run here; commit it by hand"
                raise Refusal(Reason.CONFLICT, message, {"path": path})

    async def begin(self, branch: str, head: str) -> None:
        """A new branch at the last commit, checked out; no file is touched for that."""
        if await self.git.ask("check-ref-format", "--branch", branch) is None:
            raise Refusal(Reason.VALIDATION_ERROR, f"{branch!r} is not a name that git takes for a branch")
        reference = f"refs/heads/{branch}"
        if await self.git.ask("rev-parse", "--verify", "--quiet", reference) is not None:
            raise Refusal(Reason.CONFLICT, f"there is a branch {branch} already; choose another name")
        await self.git.run("update-ref", "-m", "toolcrib: begin", reference, head, "0" * len(head))
        await self.git.run("symbolic-ref", "-m", "toolcrib: begin", "HEAD", reference)

    @asynccontextmanager
    async def index(self, head: str) -> AsyncGenerator[str]:
        """An index of our own at a commit, so that what somebody else staged stays out of it."""
        path = os.path.join(self.git.folder, f"toolcrib-{secrets.token_hex(8)}.index")
        try:
            await self.git.run("read-tree", head, variables={"GIT_INDEX_FILE": path})
            yield path
        finally:
            for leftover in (path, f"{path}.lock"):
                with suppress(FileNotFoundError):
                    os.unlink(leftover)

    async def commit(self, branch: str, head: str, tree: str, message: str, agent: str) -> str:
        """A commit of a tree on top of a branch, which must not have moved meanwhile."""
        if tree == await self.git.ask("rev-parse", f"{head}^{{tree}}"):
            raise Refusal(Reason.CONFLICT, "there is nothing to commit: the files are as in the last commit")
        name = f"toolcrib agent {agent}"
        who = {"GIT_AUTHOR_NAME": name, "GIT_COMMITTER_NAME": name}
        who |= {"GIT_AUTHOR_EMAIL": IDENTITY, "GIT_COMMITTER_EMAIL": IDENTITY}
        words = ("commit-tree", tree, "-p", head, "-F", "-")
        body = await self.git.run(*words, stdin=message.encode(), variables=who)
        commit = body.decode().strip()
        await self.git.run("update-ref", "-m", "toolcrib: commit", f"refs/heads/{branch}", commit, head)
        return commit

    async def stage(self, paths: Sequence[str], index: str | None = None) -> None:
        """Take the files as they are into an index: ours, or that of the checked-out branch."""
        entries = b"".join(path.encode(errors="surrogateescape") + b"\0" for path in paths)
        variables = NO_VARIABLES if index is None else {"GIT_INDEX_FILE": index}
        await self.git.run("update-index", "-z", "--add", "--remove", "--stdin", stdin=entries, variables=variables)

    async def touched(self, commit: str) -> list[Touched]:
        """The files that a commit changes; links and submodules are refused."""
        words = ("diff-tree", "--no-commit-id", "-r", "-z", "--raw", "--no-renames", commit)
        fields = (await self.git.run(*words)).decode(errors="surrogateescape").split("\0")
        found = [
            Touched(path, *facts.lstrip(":").split(" ")[:2])
            for facts, path in zip(fields[::2], fields[1::2], strict=False)
        ]
        for each in found:
            if each.before not in _PLAIN or each.after not in _PLAIN:
                message = f"{each.path} is a link or a submodule in that commit; revert it by hand"
                raise Refusal(Reason.CONFLICT, message, {"path": each.path})
        return found
