"""Hooks as requests: the occasion is posted as JSON, the answer is the body. No redirects, no proxies, a deadline."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from toolcrib.hooks.aside import aside
from toolcrib.hooks.declared import BadAnswer, answer_of
from toolcrib.ports import HookAnswer
from toolcrib.values.json import JsonError, JsonObject, canonical, parse_json

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

MOST_BODY = 64 * 1024
CHUNK = 4_096


@dataclass(frozen=True, slots=True)
class HttpWay:
    """Posts to one address. 200: as the body answers; 204: no objection; anything else: it failed."""

    url: str
    headers: Mapping[str, str]
    timeout: float

    async def __call__(self, occasion: JsonObject) -> HookAnswer:
        status, body = await aside(lambda: self._post(canonical(occasion).encode()))
        if status == 204:
            return HookAnswer()
        if status != 200:
            raise BadAnswer(f"{self.url} answered with status {status}")
        try:
            return answer_of(parse_json(body) if body.strip() else None)
        except JsonError as error:
            raise BadAnswer(f"the answer of {self.url} is {error}") from error

    def _post(self, body: bytes) -> tuple[int, bytes]:
        deadline = time.monotonic() + self.timeout
        parts = urlsplit(self.url)
        connection = _connection(parts, self.timeout)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {**self.headers, "Content-Type": "application/json", "Connection": "close"}
            connection.request("POST", target, body, headers)
            response = connection.getresponse()
            return response.status, _body(response, deadline)
        finally:
            connection.close()


def _connection(parts: SplitResult, timeout: float) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection  # only where a hook needs it

    host = parts.hostname or ""
    made = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return made(host, parts.port, timeout=timeout)


def _body(response: HTTPResponse, deadline: float) -> bytes:
    """The body, piece by piece: one that drips for ever ends at the deadline, one without end at its limit."""
    body = b""
    while chunk := response.read1(CHUNK):
        body += chunk
        if len(body) > MOST_BODY:
            raise BadAnswer(f"the answer is longer than {MOST_BODY // 1024} KiB")
        if time.monotonic() > deadline:
            raise TimeoutError("the answer did not end in time")
    return body
