"""A tour of one governed session: a few tools, one agent, and what the crib does about each call: `make run`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolcrib import PermissionDecision, PermissionRequest, ToolCall, ToolContext, Toolcrib, ToolResult, tool

NOTES: dict[str, str] = {"today": "Ship the release. The deploy token is ghp_" + "a1B2c3D4e5F6" * 3 + "."}


@tool.read(name="notes.read")
async def read_note(title: str) -> str:
    """Read a note."""
    return NOTES[title]


@tool.read(name="notes.export")
async def export(lines: int) -> str:
    """Export a long log."""
    return "\n".join(f"{number:06d} nothing happened" for number in range(lines))


@tool(name="notes.write")
async def write_note(title: str, text: str) -> str:
    """Write a note. (Unmarked tools count as writes.)"""
    NOTES[title] = text
    return f"wrote {title}"


@tool(name="notes.wipe", tags={"dangerous"})
async def wipe() -> str:
    """Delete all notes."""
    NOTES.clear()
    return "all notes are gone"


@tool.read(name="clock.wait", timeout=0.2)
async def wait(context: ToolContext, seconds: float) -> str:
    """Wait for a while."""
    context.partial("waiting… ")
    await asyncio.sleep(seconds)
    return "done"


async def ask(request: PermissionRequest) -> PermissionDecision:
    """The person at the counter: says yes to writing notes, no to everything else."""
    answer = "allow_for_session" if request.tool == "notes.write" else "deny"
    print(f"    · asked: {request.tool} {request.arguments} because {request.because} → {answer}")
    return PermissionDecision(answer, None if answer != "deny" else "not on my watch")


STEPS = [
    ("A read runs at once, and a secret in its result never reaches the model.", [
        ToolCall("notes.read", {"title": "today"}),
    ]),
    ("Arguments are checked against the schema before anything happens.", [ToolCall("notes.read", {"tittle": 7})]),
    ("A write asks. The answer covers the same arguments for this session.", [
        ToolCall("notes.write", {"title": "todo", "text": "tea"}),
        ToolCall("notes.write", {"title": "todo", "text": "tea"}),
    ]),
    ("A denied write stops what comes after it; every call still gets its one result.", [
        ToolCall("notes.wipe"), ToolCall("notes.read", {"title": "todo"}),
    ]),
    ("A rule of the operator denies, and says which rule it was.", [ToolCall("clock.set")]),
    ("A tool that takes too long is stopped, and what it had so far is kept.", [
        ToolCall("clock.wait", {"seconds": 5}),
    ]),
    ("A long result is bounded for the model; the whole of it is an artifact.", [
        ToolCall("notes.export", {"lines": 5000}),
    ]),
    ("A tool that does not exist is answered with what would work.", [ToolCall("notes.raed", {"title": "todo"})]),
]  # fmt: skip


@tool.read(name="clock.set")
async def set_clock() -> None:
    """Pretend to set the clock."""


async def tour(home: Path) -> None:
    tools = [read_note, export, write_note, wipe, wait, set_clock]
    rules = [{"tool": "clock.set", "verdict": "deny", "because": "time is not ours to change"}]
    async with Toolcrib.open(
        home=home, tools=tools, asker=ask, config={"toolsets": [], "policy": {"rules": rules}}
    ) as crib:
        async with crib.run() as run:
            print(f"{len(run.tools)} tools on the counter: {', '.join(run.tools)}\n")
            for number, (title, calls) in enumerate(STEPS, 1):
                print(f"{number}. {title}")
                for result in await run.turn(calls):
                    show(result)
                print()
        report = await crib.runtime.store.verify(None)
        print(f"Every step is signed for: {report.events} events, chain intact: {not report.faults}.")
        print(f"Look at them:  .venv/bin/toolcrib --home {home} events --session {run.origin.session_id}")
        print(f"Prove them:    .venv/bin/toolcrib --home {home} sessions verify --expect {report.head}")


def show(result: ToolResult) -> None:
    text = result.text if len(result.text) < 300 else f"{result.text[:90]} … ({len(result.text):,} characters)"
    verdict = "ok" if result.ok else str(result.reason)
    print(f"    {result.name} → {verdict}: {text.strip()}".replace("\n", "\n      "))
    for artifact in result.artifacts:
        print(f"      the rest is in artifact {artifact}")


if __name__ == "__main__":
    asyncio.run(tour(Path(sys.argv[1] if len(sys.argv) > 1 else ".home").absolute()))
