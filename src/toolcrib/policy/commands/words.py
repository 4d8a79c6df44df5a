"""A shell line as words: plain pipelines and lists are understood, everything else is said to be beyond this reader.

The reader is deliberately small. What it understands, every POSIX shell reads the same way; what shells disagree
about, or what only the shell can know (substitutions, expansions, redirections to files, compound commands), is
trouble.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolcrib.values.noun import frozen

MAX_LINE = 100_000
MAX_SEGMENTS = 100
RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select"}
    | {"function", "time", "coproc", "{", "}", "!", "[[", "]]"}
)
_HARMLESS_REDIRECTION = re.compile(r"(?:\d*(?:>>?|<)|&>>?)[ \t]*/dev/null(?=[\s;|]|$)|\d*>&[12](?=[\s;|]|$)")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*\])?\+?=", re.DOTALL)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_SPECIAL = {
    "$": "an expansion ($)",
    "`": "a command substitution (`)",
    "(": "a subshell or function",
    ")": "a subshell or function",
    "{": "braces",
    "}": "braces",
    "<": "a redirection (<)",
    ">": "a redirection (>)",
    "#": "a comment",
}


@frozen
class Segment:
    """One simple command of a line. `globs` are the positions of words that the shell would expand by file names,
    `before` is the operator that joins it to what follows."""

    words: tuple[str, ...]
    globs: frozenset[int] = frozenset()
    before: str = field(default="", compare=False)


@frozen
class Line:
    """A line read as commands. With `trouble`, `segments` is only what could be made out."""

    segments: tuple[Segment, ...]
    trouble: str = ""


def read_line(text: str) -> Line:
    """Read a shell line; the first thing that is not a plain list or pipeline of words is its trouble."""
    if len(text) > MAX_LINE:
        return Line((), f"it is longer than {MAX_LINE} characters")
    if hidden := _HIDDEN.search(text):
        return Line(_Reader(text).read().segments, f"it holds the invisible character U+{ord(hidden.group()):04X}")
    return _Reader(text).read()


def loose_words(text: str) -> list[str]:
    """Everything in a text that could be a word to some shell: for rules that must not be talked around."""
    return [word for word in re.split(r"[\s;|&()<>`${}\"'=,]+", text.replace("\\\n", "").replace("\\", "")) if word]


def hidden_character(word: str) -> str | None:
    """A character in a word that a person would not see, by its code point."""
    found = _HIDDEN.search(word)
    return None if found is None else f"U+{ord(found.group()):04X}"


@dataclass(slots=True)
class _Reader:
    text: str
    position: int = 0
    segments: list[Segment] = field(default_factory=list[Segment])
    words: list[str] = field(default_factory=list[str])
    globs: set[int] = field(default_factory=set[int])
    word: list[str] | None = None
    """The word being read; None between words. A quoted empty word is an empty list."""
    trouble: str = ""

    def read(self) -> Line:
        text, end = self.text, len(self.text)
        while self.position < end:
            self._step(text[self.position])
        self._end_segment("")
        if len(self.segments) > MAX_SEGMENTS:
            self._note(f"it has more than {MAX_SEGMENTS} commands")
        if not self.segments:
            self._note("it holds no command")
        return Line(tuple(self.segments[:MAX_SEGMENTS]), self.trouble)

    def _step(self, char: str) -> None:
        if (char in "<>&" or char.isdigit()) and self._skip_redirection():
            return
        if char in " \t":
            self._end_word()
        elif char in ";|&\n":
            self._separator(char)
            return
        elif char == "'":
            self._single_quoted()
            return
        elif char == '"':
            self._double_quoted()
            return
        elif char == "\\":
            self._escaped()
            return
        elif self._is_special(char):
            self._note(f"it holds {_SPECIAL[char]}")
            self._end_segment(char)
        elif char == "~" and self._starts_tilde():
            self._note("it holds a home folder (~)")
            self._add(char)
        else:
            if char in "*?[":
                self.globs.add(len(self.words))
            self._add(char)
        self.position += 1

    def _skip_redirection(self) -> bool:
        """Past `>/dev/null`, `2>&1` and the like; digits belong to it only at the start of a word."""
        if self.word is not None and self.text[self.position].isdigit():
            return False
        found = _HARMLESS_REDIRECTION.match(self.text, self.position)
        if found is None:
            return False
        self._end_word()
        self.position = found.end()
        return True

    def _is_special(self, char: str) -> bool:
        if char not in _SPECIAL:
            return False
        if char == "#":
            return self.word is None
        return not (char in "{}" and self._is_empty_braces(char))

    def _is_empty_braces(self, char: str) -> bool:
        start = self.position if char == "{" else self.position - 1
        return start >= 0 and self.text[start : start + 2] == "{}"

    def _starts_tilde(self) -> bool:
        return self.word is None or self.word[-1:] in (["="], [":"])

    def _separator(self, char: str) -> None:
        double = self.text[self.position : self.position + 2]
        if double in ("&&", "||"):
            self.position += 2
            self._end_segment(double)
        else:
            if char == "&":
                self._note("it starts something in the background (&)")
            elif double in (";;", "|&"):
                self._note(f"it holds {double}")
            self.position += 1
            self._end_segment(char)

    def _single_quoted(self) -> None:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            self._note("a quote is never closed")
            end = len(self.text)
        self._add(self.text[self.position + 1 : end])
        self.position = end + 1

    def _double_quoted(self) -> None:
        self._add("")
        self.position += 1
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == '"':
                self.position += 1
                return
            if char == "\\" and self.text[self.position + 1 : self.position + 2] in tuple('$`"\\\n'):
                self.position += 1
                char = self.text[self.position].replace("\n", "")
            elif char in "$`":
                self._note(f"it holds {_SPECIAL[char]}")
            self._add(char)
            self.position += 1
        self._note("a quote is never closed")

    def _escaped(self) -> None:
        following = self.text[self.position + 1 : self.position + 2]
        if not following:
            self._note("it ends in a backslash")
        elif following != "\n":
            self._add(following)
        self.position += 2

    def _add(self, text: str) -> None:
        if self.word is None:
            self.word = []
        self.word.extend(text)

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append("".join(self.word))
            self.word = None

    def _end_segment(self, separator: str) -> None:
        self._end_word()
        if self.words:
            self._check_command(self.words[0])
            self.segments.append(Segment(tuple(self.words), frozenset(self.globs), separator))
        elif separator in ("|", "||", "&&", "&", ";"):
            self._note(f"there is no command before {separator}")
        self.words, self.globs = [], set()
        if not separator and self.segments and self.text.rstrip(" \t\n").endswith(("|", "&&")):
            self._note("there is no command after the last operator")

    def _check_command(self, word: str) -> None:
        if word in RESERVED:
            self._note(f"it holds the shell word {word!r}")
        elif _ASSIGNMENT.match(word):
            self._note(f"it sets a variable ({word.partition('=')[0]})")
        elif 0 in self.globs:
            self._note(f"the program is written as a pattern ({word})")

    def _note(self, trouble: str) -> None:
        self.trouble = self.trouble or trouble
