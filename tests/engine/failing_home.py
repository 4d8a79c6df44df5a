"""A crib whose disk fills up under it, in a mount namespace of its own.

unshare --user --map-root-user --mount python failing_home.py FOLDER
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from toolcrib import Toolcrib, tool

FOLDER = Path(sys.argv[1])
acted: list[int] = []


@tool.write(name="act.now")
async def act(n: int) -> int:
    """Act where a test can see it."""
    acted.append(n)
    return n


@tool.read(name="look.up")
async def look(n: int) -> int:
    """Look."""
    return n


def fill() -> None:
    with (FOLDER / "ballast").open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            return


async def main() -> None:
    rules = [{"tool": "act.now", "verdict": "allow"}]
    config = {"policy": {"rules": rules}}
    async with Toolcrib.open(home=FOLDER, tools=[act, look], config=config) as crib, crib.run(session="s") as run:  # type: ignore[arg-type]
        assert (await run.call("act.now", {"n": 1})).ok
        fill()
        refused = [await run.call("act.now", {"n": 2}) for _ in range(3)]
        print("refused", *(result.reason for result in refused), "acted", acted, flush=True)
        print("says", refused[0].text, flush=True)
        events = [event async for event in crib.events(follow_on=False)]
        print("readable", len(events) >= 3, flush=True)
        (FOLDER / "ballast").unlink()
        last = await run.call("act.now", {"n": 3})
        print("after", last.reason, "acted", acted, flush=True)
        report = await crib.runtime.store.verify(None)
        print("intact", not report.faults, flush=True)


subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(FOLDER)], check=True)
asyncio.run(main())
