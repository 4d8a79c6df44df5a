"""A run in one line, over a store in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from toolcrib.assemble.asking import Asking
from toolcrib.assemble.crib import Parts, Toolcrib
from toolcrib.engine.run import Run
from toolcrib.ports import Clock, Hook, Store
from toolcrib.testing.memory import MemoryStore
from toolcrib.values.json import Json


@asynccontextmanager
async def make_run(
    *tools: object,
    asker: Asking = None,
    config: Mapping[str, Json] | None = None,
    hooks: Iterable[Hook] = (),
    store: Store | None = None,
    clock: Clock | None = None,
    home: Path | None = None,
    session: str | None = None,
    allowed_tools: Iterable[str] | None = None,
    mode: str | None = None,
    role: str | None = None,
) -> AsyncGenerator[Run, None]:
    """An open run over these tools; what it needs besides is made and thrown away."""
    with TemporaryDirectory(prefix="toolcrib-test-") as folder:
        parts = Parts(store=store or MemoryStore(), clock=clock)
        async with (
            Toolcrib.open(
                home=home or folder,
                config={"toolsets": [], **(config or {})},
                tools=tools,
                asker=asker,
                hooks=hooks,
                parts=parts,
            ) as crib,
            crib.run(mode=mode, session=session, allowed_tools=allowed_tools, role=role) as run,
        ):
            yield run
