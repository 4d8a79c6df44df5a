"""The servers that a document names, and the one that is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from toolcrib.sources.openapi.schema import as_list, as_object
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_ANY_WORD = r"[A-Za-z0-9._:-]+"


@frozen
class Server:
    """One server. `url` has the defaults of its variables; `choices` are what each of them may be, any word if empty.

    One without a scheme is relative to where the document came from, which nobody here knows.
    """

    template: str
    url: str
    choices: Mapping[str, tuple[str, ...]]

    @property
    def is_absolute(self) -> bool:
        return urlsplit(self.url).scheme in ("http", "https")

    @property
    def path(self) -> str:
        return urlsplit(self.url).path.rstrip("/")

    def is_at(self, base: str) -> bool:
        """Whether a base is an address of this server: the same scheme, host and port."""
        if not self.is_absolute:
            return True
        origin = self.template.partition("://")[0] + "://" + self.template.partition("://")[2].partition("/")[0]
        parts = _VARIABLE.split(origin)
        words = [re.escape(each) if index % 2 == 0 else self._word(each) for index, each in enumerate(parts)]
        return re.fullmatch("".join(words), origin_of(base), re.IGNORECASE) is not None

    def _word(self, variable: str) -> str:
        choices = self.choices.get(variable, ())
        return f"(?:{'|'.join(map(re.escape, choices))})" if choices else _ANY_WORD


def read_servers(given: Json) -> tuple[Server, ...]:
    """The servers of a document, a path or an operation."""
    found: list[Server] = []
    for each in as_list(given):
        template = as_object(each).get("url")
        if not isinstance(template, str) or not template:
            continue
        variables = {name: as_object(value) for name, value in as_object(as_object(each).get("variables")).items()}
        url = _VARIABLE.sub(lambda match: str(variables.get(match[1], {}).get("default", match[0])), template)  # noqa: B023
        choices = {name: tuple(map(str, as_list(each.get("enum")))) for name, each in variables.items()}
        found.append(Server(template, url, choices))
    return tuple(found)


def chosen_base(servers: Iterable[Server], wanted: str, where: str, further: Iterable[Server] = ()) -> str:
    """The address to call: the only one that a document has, or the operator's choice.

    The choice may also be one of the `further` servers, which single operations name.
    """
    known = list(servers)
    if not wanted:
        whole = [server.url for server in known if server.is_absolute and not _VARIABLE.search(server.url)]
        if len(whole) == 1:
            return _checked(whole[0], where)
        told = f"the document has {', '.join(whole)}" if whole else "the document names none with a whole address"
        raise ConfigError(f'{where}: say which server to call, as in server = "https://api.example.com"; {told}')
    known += further
    fitting = [server for server in known if server.is_at(wanted)]
    if known and not fitting:
        told = ", ".join(dict.fromkeys(server.template for server in known))
        raise ConfigError(f"{where}: {wanted} is none of the document's servers: {told}")
    path = "" if urlsplit(wanted).path.strip("/") or not fitting else fitting[0].path
    return _checked(wanted.rstrip("/") + path, where)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _checked(base: str, where: str) -> str:
    parts = urlsplit(base)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(f"{where}: the server {base} must be an address without user, query and fragment")
    return base.rstrip("/")
