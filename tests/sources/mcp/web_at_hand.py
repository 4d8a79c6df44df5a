"""A server over HTTP that misbehaves as it is told, on a socket of this machine."""

from __future__ import annotations

import asyncio
import json
import ssl
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

OBJECT = {"type": "object"}
TOOLS = [
    {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object", "properties": {"text": {}}}},
    {"name": "misbehave", "description": "Do what this server is here for.", "inputSchema": OBJECT},
]


class Web:
    """What it was asked, and what it does when asked to misbehave."""

    def __init__(self, how: str = "", elsewhere: str = "") -> None:
        self.how = how
        self.elsewhere = elsewhere
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.url = ""

    @asynccontextmanager
    async def running(self, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Web]:
        self._handlers: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=tls)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        try:
            yield self
        finally:
            server.close()
            for task in self._handlers:
                task.cancel()
            if self._handlers:
                await asyncio.wait(self._handlers)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        writer.close()
        self._handlers.discard(task)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        verb = head[0].split()[0]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.seen.append((verb, headers))
        if self.how == "401":
            respond(writer, "401 Unauthorized", "text/plain", b"who are you?")
        elif self.how == "redirect":
            respond(writer, "307 Temporary Redirect", "text/plain", b"", f"location: {self.elsewhere}")
        elif verb != "POST":
            respond(writer, "405 Method Not Allowed", "text/plain", b"")
        else:
            return await self._answer(json.loads(body), writer)
        await writer.drain()
        return True

    async def _answer(self, message: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        id, method = message.get("id"), message.get("method")
        if id is None:
            respond(writer, "202 Accepted", "text/plain", b"")
        elif method == "initialize":
            info = {"name": "web", "version": "1"}
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
            respond(writer, "200 OK", "application/json", answer(id, result), "mcp-session-id: one")
        elif method == "tools/list":
            respond(writer, "200 OK", "application/json", answer(id, {"tools": TOOLS}))
        elif method == "tools/call" and message["params"]["name"] == "echo":
            words = str(message["params"]["arguments"]["text"])
            respond(writer, "200 OK", "application/json", answer(id, text(words)))
        elif method == "tools/call":
            return await self._misbehave(id, writer)
        else:
            error = {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "not known here"}}
            respond(writer, "200 OK", "application/json", json.dumps(error).encode())
        await writer.drain()
        return True

    async def _misbehave(self, id: object, writer: asyncio.StreamWriter) -> bool:
        match self.how:
            case "reset" | "reset mid-body":
                if self.how == "reset mid-body":
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{")
                    await writer.drain()
                writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            case "half-open":
                await asyncio.sleep(600)
            case "slow body":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n")
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.05)
            case "announced":
                head = f"content-type: application/json\r\ncontent-length: {17 * 1024 * 1024}"
                writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode())
                await writer.drain()
                await asyncio.sleep(600)  # what was announced never comes: whoever reads it waits
            case "large":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n")
                for _ in range(64):
                    writer.write(b" " * 1024 * 1024)
                    await writer.drain()
                return False
            case "large event":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ")
                for _ in range(64):
                    writer.write(b" " * 1024 * 1024)
                    await writer.drain()
                return False
            case "dense" | "dense event":
                head = b"data: " if self.how == "dense event" else b""
                kind = "text/event-stream" if head else "application/json"
                body = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[' % json.dumps(id).encode()
                body += b'{"a":[]},' * 1_500_000 + b"1]}}"
                writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode())
                for start in range(0, len(body), 1024 * 1024):
                    writer.write((head if start == 0 else b"") + body[start : start + 1024 * 1024])
                    await writer.drain()
                return False
            case "wrong type":
                respond(writer, "200 OK", "text/html", b"<h1>hello</h1>")
            case "invalid events":
                respond(writer, "200 OK", "text/event-stream", b"data: {nonsense\n\n: what\n\nevent: x\n\n")
            case "no event":
                respond(writer, "200 OK", "text/event-stream", b": nothing\n\n")
            case "not JSON":
                respond(writer, "200 OK", "application/json", b"{nonsense")
            case status:
                respond(writer, status, "text/plain", b"no", "retry-after: 7")
        await writer.drain()
        return True


def self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    pem = folder / "server.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem.write_bytes(private + builder.sign(key, SHA256()).public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


def answer(id: object, result: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def respond(writer: asyncio.StreamWriter, status: str, kind: str, body: bytes, more: str = "") -> None:
    extra = f"{more}\r\n" if more else ""
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    writer.write(head.encode() + body)
