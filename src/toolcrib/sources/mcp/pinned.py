"""The client of the protocol's library, held to addresses that were checked."""

from __future__ import annotations

import httpx2

from toolcrib.network import Reach
from toolcrib.policy.network.url import Url, read_url
from toolcrib.values.refusal import Refusal


class Pinned(httpx2.AsyncBaseTransport):
    """Looks the operator's host up, and sends each request to an address that may be reached.

    The host stays in its header and in the handshake of TLS, so that the server and its certificate are those of the
    name.
    """

    def __init__(self, url: str, reach: Reach, inner: httpx2.AsyncBaseTransport) -> None:
        self._url = url
        self._reach = reach
        self._inner = inner
        self._fixed: dict[str, list[httpx2.URL]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        named = request.url
        there = await self._there(named)
        request.extensions["sni_hostname"] = named.host
        for url in there[:-1]:
            try:
                return await self._send(request, url, named)
            except httpx2.ConnectError:
                continue
        return await self._send(request, there[-1], named)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request, url: httpx2.URL, named: httpx2.URL) -> httpx2.Response:
        request.url = url
        try:
            return await self._inner.handle_async_request(request)
        finally:
            request.url = named

    async def _there(self, named: httpx2.URL) -> list[httpx2.URL]:
        """The URL at each address that its host has and that may be reached."""
        text = str(named)
        if (fixed := self._fixed.get(text)) is not None:
            return fixed
        try:
            home, url = read_url(self._url), read_url(text)
            reach = self._reach.written_down(home) if _is_same(home, url) else self._reach
            there = [named.copy_with(host=str(address)) for address in await reach.pinned(url)]
        except Refusal as error:
            raise httpx2.ConnectError(error.message) from error
        if url.address is not None:
            self._fixed = {text: there}  # what is an address already leads nowhere else the next time
        return there


def _is_same(one: Url, other: Url) -> bool:
    return (one.host, one.port) == (other.host, other.port)
