"""The HTTP interfaces of a crib: documents read when it opens, requests sent by the one way to the network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.assemble.judging import network_rules
from toolcrib.network import Reach
from toolcrib.network.exchange import Answer, exchange
from toolcrib.policy.network.url import read_url
from toolcrib.sources.openapi.document import read_document
from toolcrib.sources.openapi.tools import Api, Request, api_tools, chosen_base
from toolcrib.values.references import resolved
from toolcrib.values.refusal import ConfigError, Reason, Refusal
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.config.apis import ApiEntry


def open_apis(settings: Config) -> list[Tool]:
    """The tools of every document that the configuration names."""
    return [tool for name, entry in settings.apis.items() for tool in _tools(settings, name, entry)]


def _tools(settings: Config, name: str, entry: ApiEntry) -> list[Tool]:
    file = entry.document if entry.document.is_absolute() else settings.home.root / entry.document
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"apis.{name}: {file} cannot be read: {error}") from error
    document = read_document(text, str(file))
    base = chosen_base(document, entry.server, f"apis.{name}")
    headers = partial(_headers, name, entry.headers)
    reach = Reach(network_rules(settings))
    return api_tools(Api(name, document, base, headers, partial(send, reach, entry.timeout_ms / 1000)))


def _headers(name: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return resolved(headers, os.environ, f"apis.{name}")
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
