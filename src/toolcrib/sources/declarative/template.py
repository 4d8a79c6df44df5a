"""Placeholders: `{{args.name}}` and nothing else. Whatever a value holds, it stays inside the word it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolcrib.sources.declarative.guards import is_guarded, names_file, takes_settings
from toolcrib.values.json import Json, canonical, kind
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError, Reason, Refusal

PLACEHOLDER = re.compile(r"\{\{args\.([A-Za-z_][A-Za-z0-9_-]*)\}\}")


class TemplateError(ConfigError):
    """A placeholder is written or placed so that a value could become more than one word."""


@frozen
class Field:
    """A place for the argument of this name."""

    name: str


@frozen
class Word:
    """One word of a command line, made of text and places for arguments."""

    parts: tuple[str | Field, ...]

    @property
    def fields(self) -> Iterator[str]:
        return (part.name for part in self.parts if isinstance(part, Field))

    @property
    def literal(self) -> str | None:
        """The word itself, when no argument is in it."""
        return None if any(self.fields) else "".join(str(part) for part in self.parts)

    @property
    def is_open(self) -> bool:
        """Whether an argument decides how the word begins, and with it whether it is an option."""
        return isinstance(self.parts[0], Field)

    @property
    def is_dashed(self) -> bool:
        """Whether the first argument names the option: only dashes before it, or the beginning of a long name."""
        first = self.parts[0]
        if not isinstance(first, str) or len(self.parts) == 1:
            return False
        return first.strip("-") == "" or (first.startswith("--") and "=" not in first)

    @property
    def known(self) -> str:
        """What of the word is written down: all of it, or what stands before the first argument."""
        first = self.parts[0]
        return first if isinstance(first, str) else ""

    def fill(self, arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> str:
        return "".join(
            part if isinstance(part, str) else value_text(part.name, arguments, schema) for part in self.parts
        )


def read_word(text: str) -> Word:
    """Text with its placeholders; TemplateError for any other use of double braces."""
    parts: list[str | Field] = []
    end = 0
    for found in PLACEHOLDER.finditer(text):
        parts += [text[end : found.start()], Field(found.group(1))]
        end = found.end()
    parts.append(text[end:])
    for part in parts:
        if isinstance(part, str) and "{{" in part:
            raise TemplateError(f"{text[:80]!r}: only {{{{args.name}}}} can stand between double braces")
    return Word(tuple(part for part in parts if part != "") or ("",))


def check_words(words: Sequence[Word], program: str = "") -> None:
    """Refuse words in which an argument would name the option."""
    for position, word in enumerate(words):
        if word.is_dashed and not _ends_options(program, words, position):
            raise TemplateError(
                f"argument {position + 1}: {next(word.fields)} would choose the option; write the option itself, "
                "as in --name={{args.value}}"
            )


def fill_words(
    words: Sequence[Word], arguments: Mapping[str, Json], schema: Mapping[str, Json], program: str = ""
) -> tuple[str, ...]:
    """The words with the arguments in them: as many as there were, none of them an option that nobody wrote."""
    filled: list[str] = []
    for position, word in enumerate(words):
        text = word.fill(arguments, schema)
        if word.is_open and not _ends_options(program, words, position):
            refuse_option(next(word.fields), text)
        if word.is_open and "=" in text and takes_settings(_literals(program, words), position + 1):
            raise _setting(next(word.fields), text)
        refuse_file(word, _literals(program, words), position + 1, text)
        filled.append(text)
    return tuple(filled)


def refuse_file(word: Word, words: Sequence[str], position: int, text: str) -> None:
    """Refuse a value that the program would take for the name of a file whose contents it uses."""
    if (name := next(word.fields, None)) is not None:
        before = word.known
        if names_file(words, position, before, text[len(before) :]):
            message = f"{name} must not begin with {text[len(before)]!r}: the command would read the file of that name"
            raise Refusal(Reason.VALIDATION_ERROR, message, {"argument": name})


def open_fields(words: Sequence[Word], program: str) -> list[str]:
    """Arguments that stand where a value beginning with `-` will be refused."""
    return [
        next(word.fields)
        for position, word in enumerate(words)
        if word.is_open and not _ends_options(program, words, position)
    ]


def _ends_options(program: str, words: Sequence[Word], position: int) -> bool:
    return is_guarded(_literals(program, words), position + 1)


def _literals(program: str, words: Sequence[Word]) -> tuple[str, ...]:
    return (program, *(word.literal or "" for word in words))


def _setting(name: str, text: str) -> Refusal:
    message = f"{name} must not hold '=': the command would take {text[:40]!r} for a setting, not for a value"
    return Refusal(Reason.VALIDATION_ERROR, message, {"argument": name})


def refuse_option(name: str, text: str) -> None:
    if text.startswith("-"):
        raise Refusal(
            Reason.VALIDATION_ERROR,
            f"{name} must not begin with '-': the command would take {text[:40]!r} for an option. Give a value that "
            "begins otherwise, such as ./-name for a file.",
            {"argument": name},
        )


def value_text(name: str, arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> str:
    """An argument as text for one word; the default of its schema where it was not given."""
    value = arguments.get(name, default_of(name, schema))
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return canonical(value)
    if not isinstance(value, str):
        problem = "is needed by the command" if value is None else f"must be one value, not {kind(value)}"
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} {problem}; give text, a number, true or false")
    if "\0" in value:
        raise Refusal(Reason.VALIDATION_ERROR, f"{name} holds a NUL character, which no command can be given")
    return value


def default_of(name: str, schema: Mapping[str, Json]) -> Json:
    found = schema.get(name)
    return found.get("default") if isinstance(found, Mapping) else None


def check_fields(names: Iterable[str], properties: Mapping[str, Json]) -> None:
    """Every placeholder must be an argument that the schema describes, and one that fits into a word."""
    for name in names:
        if name not in properties:
            from difflib import get_close_matches  # only a mistake has to pay for it

            near = get_close_matches(name, properties, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(properties) or 'none'}"
            raise TemplateError(f"{{{{args.{name}}}}} is no property of input_schema; {hint}")
        described = properties[name]
        kinds = described.get("type") if isinstance(described, Mapping) else None
        named = {kinds} if isinstance(kinds, str) else set(kinds) if isinstance(kinds, list) else set[Json]()
        if named and named <= {"array", "object", "null"}:
            raise TemplateError(
                f"{{{{args.{name}}}}} is {' or '.join(sorted(map(str, named)))}, which is not one word; the command "
                "reads all arguments as JSON on standard input"
            )
