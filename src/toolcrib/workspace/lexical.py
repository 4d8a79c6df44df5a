"""Paths as text: what a model wrote, cleaned without looking at the disk."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from toolcrib.values.refusal import Reason, Refusal

MAX_PATH = 4_096
MAX_NAME_BYTES = 255
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN = re.compile(r"[a-z0-9_/-]*(?:\.(?!/|$)[a-z0-9_/-]*)*")


def check_text(path: str) -> str:
    """Refuse what can be no path at all: empty, NUL, far too long, or a URL."""
    if not path:
        raise Refusal(Reason.VALIDATION_ERROR, "the path is empty; give a file or folder such as 'src/main.py'")
    if "\0" in path:
        raise Refusal(Reason.VALIDATION_ERROR, f"the path {shown(path)} contains a NUL character; no file is named so")
    if len(path) > MAX_PATH:
        raise Refusal(Reason.VALIDATION_ERROR, f"the path has {len(path)} characters; at most {MAX_PATH} are possible")
    if _URL.match(path):
        raise Refusal(Reason.PATH_OUTSIDE_ROOT, f"{shown(path)} is a URL, not a path; give the path of a file")
    return path


def normal_parts(path: str) -> tuple[str, ...] | None:
    """The names of a path without `.` and `..`; None when it climbs above where it starts."""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return tuple(parts)


def check_names(parts: Iterable[str]) -> None:
    """Refuse names that no file system holds, with words better than the system's."""
    for part in parts:
        if len(part) > 60 and len(part.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES:
            message = f"the name {shown(part)} is longer than {MAX_NAME_BYTES} bytes; no file can have it"
            raise Refusal(Reason.VALIDATION_ERROR, message)


def folded(path: str) -> str:
    """One spelling for every way to write a name that some file system takes for the same one.

    Case, Unicode compatibility forms, invisible characters, and dots or blanks at the end of a name.
    """
    if _PLAIN.fullmatch(path):
        return path
    text = unicodedata.normalize("NFKC", path).casefold()
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return "/".join(part.rstrip(" .") or part for part in text.split("/"))


def shown(path: str, most: int = 120) -> str:
    """A path inside a message: quoted, with control characters escaped, bounded."""
    return repr(path if len(path) <= most else path[: most - 1] + "…")


def printable(name: bytes) -> str:
    """A file name as text on one line that JSON can hold: bytes that are no UTF-8, and controls, are escaped."""
    text = name.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
