"""One HTTP request over a connection to an address that was checked: no redirects, no proxies, a bounded answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolcrib.network.reach import Reach
from toolcrib.policy.network.url import PORTS, Url
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

if TYPE_CHECKING:
    import h11

MAX_ANSWER = 16 * 1024 * 1024
CHUNK = 64 * 1024
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
"""Headers that follow from the request itself; no caller sets them."""


@frozen
class Answer:
    """What a host answered; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def exchange(
    reach: Reach,
    method: str,
    url: Url,
    body: bytes | None = None,
    headers: Mapping[str, str] = NO_HEADERS,
    limit: int = MAX_ANSWER,
) -> Answer:
    """Send one request and read its whole answer, up to `limit` bytes of body; the caller sets the time limit."""
    import h11  # a crib that sends nothing need not load it

    reader, writer = await reach.connect(url)
    try:
        connection = h11.Connection(our_role=h11.CLIENT)
        writer.write(_request(connection, method, url, body, headers))
        await writer.drain()
        return await _answer(connection, reader, url, limit)
    except h11.LocalProtocolError as error:
        raise Refusal(Reason.VALIDATION_ERROR, f"{url.authority} cannot be sent this request: {error}") from error
    except (OSError, h11.RemoteProtocolError) as error:
        message = f"{url.authority} broke off or gave an answer that is not HTTP: {error}"
        raise Refusal(Reason.PROVIDER_ERROR, message) from error
    finally:
        writer.close()


def _request(
    connection: h11.Connection, method: str, url: Url, body: bytes | None, headers: Mapping[str, str]
) -> bytes:
    import h11

    sent = {"user-agent": "toolcrib", "accept": "*/*"}
    if body is not None:
        sent["content-type"] = "application/json"
    sent |= {name.lower(): value for name, value in headers.items() if name.lower() not in _OURS}
    host = url.host if url.port == PORTS.get(url.scheme) else url.authority
    lines = [("Host", host), ("Connection", "close"), *((name.title(), value) for name, value in sent.items())]
    if body is not None:
        lines.append(("Content-Length", str(len(body))))
    request = connection.send(h11.Request(method=method, target=url.rest, headers=lines)) or b""
    data = b"" if body is None else connection.send(h11.Data(data=body)) or b""
    return request + data + (connection.send(h11.EndOfMessage()) or b"")


async def _answer(connection: h11.Connection, reader: asyncio.StreamReader, url: Url, limit: int) -> Answer:
    import h11

    status, headers, body = 0, dict[str, str](), bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Response):
            status = event.status_code
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in event.headers}
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > limit:
                message = f"the answer of {url.authority} is larger than {limit // 1024:,} KiB"
                raise Refusal(Reason.PROVIDER_ERROR, message)
        elif isinstance(event, h11.EndOfMessage):
            return Answer(status, headers, bytes(body))
        elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
            raise h11.RemoteProtocolError("the connection was closed before the answer ended")
