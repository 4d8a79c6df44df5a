"""A user who is not root works on files that are closed to them: `unprivileged.py FOLDER CALLS`, answers as JSON.

Permissions mean nothing to root, and tests often run as root; so this gives that up before it touches a file.
"""

import concurrent.futures.thread  # noqa: F401 - whoever is not root may not be able to read the interpreter's folder
import json
import os
import sys

import anyio

from toolcrib.testing import MemoryStore, make_run
from toolcrib.toolsets import Services, code, workspace
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.workspace import Workspace

NOBODY = 65_534


async def main(folder: str, calls: list[tuple[str, dict[str, str]]]) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    here, store = Workspace.of(folder, None), MemoryStore()
    services = Services(workspace=lambda: here, artifacts=store.artifacts, holds_secrets=lambda text: False)
    async with make_run(code.toolset(services), workspace.toolset(services), asker=allow, store=store) as run:
        results = [await run.call(name, arguments) for name, arguments in calls]
    print(json.dumps([None if each.error is None else [each.error.code, each.error.message] for each in results]))


async def allow(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], json.loads(sys.argv[2]))
