"""One process that calls a limited tool as often as it may: prints how often it could."""

from __future__ import annotations

import asyncio
import sys
import time

from toolcrib import Toolcrib, tool


@tool.read(name="look.up")
async def look(n: int) -> int:
    """Look."""
    return n


async def main(home: str, seconds: float, max_calls: int, per_seconds: float) -> None:
    rates = {"look.*": {"max_calls": max_calls, "per_seconds": per_seconds}}
    config = {"toolsets": [], "limits": {"rate": rates}}
    async with Toolcrib.open(home=home, tools=[look], config=config) as crib, crib.run() as run:
        print("ready", flush=True)
        sys.stdin.readline()
        end, done, n = time.monotonic() + seconds, 0, 0
        while time.monotonic() < end:
            n += 1
            result = await run.call("look.up", {"n": n})
            done += result.ok
            if not result.ok:
                assert result.reason == "rate_limited", result.text
                await asyncio.sleep(0.002)
        print(done, flush=True)
        if "--die" in sys.argv:
            import os

            os._exit(9)


asyncio.run(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
