"""The small languages inside commands: which sed scripts, awk programs and jq filters only look at what they are
given.

Each function gives what makes a script more than that, or None. They recognise what is harmless; everything else is
harm.
"""

from __future__ import annotations

import re

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_SED_SIMPLE = re.compile(
    rf"\s*(?:{_SED_ADDRESS}\s*(?:,\s*(?:{_SED_ADDRESS}|[+~]\d+)\s*)?)?!?\s*(?P<command>[pdDPgGhHxnNl=zFqQ]|s)\s*"
)
_SED_FLAGS = re.compile(r"[gpiI0-9]*\s*")
_AWK_HARM = re.compile(r"system|getline|\||>|@|ENVIRON|PROCINFO|close|fflush|/inet|extension|printf\s*>|print\s*>")
_JQ_HARM = re.compile(
    r"(?<![.\w])env\b|\$ENV|\$__prog|\b(?:import|include|modulemeta|get_search_list|input_filename|getpath)\b"
)


def sed_harm(script: str) -> str | None:
    """A sed script of simple printing, deleting and substituting is harmless; it can also run, read and write files."""
    position = 0
    while position < len(script):
        if script[position] in " \t\n;":
            position += 1
            continue
        found = _SED_SIMPLE.match(script, position)
        if found is None:
            return f"the script {script!r} holds more than p, d, q and s"
        position = found.end()
        if found.group("command") == "s":
            after = _after_substitution(script, position)
            if after is None:
                return f"the script {script!r} substitutes with flags that can run or write"
            position = after
        if position < len(script) and script[position] not in ";\n":
            return f"the script {script!r} holds more than p, d, q and s"
    return None


def _after_substitution(script: str, start: int) -> int | None:
    """The position after `/from/to/flags`, or None when it cannot be told or the flags act."""
    if start >= len(script) or script[start] in "\\\n;" or script[start].isalnum() or script[start].isspace():
        return None
    delimiter, position, parts = script[start], start + 1, 0
    while position < len(script) and parts < 2:
        char = script[position]
        if char == "\\":
            position += 1
        elif char == "\n":
            return None
        elif char == delimiter:
            parts += 1
        position += 1
    if parts < 2:
        return None
    flags = _SED_FLAGS.match(script, position)
    return flags.end() if flags else None


def awk_harm(program: str) -> str | None:
    """An awk program that only prints is harmless; with pipes, redirections and system() it is a shell."""
    found = _AWK_HARM.search(program)
    return (
        None if found is None else f"the program holds {found.group()!r}, which can run, read or write something else"
    )


def jq_harm(program: str) -> str | None:
    """A jq filter reads its input; `env` and modules reach further."""
    found = _JQ_HARM.search(program)
    return None if found is None else f"the filter holds {found.group()!r}, which reaches beyond its input"
