"""One HTTP request over a connection to an address that was checked: no redirects, no proxies, a bounded answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.network.reach import Reach
from toolcrib.policy.network.url import PORTS, Url
from toolcrib.values.refusal import Reason, Refusal

if TYPE_CHECKING:
    import h11

MAX_ANSWER = 16 * 1024 * 1024
CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def exchange(reach: Reach, method: str, url: Url, body: bytes | None = None) -> Answer:
    """Send one request and read its whole answer; the caller sets the time limit."""
    try:
        import h11  # a crib that sends nothing need not load it
    except ImportError as error:
        raise Refusal(Reason.CONFIG_ERROR, "HTTP tools need the extra: pip install 'toolcrib[http]'") from error
    reader, writer = await reach.connect(url)
    try:
        connection = h11.Connection(our_role=h11.CLIENT)
        writer.write(_request(connection, method, url, body))
        await writer.drain()
        return await _answer(connection, reader, url)
    except (OSError, h11.RemoteProtocolError) as error:
        message = f"{url.authority} broke off or gave an answer that is not HTTP: {error}"
        raise Refusal(Reason.PROVIDER_ERROR, message) from error
    finally:
        writer.close()


def _request(connection: h11.Connection, method: str, url: Url, body: bytes | None) -> bytes:
    import h11

    host = url.host if url.port == PORTS.get(url.scheme) else url.authority
    headers = [("Host", host), ("User-Agent", "toolcrib"), ("Accept", "*/*"), ("Connection", "close")]
    if body is not None:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    request = connection.send(h11.Request(method=method, target=url.rest, headers=headers)) or b""
    data = b"" if body is None else connection.send(h11.Data(data=body)) or b""
    return request + data + (connection.send(h11.EndOfMessage()) or b"")


async def _answer(connection: h11.Connection, reader: asyncio.StreamReader, url: Url) -> Answer:
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
            if len(body) > MAX_ANSWER:
                message = f"the answer of {url.authority} is larger than {MAX_ANSWER // 2**20} MiB"
                raise Refusal(Reason.PROVIDER_ERROR, message)
        elif isinstance(event, h11.EndOfMessage):
            return Answer(status, headers, bytes(body))
        elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
            raise h11.RemoteProtocolError("the connection was closed before the answer ended")
