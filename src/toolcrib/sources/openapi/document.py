"""An OpenAPI 3 document, read and checked: its servers, and its operations one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolcrib.sources.openapi.reading import read_text
from toolcrib.sources.openapi.schema import Definitions, as_list, as_object, resolved
from toolcrib.sources.openapi.servers import Server, read_servers
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

METHODS = ("get", "head", "options", "post", "put", "patch", "delete", "trace")
FORM = "application/x-www-form-urlencoded"
_NO_BODY = frozenset({"get", "head", "trace"})
_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_KNOWN_STYLES = {
    "path": {"simple"},
    "query": {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
    "header": {"simple"},
    "cookie": {"form"},
}
_IGNORED = frozenset({"accept", "content-type", "authorization"})
"""Names of header parameters that the specification says mean nothing: other parts of a document speak of them."""
_PLACE_IN_PATH = re.compile(r"\{([^{}]+)\}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@frozen
class Parameter:
    """One thing that goes into the path, the query, a header or a cookie, under the name `key` among the arguments.

    `style` says how a list or an object is written there; `json` writes whatever it is as JSON.
    """

    name: str
    key: str
    place: str
    required: bool
    schema: JsonObject
    style: str
    explode: bool


@frozen
class Body:
    """What a request carries, under the name `key` among the arguments."""

    key: str
    kind: str
    schema: JsonObject
    required: bool


@frozen
class Operation:
    """One method of one path. `servers` are its own, or those of its path or document."""

    operation_id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    body: Body | None
    servers: tuple[Server, ...]

    @property
    def label(self) -> str:
        return f"{self.method.upper()} {self.path}"


@frozen
class Document:
    """What of a document matters here; `aside` says of operations that cannot be used what is wrong with them."""

    title: str
    version: str
    servers: tuple[Server, ...]
    operations: tuple[Operation, ...]
    definitions: Definitions
    aside: Mapping[str, str]


def read_document(body: bytes, file: str) -> Document:
    """The document; ConfigError when there is nothing in it that could be used."""
    raw = read_text(body, file)
    version = raw.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise ConfigError(f"{file}: this is no OpenAPI 3 document (openapi: {version!r}); convert older ones first")
    info = as_object(raw.get("info"))
    definitions = Definitions(raw)
    servers = read_servers(raw.get("servers"))
    operations: list[Operation] = []
    aside: dict[str, str] = {}
    for label, read in _found(raw, definitions, servers):
        if isinstance(read, str):
            aside[label] = read
        else:
            operations.append(read)
    title, edition = str(info.get("title", "")), str(info.get("version", ""))
    return Document(title, edition, servers, tuple(operations), definitions, aside)


def _found(
    raw: JsonObject, definitions: Definitions, servers: tuple[Server, ...]
) -> Iterator[tuple[str, Operation | str]]:
    """Every operation, or what is wrong with it."""
    for path, held in as_object(raw.get("paths")).items():
        try:
            item = as_object(resolved(held, raw))
        except ConfigError as error:
            yield path, str(error)
            continue
        for method in METHODS:
            if not isinstance(found := item.get(method), dict):
                continue
            try:
                shared = as_list(item.get("parameters"))
                near = read_servers(found.get("servers")) or read_servers(item.get("servers")) or servers
                yield f"{method.upper()} {path}", _operation(path, method, found, shared, definitions, near)
            except ConfigError as error:
                yield f"{method.upper()} {path}", str(error)


def _operation(
    path: str, method: str, found: JsonObject, shared: list[Json], definitions: Definitions, near: tuple[Server, ...]
) -> Operation:
    if not path.startswith("/") or any(letter in path for letter in "?#\\") or not path.isprintable():
        raise ConfigError("a path begins with / and holds no query, fragment or backslash")
    parameters = _parameters(path, [*shared, *as_list(found.get("parameters"))], definitions)
    return Operation(
        str(found.get("operationId") or "_".join([method, *_PLACE_IN_PATH.sub(r"\1", path).split("/")[1:]])),
        method,
        path,
        _text(found.get("summary")),
        _text(found.get("description")),
        parameters,
        None if method in _NO_BODY else _body(found.get("requestBody"), parameters, definitions),
        near,
    )


def _parameters(path: str, given: list[Json], definitions: Definitions) -> tuple[Parameter, ...]:
    """The parameters, those of the operation before those of its path; each with a name of its own."""
    by_place: dict[tuple[str, str], Parameter] = {}
    for each in given:
        made = _parameter(as_object(resolved(each, definitions.raw)), definitions)
        if made.place != "header" or made.name.lower() not in _IGNORED:
            by_place[made.name, made.place] = made
    in_path = _PLACE_IN_PATH.findall(path)
    for name in in_path:
        if (name, "path") not in by_place:
            by_place[name, "path"] = Parameter(name, name, "path", True, {"type": "string"}, "simple", False)
    taken: set[str] = set()
    named: list[Parameter] = []
    for parameter in by_place.values():
        if parameter.place == "path" and parameter.name not in in_path:
            continue
        key = parameter.name if parameter.name not in taken else f"{parameter.place}_{parameter.name}"
        if key in taken:
            raise ConfigError(f"there are two parameters {parameter.name!r}, and {key!r} is one too")
        taken.add(key)
        named.append(replace(parameter, key=key))
    return tuple(named)


def _parameter(found: JsonObject, definitions: Definitions) -> Parameter:
    name, place = found.get("name"), found.get("in")
    if not isinstance(name, str) or not name or not isinstance(place, str) or place not in _STYLES:
        raise ConfigError(f"a parameter has a name, and is in path, query, header or cookie, not {place!r}")
    if place in ("header", "cookie") and not _TOKEN.fullmatch(name):
        raise ConfigError(f"{name[:60]!r} cannot be the name of a {place}")
    style, schema = found.get("style", _STYLES[place]), found.get("schema")
    if schema is None and found.get("content"):
        style, schema = "json", as_object(next(iter(as_object(found.get("content")).values()), None)).get("schema")
    if not isinstance(style, str) or style not in {*_KNOWN_STYLES[place], "json"}:
        raise ConfigError(f"the parameter {name[:60]!r} has the style {style!r}, which is not known here")
    described = definitions.plain(schema if schema is not None else {"type": "string"})
    if isinstance(text := found.get("description"), str) and "description" not in described:
        described = {**described, "description": text}
    explode = found.get("explode", style == "form") is not False
    return Parameter(name, name, place, found.get("required") is True or place == "path", described, style, explode)


def _body(found: Json, parameters: tuple[Parameter, ...], definitions: Definitions) -> Body | None:
    request = as_object(resolved(found, definitions.raw))
    content = as_object(request.get("content"))
    if not content:
        return None
    kind = min(content, key=_preference)
    schema = definitions.plain(as_object(content[kind]).get("schema", {}))
    if _preference(kind) > 2 and schema.get("type") != "string":
        raise ConfigError(f"its body is {kind[:80]}; bodies of JSON, of forms and of text can be sent")
    taken = {parameter.key for parameter in parameters}
    key = next(name for name in ("body", "request_body", "the_request_body") if name not in taken)
    return Body(key, kind, schema, request.get("required") is True)


def _preference(kind: str) -> int:
    """What is sent best of what a body may be."""
    plain = kind.partition(";")[0].strip().lower()
    if plain == "application/json" or plain.endswith("+json") or plain == "*/*":
        return 0
    return 1 if plain == FORM else 2 if plain.startswith("text/") else 3


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
