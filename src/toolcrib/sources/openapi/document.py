"""An OpenAPI 3 document, read and checked: its operations, with every schema brought to JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import ConfigError

METHODS = ("get", "head", "options", "post", "put", "patch", "delete", "trace")
_DEPTH = 32
_SINGLE = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})
_NOT_SCHEMA = frozenset(
    {"nullable", "discriminator", "xml", "externalDocs", "example", "exclusiveMinimum", "exclusiveMaximum"}
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that goes into the path, the query, a header or a cookie."""

    name: str
    place: str
    required: bool
    schema: JsonObject
    explode: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    operation_id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    body: JsonObject | None
    body_type: str
    body_required: bool
    answer: JsonObject | None


@dataclass(frozen=True, slots=True)
class Document:
    """What of a document matters here. `definitions` are its components, for the schemas that refer to them."""

    title: str
    version: str
    servers: tuple[str, ...]
    operations: tuple[Operation, ...]
    definitions: JsonObject


def read_document(text: str, file: str) -> Document:
    """The document, or an error that says what it lacks."""
    raw = _parsed(text, file)
    version = raw.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise ConfigError(f"{file}: this is no OpenAPI 3 document (openapi: {version!r}); convert older ones first")
    info = _object(raw.get("info"))
    components = _object(_object(raw.get("components")).get("schemas"))
    servers = tuple(
        url for server in _list(raw.get("servers")) if isinstance(url := _object(server).get("url"), str) and url
    )
    return Document(
        str(info.get("title", "")),
        str(info.get("version", "")),
        servers,
        tuple(_operations(raw, file)),
        {name: plain_schema(schema) for name, schema in components.items()},
    )


def _parsed(text: str, file: str) -> JsonObject:
    try:
        raw = json.loads(text)
    except ValueError:
        import yaml  # only for documents that are no JSON

        try:
            raw = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"{file}: this is neither JSON nor YAML: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{file}: an OpenAPI document is an object")
    return cast("JsonObject", raw)


def _operations(raw: JsonObject, file: str) -> Iterator[Operation]:
    seen: dict[str, str] = {}
    for path, held in _object(raw.get("paths")).items():
        item = _object(resolved(held, raw))
        shared = _list(item.get("parameters"))
        for method in METHODS:
            if not isinstance(found := item.get(method), dict):
                continue
            operation = _operation(path, method, found, shared, raw)
            where = f"{method.upper()} {path}"
            if (other := seen.setdefault(operation.operation_id, where)) != where:
                raise ConfigError(f"{file}: {other} and {where} have the same operationId {operation.operation_id!r}")
            yield operation


def _operation(path: str, method: str, found: JsonObject, shared: list[Json], raw: JsonObject) -> Operation:
    parameters: dict[tuple[str, str], Parameter] = {}
    for each in (*shared, *_list(found.get("parameters"))):
        made = _parameter(_object(resolved(each, raw)))
        parameters[made.name, made.place] = made
    body = _object(resolved(found.get("requestBody"), raw))
    body_type, schema = _content(_object(body.get("content")))
    answers = _object(found.get("responses"))
    success = next((answers[code] for code in sorted(answers) if code.startswith("2")), None)
    _, answer = _content(_object(_object(resolved(success, raw)).get("content")))
    return Operation(
        str(found.get("operationId") or _named(method, path)),
        method,
        path,
        str(found.get("summary", "")),
        str(found.get("description", "")),
        tuple(parameters.values()),
        schema,
        body_type,
        body.get("required") is True,
        answer,
    )


def _parameter(found: JsonObject) -> Parameter:
    schema = found.get("schema")
    if schema is None:
        _, schema = _content(_object(found.get("content")))
    described = plain_schema(schema if schema is not None else {"type": "string"})
    if isinstance(text := found.get("description"), str) and "description" not in described:
        described = {**described, "description": text}
    place = str(found.get("in", "query"))
    explode = found.get("explode", found.get("style", "form") == "form") is not False
    return Parameter(
        str(found.get("name", "")), place, found.get("required") is True or place == "path", described, explode
    )


def _content(content: JsonObject) -> tuple[str, JsonObject | None]:
    """The media type to use, JSON if there is one, and its schema."""
    if not content:
        return "", None
    chosen = next((kind for kind in content if "json" in kind), next(iter(content)))
    schema = _object(content[chosen]).get("schema")
    return chosen, plain_schema(schema) if schema is not None else {}


def plain_schema(schema: Json, depth: int = 0) -> JsonObject:
    """A schema of OpenAPI 3.0 or 3.1 as JSON Schema; references point to `$defs`."""
    if depth > _DEPTH or not isinstance(schema, Mapping):
        return {}
    made: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            made["$ref"] = value.replace("#/components/schemas/", "#/$defs/")
        elif key in ("properties", "patternProperties", "$defs", "dependentSchemas"):
            made[key] = {name: plain_schema(inner, depth + 1) for name, inner in _object(value).items()}
        elif key in ("items", "additionalProperties", "not", "contains", "propertyNames") and isinstance(
            value, Mapping
        ):
            made[key] = plain_schema(value, depth + 1)
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            made[key] = [plain_schema(inner, depth + 1) for inner in _list(value)]
        elif key not in (
            "nullable",
            "discriminator",
            "xml",
            "externalDocs",
            "example",
            "exclusiveMinimum",
            "exclusiveMaximum",
        ):
            made[key] = value
    _bounds(schema, made)
    if schema.get("nullable") is True and isinstance(kind := made.get("type"), str):
        made["type"] = [kind, "null"]
    return made


def _bounds(schema: Mapping[str, Json], made: dict[str, Json]) -> None:
    """3.0 says with a flag beside the bound what JSON Schema says with a bound of its own."""
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = schema.get(flag)
        if value is True and bound in made:
            made[flag] = made.pop(bound)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            made[flag] = value


def resolved(value: Json, raw: JsonObject, depth: int = 0) -> Json:
    """What a reference inside the document stands for; one to anywhere else is an error."""
    if not isinstance(value, dict) or not isinstance(reference := value.get("$ref"), str):
        return value
    if not reference.startswith("#/") or depth > _DEPTH:
        raise ConfigError(
            f"the reference {reference[:120]!r} leaves the document; only references inside it are followed"
        )
    found: Json = raw
    for step in reference[2:].split("/"):
        found = _object(found).get(step.replace("~1", "/").replace("~0", "~"))
    return resolved(found, raw, depth + 1)


def _named(method: str, path: str) -> str:
    words = [part.strip("{}") for part in path.split("/") if part]
    return "_".join([method, *words])


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
