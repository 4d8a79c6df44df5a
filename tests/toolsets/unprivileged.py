"""A user who is not root works on files that are closed to them: `unprivileged.py FOLDER CALLS`, answers as JSON.

Permissions mean nothing to root, and tests often run as root; so this gives that up before it touches a file.
"""

import json
import os
import sys
import tempfile

import anyio

from toolcrib.testing import MemoryStore, make_run
from toolcrib.toolsets import Services, code, workspace
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.workspace import Workspace

NOBODY = 65_534


async def main(folder: str, calls: list[tuple[str, dict[str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as elsewhere:
        places = [Workspace.of(elsewhere, None), Workspace.of(folder, None)]
        store = MemoryStore()
        services = Services(workspace=lambda: places[0], artifacts=store.artifacts, holds_secrets=lambda text: False)
        async with make_run(code.toolset(services), workspace.toolset(services), asker=allow, store=store) as run:
            # Once as whoever we are: what is imported late may lie where nobody else can read.
            for name, arguments in calls:
                await run.call(name, arguments)
            del places[0]
            if os.geteuid() == 0:
                os.setgroups([])
                os.setegid(NOBODY)
                os.seteuid(NOBODY)
            results = [await run.call(name, arguments) for name, arguments in calls]
            os.seteuid(os.getuid())
    print(json.dumps([None if each.error is None else [each.error.code, each.error.message] for each in results]))


async def allow(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], json.loads(sys.argv[2]))
