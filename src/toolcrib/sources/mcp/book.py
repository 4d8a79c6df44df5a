"""Changes to `mcp.json`, and servers taken over from the files of other clients."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from toolcrib.sources.mcp.entry import entry_of, read_entries
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import ConfigError

_KNOWN = ("type", "command", "args", "env", "cwd", "url", "headers", "disabled")
_PLACES = (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp", "mcpServers"), ("context_servers",))
_REFERENCE = re.compile(r"\$\{")
_ASKED = re.compile(r"\$\{input:([\w-]+)\}")
_FOLDER = re.compile(r"\$\{workspace(?:Folder|Root)\}")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*[\s\S]*?\*/')
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_SECRET = re.compile(r"key|token|secret|password|passwd|auth|credential|cookie", re.IGNORECASE)


class Taken(NamedTuple):
    """A server of another client's file as ours: its entry, the variables to set, and what was left out."""

    name: str
    entry: JsonObject
    to_set: tuple[str, ...]
    left_out: tuple[str, ...]
    original: str
    """Its name in that file."""


def with_entries(text: str | None, entries: Mapping[str, JsonObject], file: str) -> str:
    """The file's text with these servers added; one that is there already is an error, not overwritten."""
    servers: dict[str, Json] = {}
    document: dict[str, Json] = {"mcpServers": servers}
    if text is not None:
        read_entries(text, file)
        document = cast("dict[str, Json]", json.loads(text))
        servers = cast("dict[str, Json]", document["mcpServers"])
    for name, entry in entries.items():
        if (twin := next((each for each in servers if each.lower() == name.lower()), None)) is not None:
            raise ConfigError(f"{file} has a server named {twin!r} already; choose another name, or edit the file")
        entry_of(name, cast("Json", entry), file)
        servers[name] = cast("Json", entry)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def taken_from(text: str, file: str) -> list[Taken]:
    """Every server of another client's file. Secrets are not copied: a reference to a variable takes their place."""
    try:
        document = cast("Json", json.loads(_without_comments(text)))
    except ValueError as error:
        raise ConfigError(f"{file}: this is no JSON: {error}") from error
    for place in _PLACES:
        found = document
        for step in place:
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return [_taken(name, entry, file) for name, entry in found.items()]
    looked = ", ".join(".".join(place) for place in _PLACES)
    raise ConfigError(f"{file}: no servers found; looked for {looked}")


def _taken(name: str, value: Json, file: str) -> Taken:
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: server {name!r} is no object")
    if isinstance(value.get("command"), dict):  # one editor nests what all others spread out
        value = {**cast("dict[str, Json]", value["command"]), **{k: v for k, v in value.items() if k != "command"}}
        value = {("command" if key == "path" else key): item for key, item in value.items()}
    entry = {key: value[key] for key in _KNOWN if key in value}
    if "url" not in entry and isinstance(url := value.get("serverUrl", value.get("httpUrl")), str):
        entry["url"] = url
    if entry.get("type") in ("sse", "streamable"):
        entry["type"] = "http"
    ours = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "server"
    to_set: list[str] = []
    for part in ("env", "headers"):
        if isinstance(held := entry.get(part), dict):
            entry[part] = {key: _referred(ours, key, item, to_set) for key, item in held.items()}
    if isinstance(words := entry.get("args"), list):
        entry["args"] = _words(ours, words, to_set)
    known = {*_KNOWN, "serverUrl", "httpUrl", "path"}
    left = tuple(key for key in value if key not in known)
    return Taken(ours if ours[0].isalpha() else f"s-{ours}", entry, tuple(to_set), left, name)


def _words(server: str, words: list[Json], to_set: list[str]) -> list[Json]:
    """The words of a command line; the value of a flag that is called a secret is one."""
    made: list[Json] = []
    flag = ""
    for word in words:
        name, equals, value = str(word).partition("=")
        if flag and not str(word).startswith("-"):
            made.append(_referred(server, flag, word, to_set))
        elif equals and name.startswith("-") and _SECRET.search(name):
            made.append(f"{name}={_referred(server, name.lstrip('-'), value, to_set)}")
        else:
            made.append(_ours(str(word), to_set))
        flag = name.lstrip("-") if name.startswith("-") and not equals and _SECRET.search(name) else ""
    return made


def _ours(text: str, to_set: list[str]) -> str:
    """Text in which one editor's own references are ours: what it would ask for is to be set, its folder is here."""

    def asked(found: re.Match[str]) -> str:
        to_set.append(name := re.sub(r"\W", "_", found[1]).upper())
        return f"${{{name}}}"

    return _FOLDER.sub(".", _ASKED.sub(asked, text))


def _referred(server: str, key: str, value: Json, to_set: list[str]) -> Json:
    text = _ours(value if isinstance(value, str) else str(value), to_set)
    if _REFERENCE.search(text) or not _SECRET.search(key):
        return text
    name = key if re.fullmatch(r"[A-Z_][A-Z0-9_]*", key) else re.sub(r"\W", "_", f"{server}_{key}").upper()
    to_set.append(name)
    return f"${{{name}}}"


def _without_comments(text: str) -> str:
    """JSON as editors allow it: comments and trailing commas outside strings are left out."""
    bare = _COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
    return _TRAILING.sub(lambda found: found[1] or "", bare)
