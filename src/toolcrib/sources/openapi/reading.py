"""The text of a document as JSON values: JSON, or the part of YAML that stands for JSON."""

from __future__ import annotations

import re
from typing import Any, cast

from toolcrib.values.json import Json, JsonError, JsonObject, parse_json
from toolcrib.values.refusal import ConfigError

MOST_BYTES = 16 * 1024 * 1024
MOST_VALUES = 1_000_000
MOST_LEVELS = 200
_PLAIN = {
    "tag:yaml.org,2002:null": r"^(?:~|null|Null|NULL|)$",
    "tag:yaml.org,2002:bool": r"^(?:true|True|TRUE|false|False|FALSE)$",
    "tag:yaml.org,2002:int": r"^[-+]?[0-9]{1,300}$",
    "tag:yaml.org,2002:float": r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?$",
}
"""What is not text when it stands there without quotes; dates, `yes` and `no` are text."""


def read_text(body: bytes, file: str) -> JsonObject:
    """The one object in a file; ConfigError says why there is none."""
    if len(body) > MOST_BYTES:
        raise ConfigError(f"{file}: this is larger than {MOST_BYTES >> 20} MiB")
    try:
        value = parse_json(body) if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")) else _yaml(body, file)
    except JsonError as error:
        raise ConfigError(f"{file}: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: an OpenAPI document is an object")
    return cast("JsonObject", value)


def _yaml(body: bytes, file: str) -> Json:
    import yaml  # only for documents that are no JSON

    loader: Any = type("_Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}})
    for tag, pattern in _PLAIN.items():
        loader.add_implicit_resolver(tag, re.compile(pattern), None)
    loader.add_constructor("tag:yaml.org,2002:map", _mapping)
    loader.add_constructor("tag:yaml.org,2002:int", _integer)
    try:
        value: object = yaml.load(body, Loader=loader)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{file}: this is neither JSON nor YAML: {str(error)[:300]}") from error
    _bounded(value, file)
    return cast("Json", value)


def _mapping(loader: Any, node: Any) -> Any:
    """A mapping whose keys are the words that stand there: `200` and `no` are names in a document."""
    made: dict[str, object] = {}
    yield made
    loader.flatten_mapping(node)
    for key, value in node.value:
        if not isinstance(key.value, str):
            raise ValueError("a key of a mapping is not a word")
        made[key.value] = loader.construct_object(value, deep=True)


def _integer(loader: Any, node: Any) -> int:
    return int(node.value)


def _bounded(value: object, file: str) -> None:
    """Aliases can make a small text endless: count what it stands for before anybody walks through it."""
    waiting, count = [(value, 0)], 0
    while waiting:
        item, level = waiting.pop()
        count += 1
        if count > MOST_VALUES or level > MOST_LEVELS:
            raise ConfigError(f"{file}: its aliases stand for more than {MOST_VALUES:,} values, or go in circles")
        if isinstance(item, dict):
            waiting.extend((each, level + 1) for each in cast("dict[str, object]", item).values())
        elif isinstance(item, list):
            waiting.extend((each, level + 1) for each in cast("list[object]", item))
