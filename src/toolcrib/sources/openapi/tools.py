"""Operations as tools: one schema for parameters and body, a request whose host no argument can change."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import cast
from urllib.parse import quote, urlencode, urlsplit

from toolcrib.network.exchange import Answer
from toolcrib.sources.fixed import fixed_target
from toolcrib.sources.openapi.document import Document, Operation, Parameter
from toolcrib.sources.openapi.request import Request, request_for
from toolcrib.sources.openapi.schema import Definitions
from toolcrib.sources.openapi.servers import origin_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, ToolcribError
from toolcrib.values.result import Block, JsonBlock, Text, ToolError, ToolReturn
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Arguments, Tool

GRACE_SECONDS = 3.0
"""How much longer the counter waits than a request may take: its own limit must come first."""
_READS = frozenset({"get", "head"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")

Send = Callable[[Request], Awaitable[Answer]]
Words = Callable[[], Mapping[str, str]]


@frozen(kw_only=True)
class Api:
    """One document with the server that was chosen, and what proves who calls: the operator's headers and query."""

    name: str
    document: Document
    base: str
    send: Send
    timeout: float
    headers: Words
    query: Words
    own: frozenset[tuple[str, str]] = frozenset()
    """What the operator says, as (place, name in lower case): no argument says it again."""


@frozen
class Offer:
    """The tools of a document, in its order; `aside` says of the other operations why they are none."""

    tools: list[Tool] = field(default_factory=list[Tool])
    aside: dict[str, str] = field(default_factory=dict[str, str])


def api_tools(api: Api) -> Offer:
    """One tool for each operation that the chosen server has."""
    offer = Offer(aside=dict(api.document.aside))
    places: dict[str, str] = {}
    for operation in api.document.operations:
        try:
            made = _tool(api, operation)
        except ToolcribError as error:
            offer.aside[operation.label] = str(error)
            continue
        if isinstance(made, str):
            offer.aside[operation.label] = made
        elif (other := places.setdefault(made.name.lower(), operation.label)) != operation.label:
            offer.aside[operation.label] = f"{other} is {made.name} already; give it an operationId of its own"
        else:
            offer.tools.append(made)
    return offer


def _tool(api: Api, operation: Operation) -> Tool | str:
    """The tool of an operation, or why there is none."""
    base = _base_of(api, operation)
    if base is None:
        there = ", ".join(server.url for server in operation.servers)
        return f"it is at {there}, and {origin_of(api.base)} is called here; give that server an entry of its own"
    word = _UNSAFE.sub("_", operation.operation_id).strip("_-")
    if not word:
        return f"its operationId {operation.operation_id[:60]!r} has no letter or digit that a name could have"
    operation = replace(operation, parameters=tuple(_left(api, operation)))
    spec = ToolSpec(
        name=f"api.{api.name}.{word}",
        description=(operation.summary or operation.description or operation.label).strip(),
        help=operation.description if operation.summary else "",
        input_schema=_schema(operation, api.document.definitions),
        effect=Effect.READ if operation.method in _READS else Effect.WRITE,
        tags=frozenset({"network", "openapi"}),
        category="Network",
        tool_type=ToolType.CUSTOM,
        timeout=api.timeout + GRACE_SECONDS,
        source=Source("openapi", f"{base} {api.document.title}".strip(), api.document.version),
        metadata={"untrusted": True, "operation": operation.label},
    )
    target, digest = (fixed_target(base),), _digest(operation, base)
    return Tool(spec, partial(_call, api, operation, base), targets=lambda _: target, implementation=lambda: digest)


def _base_of(api: Api, operation: Operation) -> str | None:
    """Where an operation is called: at the chosen address, or at the same host under a path of its own."""
    if operation.servers is api.document.servers or not operation.servers:
        fits = not operation.servers or any(server.is_at(api.base) for server in operation.servers)
        return api.base if fits else None
    for server in operation.servers:
        if server.is_at(api.base):
            return origin_of(api.base) + server.path
    return None


def _left(api: Api, operation: Operation) -> Iterator[Parameter]:
    """The parameters that are left to whoever calls."""
    for parameter in operation.parameters:
        name = parameter.name.lower() if parameter.place == "header" else parameter.name
        if (parameter.place, name) not in api.own:
            yield parameter


def _schema(operation: Operation, definitions: Definitions) -> JsonObject:
    """Parameters and body as one object."""
    properties: dict[str, Json] = {each.key: each.schema for each in operation.parameters}
    required: list[Json] = [each.key for each in operation.parameters if each.required]
    if operation.body is not None:
        properties[operation.body.key] = operation.body.schema
        required += [operation.body.key] if operation.body.required else []
    made: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        made["required"] = required
    if needed := definitions.used(properties):
        made["$defs"] = needed
    return made


def _digest(operation: Operation, base: str) -> str:
    """What a call would send where, apart from the contract: a change of it is another tool."""
    places: list[Json] = [[each.key, each.name, each.place, each.style, each.explode] for each in operation.parameters]
    kind = None if operation.body is None else operation.body.kind
    return hashlib.sha256(canonical([operation.label, base, places, kind]).encode()).hexdigest()


async def _call(api: Api, operation: Operation, base: str, context: ToolContext, arguments: Arguments) -> ToolReturn:
    answer = await api.send(_signed(api, request_for(operation, base, arguments)))
    content = _content(answer)
    if answer.status < 400 and answer.status not in _REDIRECTS:
        return ToolReturn((content,), {"status": answer.status})
    message = f"{operation.label} answered {answer.status}"
    if answer.status in _REDIRECTS:
        message += f", a redirect to {answer.headers.get('location', 'nowhere')}, which is not followed"
    return ToolReturn((Text(message), content), {"status": answer.status}, ToolError(_reason(answer.status), message))


def _signed(api: Api, request: Request) -> Request:
    """The request with the operator's own headers and query, which stand above what arguments say."""
    own = urlencode(api.query(), quote_via=quote)
    joint = "&" if urlsplit(request.url).query else "?"
    names = {name.lower() for name in api.headers()}
    kept = {name: value for name, value in request.headers.items() if name.lower() not in names}
    return replace(request, url=f"{request.url}{joint}{own}" if own else request.url, headers={**kept, **api.headers()})


def _content(answer: Answer) -> Block:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith("json"):
        try:
            return JsonBlock(cast("Json", json.loads(answer.body)))
        except ValueError:
            return Text(answer.body.decode("utf-8", "replace"))
    if b"\0" in answer.body[:8_192]:
        return Text(f"[{len(answer.body):,} bytes of {kind or 'binary data'}]")
    return Text(answer.body.decode("utf-8", "replace") or f"(answered {answer.status}, without content)")


def _reason(status: int) -> Reason:
    if status in (401, 403):
        return Reason.PROVIDER_AUTH_FAILED
    return Reason.PROVIDER_RATE_LIMITED if status == 429 else Reason.PROVIDER_ERROR
