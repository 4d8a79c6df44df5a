"""Arguments as a request: each value stays in its place, and none decides where the request goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from toolcrib.sources.openapi.document import FORM, Body, Operation, Parameter
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Arguments

_DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade", "te", "trailer"})
"""Headers that say how a message is to be read, or where it goes: no argument becomes one of them."""
Pairs = list[tuple[str, str]]


@frozen
class Request:
    """What goes over the wire."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


def request_for(operation: Operation, base: str, arguments: Arguments) -> Request:
    """The request for valid arguments. Whatever they hold, it goes to the server that was fixed beforehand."""
    path, query, headers, cookies = operation.path, Pairs(), dict[str, str](), Pairs()
    for parameter in operation.parameters:
        value = arguments.get(parameter.key)
        if value is None and parameter.place != "path":
            continue
        if parameter.place == "path":
            path = path.replace("{" + parameter.name + "}", quote(_joined(parameter, value), safe=","))
        elif parameter.place == "query":
            query += _pairs(parameter, value)
        elif parameter.place == "cookie":
            cookies += _pairs(parameter, value)
        elif parameter.name.lower() not in _OURS:
            headers[parameter.name] = _one_line(parameter.key, _joined(parameter, value))
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={quote(text, safe='')}" for name, text in cookies)
    _check_path(path)
    body = None
    if operation.body is not None and operation.body.key in arguments:
        headers["Content-Type"] = operation.body.kind if operation.body.kind != "*/*" else "application/json"
        body = _encoded(operation.body, arguments[operation.body.key])
    url = base + path + (f"?{urlencode(query, quote_via=quote)}" if query else "")
    if urlsplit(url).netloc != urlsplit(base).netloc:
        raise Refusal(Reason.PERMISSION_DENIED, f"these arguments would send the request to {urlsplit(url).netloc}")
    return Request(operation.method.upper(), url, headers, body)


def _check_path(path: str) -> None:
    """No part of a filled path is empty where there was a place, nor leads up: servers would read it as another."""
    for part in path.split("/"):
        if part.lower().replace("%2e", ".") in (".", ".."):
            raise Refusal(Reason.VALIDATION_ERROR, f"the arguments would make {part!r} a part of the path; say another")


def _joined(parameter: Parameter, value: Json) -> str:
    """A value for a path or a header: lists by commas, objects by commas and, exploded, by equals signs."""
    if parameter.style == "json":
        text = _text(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    elif isinstance(value, list):
        text = ",".join(map(_text, value))
    elif isinstance(value, Mapping):
        between = "=" if parameter.explode else ","
        text = ",".join(f"{name}{between}{_text(item)}" for name, item in value.items())
    else:
        text = "" if value is None else _text(value)
    if parameter.place == "path" and text in ("", ".", ".."):
        raise Refusal(Reason.VALIDATION_ERROR, f"{parameter.key} is part of a path and cannot be {text!r}")
    return text


def _pairs(parameter: Parameter, value: Json) -> Pairs:
    """A value for the query or the cookies, as its style writes lists and objects."""
    name = parameter.name
    if isinstance(value, list) and parameter.style != "json":
        if parameter.explode:
            return [(name, _text(item)) for item in value]
        return [(name, _DELIMITERS.get(parameter.style, ",").join(map(_text, value)))] if value else []
    if isinstance(value, Mapping) and parameter.style != "json":
        if parameter.style == "deepObject":
            return [(f"{name}[{key}]", _text(item)) for key, item in value.items()]
        if parameter.explode:
            return [(key, _text(item)) for key, item in value.items()]
        return [(name, ",".join(f"{key},{_text(item)}" for key, item in value.items()))]
    return [(name, _text(value))]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(name: str, text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} is sent as a header and must be one line of ASCII")
    return text


def _encoded(body: Body, value: Json) -> bytes:
    kind = body.kind.partition(";")[0].strip().lower()
    if kind == FORM and isinstance(value, Mapping):
        pairs = [
            (key, _text(each)) for key, item in value.items() for each in (item if isinstance(item, list) else [item])
        ]
        return urlencode(pairs).encode()
    if kind == "*/*" or kind.endswith("json"):
        return json.dumps(value, ensure_ascii=False).encode()
    return _text(value).encode()
