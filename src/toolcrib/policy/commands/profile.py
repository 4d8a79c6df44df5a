"""Flag profiles: what a program may be told without it running, writing or sending anything of its own choosing.

A profile lists the flags that are known to be harmless. Whatever it does not list asks: a flag that is new,
abbreviated or misspelt is not a flag that somebody has looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from toolcrib.values.noun import frozen


class Value(StrEnum):
    """What follows a flag: nothing, a text, two texts, a text only when glued on, or a path that is read or written."""

    NONE = ""
    TEXT = "="
    PAIR = "=="
    OPTIONAL = "=?"
    READ = "=<"
    WRITE = "=>"


class Operands(StrEnum):
    """What the words are that are not flags."""

    NOTHING = "nothing"
    TEXT = "text"
    READS = "reads"
    WRITES = "writes"
    TEXT_THEN_READS = "text then reads"
    READS_THEN_WRITE = "reads, then a write"


class Tier(StrEnum):
    """Whether a rule for the whole program covers this, or only a rule that names it."""

    FAMILY = "family"
    NAMED = "named"


class Style(StrEnum):
    """How flags are written: clustered letters and long names, or one word each as `find` has them."""

    LETTERS = "letters"
    WORDS = "words"


@frozen
class Parsed:
    """Arguments sorted into operands and the values of flags; what a profile's own check looks at."""

    operands: tuple[str, ...]
    values: tuple[tuple[str, str], ...]

    def of(self, *flags: str) -> list[str]:
        return [value for flag, value in self.values if flag in flags]


@frozen
class Depth:
    """When a program shows what is in all files below a folder: with one of these flags, or always when none is named.

    `dots` are the flags with which it enters hidden files too, `links` those with which it goes through links; None
    when it always does. `only` are the flags whose values name the files it reads: those, hidden or not, no others.
    """

    flags: frozenset[str] = frozenset()
    dots: frozenset[str] | None = None
    links: frozenset[str] | None = frozenset()
    only: frozenset[str] = frozenset()


class Dots(StrEnum):
    """Whether a program that reads all below a folder enters names that begin with a dot."""

    SHOWN = "shown"
    PASSED = "passed"


class Links(StrEnum):
    """Whether a program that reads all below a folder goes through the links that it meets."""

    FOLLOWED = "followed"
    LEFT = "left"


@frozen
class Descent:
    """How a program reads all below these folders; with `only`, the files whose names fit one of these patterns."""

    folders: tuple[str, ...]
    dots: Dots = Dots.SHOWN
    links: Links = Links.LEFT
    only: tuple[str, ...] = ()


Check = Callable[[Parsed], str | None]
_NO_PROFILES: Mapping[str, Profile] = MappingProxyType({})
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})


@frozen
class Profile:
    """What is known to be harmless about one program or subcommand.

    `instead` are flags whose value takes the place of the first text operand (`grep -e`). `hazards` say what a flag
    does that somebody may want to know when asked. `any_flag`: no flag of it can do harm, so a pattern may expand to
    one. `passes`: what follows `--` is handed on to what the rule named. `depth` says when it shows what is in the
    files below a folder.
    """

    flags: Mapping[str, Value]
    operands: Operands = Operands.NOTHING
    subcommands: Mapping[str, Profile] = field(default_factory=lambda: _NO_PROFILES)
    tier: Tier = Tier.FAMILY
    style: Style = Style.LETTERS
    instead: frozenset[str] = frozenset()
    hazards: Mapping[str, str] = field(default_factory=lambda: _NO_TEXTS)
    check: Check | None = None
    any_flag: bool = False
    passes: bool = False
    depth: Depth | None = None


def flags(*texts: str) -> Mapping[str, Value]:
    """Flags in short notation.

    `-a`; `--lines=` (a text follows); `--arg==` (two follow); `--color=?` (a text may be glued on); `--from=<` (a path
    that is read); `--to=>` (a path that is written); `-#` (a number as a flag, as in `head -5`).
    """
    found: dict[str, Value] = {}
    for word in " ".join(texts).split():
        name, equals, rest = word.partition("=")
        found[name] = Value(equals + rest)
    return MappingProxyType(found)


def reader(*texts: str, operands: Operands = Operands.READS, depth: Depth | None = None) -> Profile:
    """A program that only reads and prints: no flag of it, listed or not, can do more."""
    return Profile(flags(*texts), operands, any_flag=True, depth=depth)


def named(*texts: str, operands: Operands = Operands.TEXT, passes: bool = False) -> Profile:
    """A subcommand that acts: covered only by a rule that names it, and only with these flags."""
    return Profile(flags(*texts), operands, tier=Tier.NAMED, passes=passes)
