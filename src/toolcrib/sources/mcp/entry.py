"""`mcp.json`: which servers there are and how to reach them, in the shape other clients use."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import cast

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect

_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,47}")
_STDIO, _HTTP = {"command", "args", "env", "cwd"}, {"url", "headers"}
_BOTH = {"type", "transport", "disabled", "network", "tools", "timeout_ms", "connect_timeout_ms"}
_TYPES = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}
_OVERRIDES = {"effect", "hidden", "dangerous", "network"}


@frozen
class Override:
    """What the operator says of one tool of a server, because the server's own word loosens nothing."""

    effect: Effect | None = None
    hidden: bool = False
    dangerous: bool = False
    network: bool | None = None


@frozen
class Entry:
    """One server. `args`, `env` and `headers` hold references such as `${TOKEN}`, never the secret itself."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    disabled: bool = False
    network: bool = True
    tools: Mapping[str, Override] = field(default_factory=dict[str, Override])
    timeout: float | None = None
    connect_timeout: float = 15.0

    @property
    def identity(self) -> str:
        """What the operator approved: the command line or the address, without any secret."""
        return self.url or " ".join((self.command, *self.args))

    @property
    def remote(self) -> bool:
        return bool(self.url)


def read_entries(text: str, file: str) -> tuple[Entry, ...]:
    """Every server of a file, or one error that says where it is wrong."""
    try:
        document = json.loads(text, object_pairs_hook=_named_once)
    except ValueError as error:
        raise ConfigError(f"{file}: this is no JSON: {error}") from error
    servers = cast("JsonObject", document).get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(f'{file}: expected {{"mcpServers": {{"name": {{"command": …}}}}}}')
    spelled: dict[str, str] = {}
    for name in servers:
        if (twin := spelled.setdefault(name.lower(), name)) != name:
            raise ConfigError(f"{file}: the servers {twin!r} and {name!r} differ only in case; rename one of them")
    return tuple(entry_of(name, value, file) for name, value in servers.items())


def _named_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object whose keys are all different: of two servers with one name, neither silently wins."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number]))
        raise ValueError(f"{twice!r} is there twice; give each a name of its own")
    return made


def entry_of(name: str, value: Json, file: str) -> Entry:
    """One server's entry; a field nobody knows is an error, because a misspelt one would be silently without effect."""
    where = f"{file}: server {name!r}"
    if not _SERVER.fullmatch(name):
        raise ConfigError(f"{where}: a server's name is a letter, then letters, digits, - or _ (at most 48)")
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be an object with a command or a url")
    _refuse_unknown(value, _STDIO | _HTTP | _BOTH, where)
    kind = value.get("type", value.get("transport", "http" if "url" in value else "stdio"))
    if kind not in _TYPES:
        raise ConfigError(f"{where}: transport {kind!r} is not spoken here; use stdio or http")
    wanted = "url" if _TYPES[cast("str", kind)] == "http" else "command"
    if not _text(value, wanted, where):
        raise ConfigError(f"{where} has no {wanted}; give it a command to start or a url to reach")
    return Entry(
        name,
        command=_text(value, "command", where) if wanted == "command" else "",
        args=_texts(value.get("args", []), f"{where}: args"),
        env=_mapping(value.get("env", {}), f"{where}: env"),
        cwd=_text(value, "cwd", where) or None,
        url=_text(value, "url", where) if wanted == "url" else "",
        headers=_mapping(value.get("headers", {}), f"{where}: headers"),
        disabled=_flag(value, "disabled", where, absent=False),
        network=_flag(value, "network", where, absent=True),
        tools={
            tool: _override(said, f"{where}: tools.{tool}") for tool, said in _object(value, "tools", where).items()
        },
        timeout=_seconds(value, "timeout_ms", where),
        connect_timeout=_seconds(value, "connect_timeout_ms", where) or 15.0,
    )


def _override(said: Json, where: str) -> Override:
    if not isinstance(said, dict):
        raise ConfigError(f'{where} must be an object such as {{"effect": "read"}}')
    _refuse_unknown(said, _OVERRIDES, where)
    effect = said.get("effect")
    if effect not in (None, "read", "write"):
        raise ConfigError(f"{where}: effect is read or write, not {effect!r}")
    return Override(
        Effect(cast("str", effect)) if effect else None,
        _flag(said, "hidden", where, absent=False),
        _flag(said, "dangerous", where, absent=False),
        _flag(said, "network", where, absent=False) if "network" in said else None,
    )


def _refuse_unknown(value: JsonObject, known: set[str], where: str) -> None:
    for key in value:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
            raise ConfigError(f"{where}: unknown field {key!r}; {hint}")


def _text(value: JsonObject, key: str, where: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str) or "\0" in found:
        raise ConfigError(f"{where}: {key} must be text")
    return found


def _texts(value: Json, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and "\0" not in item for item in value):
        raise ConfigError(f"{where} must be a list of texts")
    return tuple(cast("list[str]", value))


def _mapping(value: Json, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ConfigError(f"{where} must map names to texts")
    return dict(cast("dict[str, str]", value))


def _object(value: JsonObject, key: str, where: str) -> JsonObject:
    found = value.get(key, {})
    if not isinstance(found, dict):
        raise ConfigError(f"{where}: {key} must be an object")
    return found


def _flag(value: JsonObject, key: str, where: str, *, absent: bool) -> bool:
    found = value.get(key, absent)
    if not isinstance(found, bool):
        raise ConfigError(f"{where}: {key} is true or false, not {found!r}")
    return found


def _seconds(value: JsonObject, key: str, where: str) -> float | None:
    found = value.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= 3_600_000:
        raise ConfigError(f"{where}: {key} is a number of milliseconds up to an hour")
    return found / 1000
