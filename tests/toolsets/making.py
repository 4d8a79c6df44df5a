"""A home in which agents make tools, and an operator who approves them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib import Toolcrib, tool
from toolcrib.engine.run import Run
from toolcrib.values.contract import Approval, Basis
from toolcrib.values.identity import Surface
from toolcrib.values.json import Json
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.result import ToolResult

X = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "additionalProperties": False}


@dataclass
class Notes:
    """What the tool that composites use was given."""

    kept: list[str] = field(default_factory=list[str])


@dataclass
class Making:
    """`open` gives a crib over one home; whoever is asked says yes, and what was asked is kept."""

    root: Path
    notes: Notes = field(default_factory=Notes)
    asked: list[PermissionRequest] = field(default_factory=list[PermissionRequest])
    config: dict[str, Json] = field(default_factory=dict[str, Json])

    @asynccontextmanager
    async def open(self, **config: Json) -> AsyncIterator[Toolcrib]:
        async def ask(request: PermissionRequest) -> PermissionDecision:
            self.asked.append(request)
            return PermissionDecision("allow_once")

        @tool.write(name="notes.keep")
        async def keep(text: str) -> str:
            """Keep a note."""
            self.notes.kept.append(text)
            return f"kept {text}"

        @tool.read(name="far.read", tags={"network"})
        async def far() -> str:
            """Read something far away."""
            return "far"

        (self.root / "project").mkdir(exist_ok=True)
        settings: dict[str, Json] = {
            "toolsets": ["code", "shell", "dynamic"], "tools.sandbox": "off", **self.config, **config,
        }  # fmt: skip
        opened = Toolcrib.open(
            home=self.root / "home", project=self.root / "project", config=settings, tools=[keep, far], asker=ask
        )
        async with opened as crib:
            yield crib

    @asynccontextmanager
    async def run(self, **config: Json) -> AsyncIterator[Run]:
        async with self.open(**config) as crib, crib.run() as run:
            yield run


async def approve(
    crib: Toolcrib, *names: str, basis: Basis = Basis.APPROVED, surface: Surface = Surface.RUNTIME
) -> None:
    """What `toolcrib guard approve-contract SURFACE NAME` leaves in the store."""
    snapshot = crib.runtime.registry.snapshot
    entries = [Approval(surface, name, snapshot[name].fingerprint, basis, "operator:ada") for name in names]
    await crib.runtime.store.approve(entries, {})


async def create(run: Run, name: str, implementation: Json, schema: Json = X) -> ToolResult:
    given: dict[str, Json] = {
        "name": name, "description": f"It is {name}.", "input_schema": schema, "implementation": implementation,
    }  # fmt: skip
    return await run.call("tools.create", given)


def script(text: str, language: str = "bash") -> dict[str, Json]:
    return {"kind": "script", "language": language, "script": text}


def http(url: str, method: str = "GET") -> dict[str, Json]:
    return {"kind": "http", "method": method, "url": url}


def steps(*calls: tuple[str, dict[str, Json]]) -> dict[str, Json]:
    return {"kind": "composite", "steps": [{"tool": name, "arguments": arguments} for name, arguments in calls]}
