"""Operations as tools: one schema for parameters and body, a request whose host no argument can change."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast
from urllib.parse import quote, urlencode, urlsplit

from toolcrib.network.exchange import Answer
from toolcrib.sources.fixed import fixed_target
from toolcrib.sources.openapi.document import Document, Operation, Parameter
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import ConfigError, Reason, Refusal
from toolcrib.values.result import JsonBlock, Text, ToolError, ToolReturn
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Arguments, Tool

_READS = frozenset({"get", "head"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_FORBIDDEN = frozenset({"host", "content-length", "transfer-encoding", "connection", "authorization", "cookie"})


@dataclass(frozen=True, slots=True)
class Request:
    """What goes over the wire."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


Send = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Api:
    """One document with the server that was chosen and the headers that prove who calls."""

    name: str
    document: Document
    base: str
    headers: Callable[[], Mapping[str, str]]
    send: Send


def chosen_base(document: Document, wanted: str, file: str) -> str:
    """The server to call: the operator's choice among the document's servers, or the only one it has."""
    bases = [server for server in document.servers if urlsplit(server).scheme in ("http", "https")]
    if wanted:
        if bases and not any(_within(wanted, base) for base in bases):
            raise ConfigError(f"{file}: {wanted} is none of the document's servers: {', '.join(bases)}")
        return wanted.rstrip("/")
    if len(bases) != 1:
        found = ", ".join(bases) or "none with a full address"
        raise ConfigError(f"{file}: say which server to use; the document has {found}")
    return bases[0].rstrip("/")


def _within(wanted: str, base: str) -> bool:
    ours, theirs = urlsplit(wanted), urlsplit(base)
    return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)


def api_tools(api: Api) -> list[Tool]:
    """One tool per operation, in the document's order."""
    return [_tool(api, operation) for operation in api.document.operations]


def _tool(api: Api, operation: Operation) -> Tool:
    reads = operation.method in _READS
    schema, body_key = _schema(operation, api.document.definitions)
    words = operation.summary or operation.description or f"{operation.method.upper()} {operation.path}"
    spec = ToolSpec(
        name=f"api.{api.name}.{_UNSAFE.sub('_', operation.operation_id).strip('_')}",
        description=words.strip(),
        help=operation.description if operation.summary else "",
        input_schema=schema,
        effect=Effect.READ if reads else Effect.WRITE,
        tags=frozenset({"network", "openapi"}),
        category="Network",
        tool_type=ToolType.CUSTOM,
        source=Source("openapi", f"{api.base} {api.document.title}".strip(), api.document.version),
        metadata={"untrusted": True, "operation": f"{operation.method.upper()} {operation.path}"},
    )
    target = (fixed_target(api.base),)
    return Tool(spec, partial(_call, api, operation, body_key), targets=lambda _: target)


def _schema(operation: Operation, definitions: JsonObject) -> tuple[JsonObject, str]:
    """Parameters and body as one object. The body is one property, under a name no parameter has."""
    properties: dict[str, Json] = {parameter.name: parameter.schema for parameter in operation.parameters}
    required: list[Json] = [parameter.name for parameter in operation.parameters if parameter.required]
    body_key = "body" if "body" not in properties else "request_body"
    if operation.body is not None:
        properties[body_key] = operation.body
        if operation.body_required:
            required.append(body_key)
    made: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        made["required"] = required
    needed = _referred(properties, definitions)
    if needed:
        made["$defs"] = needed
    return made, body_key


def _referred(value: Json, definitions: JsonObject) -> dict[str, Json]:
    """The definitions a schema needs, and those that these need."""
    found: dict[str, Json] = {}
    waiting: list[Json] = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            reference = here.get("$ref")
            name = reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""
            if name in definitions and name not in found:
                found[name] = definitions[name]
                waiting.append(definitions[name])
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
    return found


async def _call(
    api: Api, operation: Operation, body_key: str, context: ToolContext, arguments: Arguments
) -> ToolReturn:
    answer = await api.send(request_for(api, operation, body_key, arguments))
    content = _content(answer)
    if answer.status < 400 and answer.status not in _REDIRECTS:
        return ToolReturn((content,), {"status": answer.status})
    message = f"{operation.method.upper()} {operation.path} answered {answer.status}"
    if answer.status in _REDIRECTS:
        message += f", a redirect to {answer.headers.get('location', 'nowhere')}, which is not followed"
    return ToolReturn((Text(message), content), {"status": answer.status}, ToolError(_reason(answer.status), message))


def request_for(api: Api, operation: Operation, body_key: str, arguments: Arguments) -> Request:
    """The request for valid arguments. Whatever they hold, it goes to the server that was fixed beforehand."""
    path, query, headers = operation.path, list[tuple[str, str]](), dict[str, str]()
    for parameter in operation.parameters:
        if parameter.name not in arguments:
            continue
        value = arguments[parameter.name]
        if parameter.place == "path":
            path = path.replace("{" + parameter.name + "}", _segment(parameter.name, value))
        elif parameter.place == "query":
            query += _query(parameter, value)
        elif parameter.place == "header" and parameter.name.lower() not in _FORBIDDEN:
            headers[parameter.name] = _one_line(parameter.name, _text(value))
    body = None
    if operation.body is not None and body_key in arguments:
        headers["Content-Type"] = operation.body_type or "application/json"
        body = _encoded(arguments[body_key], headers["Content-Type"])
    url = api.base + path + (f"?{urlencode(query)}" if query else "")
    if urlsplit(url).netloc != urlsplit(api.base).netloc:
        raise Refusal(Reason.PERMISSION_DENIED, f"these arguments would send the request to {urlsplit(url).netloc}")
    return Request(operation.method.upper(), url, {**headers, **api.headers()}, body)


def _segment(name: str, value: Json) -> str:
    text = _text(value)
    if text in ("", ".", ".."):
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} is part of a path and cannot be {text!r}")
    return quote(text, safe="")


def _query(parameter: Parameter, value: Json) -> list[tuple[str, str]]:
    if isinstance(value, list):
        if parameter.explode:
            return [(parameter.name, _text(item)) for item in value]
        return [(parameter.name, ",".join(map(_text, value)))]
    return [(parameter.name, _text(value))]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(name: str, text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} is sent as a header and must be one line of ASCII")
    return text


def _encoded(value: Json, kind: str) -> bytes:
    if "json" in kind:
        return json.dumps(value, ensure_ascii=False).encode()
    if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urlencode({key: _text(item) for key, item in value.items()}).encode()
    return _text(value).encode()


def _content(answer: Answer) -> Text | JsonBlock:
    if "json" in answer.headers.get("content-type", ""):
        try:
            return JsonBlock(cast("Json", json.loads(answer.body)))
        except ValueError:
            pass
    return Text(answer.body.decode("utf-8", "replace"))


def _reason(status: int) -> Reason:
    if status in (401, 403):
        return Reason.PROVIDER_AUTH_FAILED
    return Reason.PROVIDER_RATE_LIMITED if status == 429 else Reason.PROVIDER_ERROR
