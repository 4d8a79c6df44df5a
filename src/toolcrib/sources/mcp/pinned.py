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

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        there, named = await self._addresses(str(request.url)), request.url
        request.extensions["sni_hostname"] = named.host
        for address in there[:-1]:
            try:
                return await self._send(request, address, named)
            except httpx2.ConnectError:
                continue
        return await self._send(request, there[-1], named)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request, address: str, named: httpx2.URL) -> httpx2.Response:
        request.url = named.copy_with(host=address)
        try:
            return await self._inner.handle_async_request(request)
        finally:
            request.url = named

    async def _addresses(self, text: str) -> list[str]:
        try:
            home, there = read_url(self._url), read_url(text)
            reach = self._reach.written_down(home) if _is_same(home, there) else self._reach
            return [str(address) for address in await reach.pinned(there)]
        except Refusal as error:
            raise httpx2.ConnectError(error.message) from error


def _is_same(one: Url, other: Url) -> bool:
    return (one.host, one.port) == (other.host, other.port)
