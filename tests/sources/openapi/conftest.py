"""A server on this machine that says back what it was asked, for documents to describe."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Echo(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        said = {"method": self.command, "path": self.path, "body": sent, "headers": dict(self.headers.items())}
        body = json.dumps(said).encode()
        self.send_response(404 if "/missing" in self.path else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


@pytest.fixture
def echo() -> Generator[str]:
    """The address of such a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
