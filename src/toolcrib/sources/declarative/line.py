"""Shell lines with placeholders: each becomes a positional parameter, so no value is ever part of the text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from toolcrib.policy.commands import read_line
from toolcrib.sources.declarative.guards import is_guarded
from toolcrib.sources.declarative.roles import check_input, check_role
from toolcrib.sources.declarative.template import PLACEHOLDER, TemplateError, read_word, refuse_option, value_text
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen

_MARK = "toolcrib-value-"
_MARKED = re.compile(rf"{_MARK}(\d+)")


@frozen
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
    _check_inputs(text)
    names = tuple(PLACEHOLDER.findall(text))
    if not names:
        return Line(text, text, (), (), first)
    numbers = iter(range(len(names)))
    marked = PLACEHOLDER.sub(lambda _: f"{_MARK}{next(numbers)}", text)
    return Line(text, _script(text, first), names, _examined(marked, names), first)


def _check_inputs(text: str) -> None:
    """Refuse a plain line in which something runs the arguments: on the line's input, or printed by what is before."""
    line = read_line(PLACEHOLDER.sub(_MARK, text))
    if line.trouble:
        return
    fed = True
    for segment in line.segments:
        words = tuple("" if _MARK in word else word for word in segment.words)
        if fed and words[0]:
            check_input(words)
        piped = segment.before == "|"
        fed = not piped or "" in words or (fed and len(words) == 1)


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
        words = tuple("" if _MARK in word else word for word in segment.words)
        for position, word in enumerate(segment.words):
            if _MARK in word:
                number = _number(word, names)
                check_role(words, position, names[number])
                found[number] = is_guarded(words, position)
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
