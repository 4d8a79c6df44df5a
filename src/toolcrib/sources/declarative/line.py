"""Shell lines with placeholders: each becomes a positional parameter, so no value is ever part of the text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from toolcrib.policy.commands import read_line
from toolcrib.policy.commands.command import INTERPRETERS, SHELLS, WRAPPERS, program_name
from toolcrib.sources.declarative.template import (
    END_OF_OPTIONS,
    PLACEHOLDER,
    TemplateError,
    read_word,
    refuse_option,
    value_text,
)
from toolcrib.values.json import Json

BUILT_IN = frozenset(
    {".", "alias", "bind", "builtin", "cd", "command", "compgen", "complete", "declare", "enable", "eval", "exec"}
    | {"export", "fc", "getopts", "let", "local", "mapfile", "read", "readarray", "readonly", "return", "set", "shift"}
    | {"shopt", "source", "trap", "typeset", "umask", "unalias", "unset"}
)
"""Commands of shells themselves that do more with a word than hand it on."""
CODE_FLAGS = frozenset({"-c", "-e", "--eval", "--command", "--execute"})
_RUNS = SHELLS | INTERPRETERS | WRAPPERS | BUILT_IN
_NO_PROGRAM = re.compile(r"-|\d|\w+=")
"""How the words of a wrapper itself begin: options, numbers, variables that it sets."""
_MARK = "toolcrib-value-"
_MARKED = re.compile(rf"{_MARK}(\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A shell line. `script` has parameters where `text` has placeholders; `guarded` says for which `--` came first."""

    text: str
    script: str
    names: tuple[str, ...]
    guarded: tuple[bool, ...]
    first: int

    def values(self, arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> tuple[str, ...]:
        """The positional parameters, one for each placeholder."""
        found: list[str] = []
        for name, guarded in zip(self.names, self.guarded, strict=True):
            text = value_text(name, arguments, schema)
            if not guarded:
                refuse_option(name, text)
            found.append(text)
        return tuple(found)

    def shown(self, values: tuple[str, ...]) -> str:
        """The line as a person reads it: every value quoted, in its place."""
        left = iter(values)
        return PLACEHOLDER.sub(lambda _: shlex.quote(next(left)), self.text)


def read_shell_line(text: str, first: int) -> Line:
    """A line whose placeholders are whole unquoted words of plain commands; parameters are numbered from `first`."""
    read_word(text)
    names = tuple(PLACEHOLDER.findall(text))
    if not names:
        return Line(text, text, (), (), first)
    numbers = iter(range(len(names)))
    marked = PLACEHOLDER.sub(lambda _: f"{_MARK}{next(numbers)}", text)
    return Line(text, _script(text, first), names, _examined(marked, names), first)


def _script(text: str, first: int) -> str:
    numbers = iter(range(first, 1_000_000))
    return PLACEHOLDER.sub(lambda _: f'"${{{next(numbers)}}}"', text)


def _examined(marked: str, names: tuple[str, ...]) -> tuple[bool, ...]:
    """For each placeholder, whether `--` stands before it in its command."""
    if len(_MARKED.findall(marked)) != len(names):
        raise TemplateError(f"the line must not hold {_MARK!r} itself")
    _refuse_quoted(marked)
    line = read_line(marked)
    if line.trouble:
        raise TemplateError(
            f"a shell line with placeholders must be plain commands, joined by | && || or ;: {line.trouble}; put the "
            "rest into a script, and give it the placeholders as words"
        )
    found: dict[int, bool] = {}
    for segment in line.segments:
        for position, word in enumerate(segment.words):
            if _MARK in word:
                number = _number(word, names)
                check_role(segment.words, position, names[number])
                found[number] = END_OF_OPTIONS in segment.words[1:position]
    return tuple(found[number] for number in range(len(names)))


def _refuse_quoted(marked: str) -> None:
    """A marker that a quote, a backslash or other text touches is not a word of its own."""
    for found in _MARKED.finditer(marked):
        before, after = marked[: found.start()][-1:], marked[found.end() :][:1]
        if before not in ("", " ", "\t", "\n") or after not in ("", " ", "\t", "\n", ";", "|", "&"):
            raise TemplateError(
                "in a shell line a placeholder is a word of its own: no quotes, and nothing glued to it"
            )


def _number(word: str, names: tuple[str, ...]) -> int:
    whole = _MARKED.fullmatch(word)
    if whole is None or int(whole.group(1)) >= len(names):
        raise TemplateError("in a shell line a placeholder is a word of its own, outside quotes")
    return int(whole.group(1))


def check_role(words: tuple[str, ...], position: int, name: str, glued: str = "") -> None:
    """Refuse a placeholder where its value would be a program, or text that a shell or interpreter runs.

    `glued` is what stands before it in its own word.
    """
    if position == 0:
        raise TemplateError(f"{{{{args.{name}}}}} must not choose the program")
    program = program_name(words[0])
    if program in BUILT_IN:
        raise TemplateError(f"{{{{args.{name}}}}} must not be given to the shell's own command {program}")
    if program in WRAPPERS:
        _check_wrapped(words, position, name, glued)
    earlier = words[1:position]
    if program in SHELLS and all(word.startswith("-") for word in earlier):
        raise TemplateError(f"{{{{args.{name}}}}} would be run by {program}; name a script, and give it the value")
    flag = glued.removesuffix("=") or (earlier[-1] if earlier else "")
    if program in INTERPRETERS | SHELLS and flag in CODE_FLAGS:
        raise TemplateError(
            f"{{{{args.{name}}}}} would be run by {program}; let the code read the value from its arguments or input"
        )


def _check_wrapped(words: tuple[str, ...], position: int, name: str, glued: str) -> None:
    """The same behind a program that runs another: which of its words is that other only it knows, so all may be."""
    earlier = words[1:position]
    if not glued and all(_NO_PROGRAM.match(word) for word in earlier):
        raise TemplateError(f"{{{{args.{name}}}}} must not choose the program that {program_name(words[0])} runs")
    for start, word in enumerate(earlier, start=1):
        if program_name(word) in _RUNS:
            check_role(words[start:], position - start, name, glued)
