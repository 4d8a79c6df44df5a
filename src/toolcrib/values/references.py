"""Secrets by reference: `${NAME}` in a text stands for a variable of the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from toolcrib.values.refusal import ConfigError

_HARMLESS = re.compile(r"[/~.].*|[0-9.]+|.{0,5}|https?://[^@]*|true|false", re.IGNORECASE | re.DOTALL)
_NO_SECRETS = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "PWD"})
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def resolved(values: Mapping[str, str], environment: Mapping[str, str], where: str) -> dict[str, str]:
    """Values with their references filled in; one that is not set is an error, not an empty secret."""

    def fill(match: re.Match[str]) -> str:
        name, default = match.groups()
        if name not in environment and default is None:
            raise ConfigError(f"{where} refers to ${{{name}}}, which is not set in the environment")
        return environment.get(name, default)

    return {key: _REFERENCE.sub(fill, value) for key, value in values.items()}


def referred(texts: Iterable[str]) -> set[str]:
    """The names of all variables that texts refer to."""
    return {match[1] for text in texts for match in _REFERENCE.finditer(text)}


def secrets_in(texts: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """What stands for the references of texts, as far as it can be a secret: nothing that is said back may show it."""
    values = (environment.get(name, "") for name in sorted(referred(texts) - _NO_SECRETS))
    return [value for value in values if not _HARMLESS.fullmatch(value)]
