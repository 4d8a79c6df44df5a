"""Path patterns of rules: globs over whole paths, virtual names included."""

from __future__ import annotations

import re

from toolcrib.values.refusal import ConfigError

GROUND = "/workspace"
"""What a relative pattern is below."""


def compile_path(pattern: str) -> re.Pattern[str]:
    """A glob over a whole path: `*` and `?` stay inside a name, `**` stands for any folders, `/**` at the end for
    the folder itself too. A pattern that begins with neither `/` nor `**` is below the workspace."""
    whole = anchored(pattern)
    names = whole.strip("/").split("/")
    if ".." in names or "." in names or "" in names or "\0" in whole:
        raise ConfigError(
            f"{pattern!r} is not a path pattern: write whole names, such as 'docs/**' or '/workspace/*.md'"
        )
    body = "".join(f"(?:/{_name(name)})" if name != "**" else "(?:/[^/]+)*" for name in names)
    return re.compile(body, re.DOTALL)


def anchored(pattern: str) -> str:
    """The pattern from the root on."""
    if pattern.startswith("/"):
        return pattern
    return f"/{pattern}" if pattern.split("/", 1)[0] == "**" else f"{GROUND}/{pattern.removeprefix('./')}"


def fixed_folder(pattern: str) -> str:
    """The folder, or the whole path, that everything a pattern fits lies at or below; empty when that is the root."""
    fixed: list[str] = []
    for name in anchored(pattern).strip("/").split("/"):
        if set("*?[") & set(name):
            break
        fixed.append(name)
    return "/" + "/".join(fixed) if fixed else ""


def is_every_path(pattern: str) -> bool:
    """Whether a pattern names no place at all."""
    return set(anchored(pattern).strip("/").split("/")) <= {"*", "**"}


def _name(glob: str) -> str:
    if not glob.strip("*") and len(glob) > 1:
        raise ConfigError(f"{glob!r} is not a name pattern: '**' stands alone between slashes")
    pieces = re.split(r"(\*|\?|\[!?[^\]/]+\])", glob)
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece: str) -> str:
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if len(piece) > 2 and piece[0] == "[" and piece[-1] == "]":
        negated = piece[1] == "!"
        inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", piece[2 if negated else 1 : -1])
        return f"[{'^/' if negated else ''}{inside}]"
    return re.escape(piece)
