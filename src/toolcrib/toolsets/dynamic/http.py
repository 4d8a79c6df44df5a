"""Requests: arguments are percent-encoded into path and query, the host is that of the definition, redirects stay."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from urllib.parse import quote

from toolcrib.network import Reach, url_of
from toolcrib.network.exchange import Answer, exchange
from toolcrib.policy.network.rules import HostTarget, host_target
from toolcrib.policy.network.url import Url, read_url
from toolcrib.toolsets.dynamic.kinds import Http, authority_of
from toolcrib.toolsets.dynamic.references import Reference, argument_of, read_text, scalar_text, wrong
from toolcrib.toolsets.dynamic.script import SECONDS
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonError, canonical, parse_json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import Block, JsonBlock, Text, ToolError, ToolReturn
from toolcrib.values.tool import Arguments

MAX_HOPS = 5
_BODIES = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def request_target(
    http: Http, schema: Mapping[str, Json], arguments: Arguments, schemes: Collection[str]
) -> HostTarget:
    """The URL of a call as its target: the handler uses what was declared."""
    url = read_url("".join(_filled(http, schema, arguments)), schemes)
    fixed = authority_of(http, schemes)
    if (url.scheme, url.authority) != (fixed.scheme, fixed.authority):
        raise wrong(f"the arguments would lead to {url.authority} instead of {fixed.authority}")
    path = url.rest.partition("?")[0]
    if any(part.lower().replace("%2e", ".") in (".", "..") for part in path.split("/")):
        raise wrong("the arguments would lead out of the path of this tool: '.' and '..' cannot be parts of it")
    return host_target(url)


async def send_request(http: Http, context: ToolContext, arguments: Arguments, reach: Reach) -> ToolReturn:
    """Send what was declared; what the URL does not use goes along as JSON where the method has a body."""
    body = _body(http, arguments)
    try:
        async with asyncio.timeout(SECONDS):
            return _returned(context.name, await _follow(http, url_of(context), body, reach))
    except TimeoutError as error:
        message = f"{context.name}: no answer within {SECONDS:g} s"
        raise Refusal(Reason.PROVIDER_TIMEOUT, message) from error


def _filled(http: Http, schema: Mapping[str, Json], arguments: Arguments) -> list[str]:
    texts: list[str] = []
    for part in read_text(http.url):
        if isinstance(part, str):
            texts.append(part)
            continue
        value = scalar_text(part, argument_of(arguments, schema, part.name))
        in_path = not any("?" in text for text in texts)
        if not value and in_path:
            raise wrong(f"{part} is empty, and a part of the path cannot be")
        texts.append(quote(value, safe=""))
    return texts


def _body(http: Http, arguments: Arguments) -> bytes | None:
    if http.method not in _BODIES:
        return None
    used = {part.name for part in read_text(http.url) if isinstance(part, Reference)}
    return canonical({name: value for name, value in arguments.items() if name not in used}).encode()


async def _follow(http: Http, url: Url, body: bytes | None, reach: Reach) -> Answer:
    """The answer; a request that only reads follows redirects, as far as they stay with its host."""
    for _ in range(MAX_HOPS):
        answer = await exchange(reach, http.method, url, body)
        location = answer.headers.get("location", "")
        if answer.status not in _REDIRECTS or not location or not http.reads:
            return answer
        there = url.joined(location, reach.rules.schemes)
        if (there.scheme, there.authority) != (url.scheme, url.authority):
            message = (
                f"{url.authority} redirects to {there.scheme}://{there.authority}, which is not the host of this tool"
            )
            raise Refusal(Reason.PERMISSION_DENIED, message, {"redirected_to": there.authority})
        url = there
    raise Refusal(Reason.PROVIDER_ERROR, f"{url.authority} redirects more than {MAX_HOPS} times")


def _returned(name: str, answer: Answer) -> ToolReturn:
    content: tuple[Block, ...] = (_block(answer),)
    metadata: dict[str, Json] = {"status": answer.status}
    if answer.status < 300:
        return ToolReturn(content, metadata)
    message = f"{name}: the host answered with status {answer.status}"
    return ToolReturn(content, metadata, ToolError(Reason.PROVIDER_ERROR, message, details={"status": answer.status}))


def _block(answer: Answer) -> Block:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return JsonBlock(parse_json(answer.body))
        except JsonError:
            return Text(answer.body.decode(errors="replace"))
    if b"\0" in answer.body[:8_192]:
        return Text(f"[{len(answer.body):,} bytes of {kind or 'binary data'}]")
    return Text(answer.body.decode(errors="replace"))
