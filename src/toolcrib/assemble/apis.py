"""The HTTP interfaces of a crib: documents read when it opens, requests sent by the one way to the network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.assemble.bodies import read_body
from toolcrib.assemble.judging import network_rules
from toolcrib.network import Reach
from toolcrib.network.exchange import Answer, exchange
from toolcrib.policy.network.url import read_url
from toolcrib.sources.openapi.document import read_document
from toolcrib.sources.openapi.reading import MOST_BYTES
from toolcrib.sources.openapi.request import Request
from toolcrib.sources.openapi.servers import chosen_base
from toolcrib.sources.openapi.tools import Api, Offer, api_tools
from toolcrib.values.references import resolved
from toolcrib.values.refusal import ConfigError, Reason, Refusal

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.config.apis import ApiEntry


def api_offer(settings: Config, name: str, entry: ApiEntry) -> Offer:
    """The tools of one document; ConfigError when it cannot be used at all."""
    file = entry.document if entry.document.is_absolute() else settings.home.root / entry.document
    where = f"apis.{name}"
    try:
        body = read_body(file, MOST_BYTES)
    except OSError as error:
        raise ConfigError(f"{where}: {file} cannot be read: {error.strerror}") from error
    document = read_document(body, str(file))
    further = [server for operation in document.operations for server in operation.servers]
    own = {*(("header", key.lower()) for key in entry.headers), *(("query", key) for key in entry.query)}
    timeout = entry.timeout_ms / 1000
    return api_tools(
        Api(
            name=name,
            document=document,
            base=chosen_base(document.servers, entry.server, where, further),
            send=partial(send, Reach(network_rules(settings)), timeout),
            timeout=timeout,
            headers=partial(_filled, where, entry.headers),
            query=partial(_filled, where, entry.query),
            own=frozenset(own),
        )
    )


def _filled(where: str, texts: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return resolved(texts, os.environ, where)
    except ConfigError as error:
        raise Refusal(Reason.CONFIG_ERROR, str(error)) from error


async def send(reach: Reach, timeout: float, request: Request) -> Answer:
    """One request to a host that the operator wrote down: no redirects, no proxies, a bounded answer."""
    url = read_url(request.url, reach.rules.schemes)
    try:
        async with asyncio.timeout(timeout):
            return await exchange(reach.written_down(url), request.method, url, request.body, request.headers)
    except TimeoutError as error:
        raise Refusal(Reason.PROVIDER_TIMEOUT, f"{url.authority} did not answer within {timeout:g} s") from error
