"""The small languages inside commands: which sed scripts, awk programs and jq filters only look at what they are
given.

Each function gives what makes a script more than that, or None. They recognise what is harmless; everything else is
harm.
"""

from __future__ import annotations

import re

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_SED_COMMAND = re.compile(
    rf"\s*(?:{_SED_ADDRESS}\s*(?:,\s*(?:{_SED_ADDRESS}|[+~]\d+)\s*)?)?!?\s*(?:"
    r"(?P<plain>[pdDPgGhHxnNl=zFqQ])|(?P<open>\{)|(?P<text>[aic][^\\\n;}]*(?=\n|$))|[btT] *\w*|: *\w+|(?P<change>[sy])"
    r")[ \t]*"
)
_SED_FLAGS = re.compile(r"[gpiI0-9]*[ \t]*")
_AWK_HARM = re.compile(r"system|getline|@|ENVIRON|PROCINFO|ARGV|ARGC|close|fflush|/inet|extension")
_AWK_POINTS = re.compile(r"\||>")
_AWK_TOKEN = re.compile(
    r"""[ \t]+|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.]*)"""
    r"""|(?P<operator>\|\||&&|>=|<=|==|!=|\+\+|--|[^\w"#\\])"""
)
_AWK_REGEX = re.compile(r"/((?:[^/\\\n\"\[\]]|\\[^\n\"])+|\[[^]/\\\n\"\[]+\])*/")
_AWK_BEFORE_REGEX = frozenset("({,;!~\n}") | {"&&", "||"}
_JQ_HARM = re.compile(
    r"(?<![.\w])env\b|\$ENV|\$__prog|\b(?:import|include|modulemeta|get_search_list|input_filename|getpath)\b"
)


def sed_harm(script: str) -> str | None:
    """A sed script of printing, deleting and substituting is harmless; it can also run, read and write files."""
    position = 0
    while position < len(script):
        if script[position] in " \t\n;}":
            position += 1
            continue
        found = _SED_COMMAND.match(script, position)
        if found is None:
            return f"the script {script!r} holds more than looking at lines and changing them"
        position = found.end()
        if found["change"]:
            after = _after_change(script, position, found["change"])
            if after is None:
                return f"the script {script!r} substitutes with flags that can run or write"
            position = after
        if not found["open"] and position < len(script) and script[position] not in ";\n}":
            return f"the script {script!r} holds more than looking at lines and changing them"
    return None


def _after_change(script: str, start: int, command: str) -> int | None:
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
    flags = _SED_FLAGS.match(script, position) if command == "s" else None
    return flags.end() if flags else position


def awk_harm(program: str) -> str | None:
    """An awk program that only prints is harmless; with pipes, redirections and system() it is a shell."""
    found = _AWK_HARM.search(program)
    if found is None and _AWK_POINTS.search(program) and not _only_compares(program):
        found = _AWK_POINTS.search(program)
    return (
        None if found is None else f"the program holds {found.group()!r}, which can run, read or write something else"
    )


def _only_compares(program: str) -> bool:
    """Whether every `|` and `>` of a program is in a text, in a pattern, or compares; False where that is not plain.

    After `print`, `>` writes to a file; in front of a slash, a word or a closing bracket makes it a division or a
    pattern by rules that awks do not share.
    """
    position, before, printing = 0, ";", False
    while position < len(program):
        if program[position] == "/" and before in _AWK_BEFORE_REGEX:
            found, before = _AWK_REGEX.match(program, position), "/"
        else:
            found = _AWK_TOKEN.match(program, position)
            token = found.group().strip(" \t") if found else ""
            if token in ("|", "/") or (printing and token == ">"):
                return False
            printing = token in ("print", "printf") or (printing and token not in (";", "}"))
            before = token or before
        if found is None:
            return False
        position = found.end()
    return True


def jq_harm(program: str) -> str | None:
    """A jq filter reads its input; `env` and modules reach further."""
    found = _JQ_HARM.search(program)
    return None if found is None else f"the filter holds {found.group()!r}, which reaches beyond its input"
