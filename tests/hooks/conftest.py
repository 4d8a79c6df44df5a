"""A home with hooks, a tool that leaves a trace, and the whole way through the counter."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Run, Toolcrib, tool
from toolcrib.values.event import Event


@dataclass
class Home:
    """A home folder, and what was done in it."""

    root: Path
    done: list[str] = field(default_factory=list[str])
    events: list[Event] = field(default_factory=list[Event])

    def hooks(self, *hooks: dict[str, Any], event: str = "PreToolUse", matcher: dict[str, str] | None = None) -> None:
        group = {"hooks": list(hooks), **({} if matcher is None else {"matcher": matcher})}
        self.write({"version": 1, "hooks": {event: [group]}})

    def write(self, document: object) -> None:
        (self.root / "hooks.json").write_text(document if isinstance(document, str) else json.dumps(document))

    def script(self, body: str) -> list[str]:
        """A Python program as the words of a command."""
        file = self.root / f"hook{len(list(self.root.glob('hook*.py')))}.py"
        file.write_text(f"import json, os, sys, time\n{body}\n")
        return [sys.executable, "-I", "-S", str(file)]

    @asynccontextmanager
    async def run(self, rules: list[dict[str, str]] | None = None, **options: Any) -> AsyncGenerator[Run, None]:
        @tool.read(name="look.up", tags={"notes"})
        async def look(text: str = "", path: str = "") -> str:
            """Look, and leave a trace."""
            self.done.append(text)
            return f"seen {text}"

        config = {"toolsets": [], "policy.rules": rules or []}
        async with Toolcrib.open(home=self.root, tools=[look], config=config, **options) as crib:
            try:
                async with crib.run() as run:
                    yield run
            finally:
                self.events = [event async for event in crib.events(follow_on=False)]

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [dict(event.payload or {}) for event in self.events if event.type == kind]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def served() -> Iterator[Callable[[Callable[[BaseHTTPRequestHandler], None]], str]]:
    """An HTTP server on this machine that answers as it is told to; gives its address."""
    servers: list[ThreadingHTTPServer] = []

    def serve(answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/hook"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def stopwatch() -> Callable[[], float]:
    began = time.monotonic()
    return lambda: time.monotonic() - began
