"""Values as TOML text, for the starter file and the reference."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from toolcrib.values.json import Json


def toml(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{toml_key(name)} = {toml(member)}" for name, member in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml(member) for member in value)}]"
    # What JSON writes for strings, numbers and booleans is TOML too.
    return json.dumps(value, ensure_ascii=False)


def toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
