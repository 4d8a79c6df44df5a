"""The HTTP interfaces of a crib: documents read when it opens, requests sent by one small client."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.sources.openapi.document import read_document
from toolcrib.sources.openapi.tools import Api, Request, Response, api_tools, chosen_base
from toolcrib.values.references import resolved
from toolcrib.values.refusal import ConfigError, Reason, Refusal
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.config.apis import ApiEntry

ANSWER_LIMIT = 16 * 1024 * 1024


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
    return api_tools(Api(name, document, base, headers, partial(send, entry.timeout_ms / 1000)))


def _headers(name: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return resolved(headers, os.environ, f"apis.{name}")
    except ConfigError as error:
        raise Refusal(Reason.CONFIG_ERROR, str(error)) from error


async def send(timeout: float, request: Request) -> Response:
    """One request: no redirects, no proxies of the environment, a bounded answer."""
    try:
        import httpx2
    except ImportError as error:
        raise Refusal(Reason.CONFIG_ERROR, "HTTP tools need the extra: pip install 'toolcrib[http]'") from error
    try:
        async with (
            httpx2.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as client,
            client.stream(request.method, request.url, headers=dict(request.headers), content=request.body) as answer,
        ):
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > ANSWER_LIMIT:
                    raise Refusal(Reason.PROVIDER_ERROR, f"the answer is larger than {ANSWER_LIMIT // 2**20} MiB")
            return Response(answer.status_code, answer.headers.get("content-type", ""), bytes(body))
    except httpx2.TimeoutException as error:
        raise Refusal(Reason.PROVIDER_TIMEOUT, f"{request.url} did not answer within {timeout:g} s") from error
    except httpx2.HTTPError as error:
        raise Refusal(Reason.PROVIDER_ERROR, f"{request.url} cannot be reached: {error}") from error
