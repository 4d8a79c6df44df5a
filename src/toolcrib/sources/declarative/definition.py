"""One definition read from its file: strict fields, every placeholder checked before anything can be run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar, cast

from toolcrib.catalog.validate import check_input_schema
from toolcrib.policy.commands.command import NEVER, program_name
from toolcrib.sources.declarative.line import Line, read_shell_line
from toolcrib.sources.declarative.roles import check_input, check_role, hazard_of
from toolcrib.sources.declarative.template import Word, check_fields, check_words, read_word
from toolcrib.values.json import Json, JsonError, JsonObject, check_json, kind
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError, RegistrationError
from toolcrib.values.schema import Profile
from toolcrib.values.spec import Effect

E = TypeVar("E", bound=StrEnum)
MOST_BYTES = 512 * 1024
MOST_WORDS = 1_000
SMALLEST_OUTPUT = 1_024
RESERVED = ("mcp.", "custom.", "external.", "tools.")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN_TAGS = frozenset({"internal", "agent", "mcp", "code"})


class CommandType(StrEnum):
    EXEC = "exec"
    SHELL = "shell"


class Output(StrEnum):
    """What standard output is: a result as one JSON object, or plain text."""

    RESULT = "result"
    TEXT = "text"


@frozen
class Bounds:
    """What the configuration lets a definition have at most."""

    default_timeout_ms: int = 120_000
    max_timeout_ms: int = 600_000
    stdout_limit_bytes: int = 1 << 20
    stderr_limit_bytes: int = 256 * 1024
    profile: Profile = Profile.FULL
    roots: tuple[str, ...] | None = None
    """Folders, as real paths, that a whole path in `working_dir` must lie in; None = anywhere."""


@frozen(kw_only=True)
class Definition:
    """A command as a tool. `words` are those of exec, or of a shell line's own parameters; `line` is for shell only."""

    name: str
    description: str
    input_schema: JsonObject
    effect: Effect
    tags: frozenset[str]
    command_type: CommandType
    command: str
    words: tuple[Word, ...]
    line: Line | None
    working_dir: str | None
    env_allowlist: tuple[str, ...]
    timeout_ms: int
    stdout_limit_bytes: int
    stderr_limit_bytes: int
    output: Output
    place: str
    written: JsonObject
    """Everything the file says; its hash is what the operator approved."""

    @property
    def is_plain_read(self) -> bool:
        """Whether the operator says that this command only reads, and that nothing about it wants a question."""
        return self.effect is Effect.READ and self.line is None and self.tags.isdisjoint({"dangerous", "network"})

    @property
    def properties(self) -> Mapping[str, Json]:
        found = self.input_schema.get("properties")
        return found if isinstance(found, Mapping) else {}


def read_definition(text: str | bytes, place: str, bounds: Bounds = Bounds()) -> Definition:
    """A definition; ConfigError names the file and what is wrong with it."""
    try:
        return _Reading(_parsed(text), bounds, place).definition()
    except (ConfigError, RegistrationError) as error:
        raise type(error)(f"{place}: {error}") from error


FIELDS = (
    "name", "description", "input_schema", "permission", "tags", "command_type", "command", "args", "working_dir",
    "env_allowlist", "timeout_ms", "stdout_limit_bytes", "stderr_limit_bytes", "output",
)  # fmt: skip


@frozen
class _Reading:
    """The fields of one file."""

    given: JsonObject
    bounds: Bounds
    place: str

    def definition(self) -> Definition:
        bounds, schema = self.bounds, self._schema()
        command_type = self._choice("command_type", CommandType.EXEC)
        effect = self._effect()
        words = tuple(read_word(word) for word in self._words("args", MOST_WORDS))
        line = read_shell_line(self._line(), len(words) + 1) if command_type is CommandType.SHELL else None
        made = Definition(
            name=self._name(),
            description=self._text("description"),
            input_schema=schema,
            effect=effect,
            tags=self._tags(effect, command_type),
            command_type=command_type,
            command=self._program() if line is None else line.text,
            words=words,
            line=line,
            working_dir=self._folder(),
            env_allowlist=self._variables(),
            timeout_ms=self._timeout(),
            stdout_limit_bytes=self._limit("stdout_limit_bytes", bounds.stdout_limit_bytes),
            stderr_limit_bytes=self._limit("stderr_limit_bytes", bounds.stderr_limit_bytes),
            output=self._choice("output", Output.RESULT),
            place=self.place,
            written=self.given,
        )
        _check_placeholders(made)
        return made

    def _name(self) -> str:
        name = check_name(self._text("name"))
        for taken in RESERVED:
            if name.startswith(taken):
                raise ConfigError(f"name: {name!r} begins with {taken!r}, which belongs to other sources of tools")
        return name

    def _schema(self) -> JsonObject:
        schema = self.given.get("input_schema", {"type": "object", "additionalProperties": False})
        if not isinstance(schema, Mapping):
            raise ConfigError(f"input_schema must be a JSON Schema, not {kind(schema)}")
        check_input_schema(schema, self.bounds.profile)
        return schema

    def _effect(self) -> Effect:
        word = self.given.get("permission", "write")
        if word not in ("readonly", "write"):
            raise ConfigError(f'permission must be "readonly" or "write", not {word!r}')
        return Effect.READ if word == "readonly" else Effect.WRITE

    def _tags(self, effect: Effect, command_type: CommandType) -> frozenset[str]:
        given = frozenset(self._words("tags", 50))
        if taken := sorted(given & _TAKEN_TAGS):
            raise ConfigError(f"tags: {taken[0]!r} is not for commands")
        if command_type is CommandType.SHELL and effect is Effect.READ and "dangerous" not in given:
            raise ConfigError('a shell line must be marked: permission "write", or the tag "dangerous"')
        return given | ({"declarative", "dangerous"} if effect is Effect.WRITE else {"declarative"})

    def _program(self) -> str:
        program = self._text("command")
        if "{{" in program:
            raise ConfigError("command: the program itself cannot be a placeholder")
        if "\0" in program or ("/" in program and not os.path.isabs(program)):
            raise ConfigError(f"command: {program[:80]!r} must be a name on the search path, or a whole path")
        if program.strip() != program or " " in os.path.basename(program):
            raise ConfigError(f"command: {program[:80]!r} must be one program; its words go to args")
        if program_name(program) in NEVER:
            raise ConfigError(f"command: {program_name(program)} cannot be a tool: an agent must not decide for you")
        return program

    def _line(self) -> str:
        line = self._text("command")
        if "\0" in line:
            raise ConfigError("command holds a NUL character")
        return line

    def _folder(self) -> str | None:
        if self.given.get("working_dir") is None:
            return None
        folder = self._text("working_dir")
        if "{{" in folder or "\0" in folder or ".." in folder.split("/") or folder.startswith("~"):
            raise ConfigError(
                "working_dir must be a whole path, or a folder below the project; no placeholder, no '..'"
            )
        if os.path.isabs(folder) and not os.path.isdir(folder):
            raise ConfigError(f"working_dir: {folder} is not a folder")
        roots, real = self.bounds.roots, os.path.realpath(folder)
        if os.path.isabs(folder) and roots is not None and not any(_lies_in(real, root) for root in roots):
            raise ConfigError(
                f"working_dir: {folder} lies outside the project; "
                "add it to workspace.mounts or tools.allowed_write_roots"
            )
        return folder

    def _variables(self) -> tuple[str, ...]:
        names = self._words("env_allowlist", 200)
        for name in names:
            if not _VARIABLE.fullmatch(name):
                raise ConfigError(f"env_allowlist: {name[:60]!r} is not the name of an environment variable")
        return tuple(dict.fromkeys(names))

    def _timeout(self) -> int:
        most = self.bounds.max_timeout_ms
        return self._number("timeout_ms", 1, most, min(self.bounds.default_timeout_ms, most), "tools.max_timeout_ms")

    def _limit(self, name: str, most: int) -> int:
        return self._number(name, SMALLEST_OUTPUT, most, most, f"tools.{name}")

    def _text(self, name: str) -> str:
        value = self.given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{name} must be text" if name in self.given else f"{name} is missing")
        return value

    def _words(self, name: str, most: int) -> tuple[str, ...]:
        value = self.given.get(name, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value) or len(value) > most:
            raise ConfigError(f"{name} must be a list of at most {most} words")
        words = cast("list[str]", value)
        if any("\0" in word for word in words):
            raise ConfigError(f"{name} holds a NUL character")
        return tuple(words)

    def _number(self, name: str, least: int, most: int, default: int, key: str) -> int:
        value = self.given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be a whole number from {least}")
        if value > most:
            raise ConfigError(f"{name} is {value}, and {key} allows at most {most}")
        return value

    def _choice(self, name: str, default: E) -> E:
        value = self.given.get(name, default.value)
        kinds = {each.value: each for each in type(default)}
        if not isinstance(value, str) or value not in kinds:
            raise ConfigError(f"{name} must be {' or '.join(kinds)}, not {value!r}")
        return kinds[value]


def _lies_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _parsed(text: str | bytes) -> JsonObject:
    if len(text) > MOST_BYTES:
        raise ConfigError(f"is larger than {MOST_BYTES >> 10} KiB")
    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value: object = json.loads(source, object_pairs_hook=_once)
        check_json(value)
    except (JsonError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"is not JSON as it must be: {error}") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"is not JSON: {error.msg} at line {error.lineno} column {error.colno}") from error
    if not isinstance(value, dict):
        raise ConfigError("must hold one JSON object")
    given = cast("dict[str, Json]", value)
    for name in given:
        if name not in FIELDS:
            raise ConfigError(f"{name[:60]!r} is not a known field; {_near(name)}")
    return given


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonError(f"the key {twice[:60]!r} stands there twice")
    return found


def _near(name: str) -> str:
    from difflib import get_close_matches  # only a mistake has to pay for it

    near = get_close_matches(name[:60], FIELDS, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(FIELDS)}"


def _check_placeholders(made: Definition) -> None:
    check_fields([name for word in made.words for name in word.fields], made.properties)
    if made.line is not None:
        check_words(made.words)
        check_fields(made.line.names, made.properties)
        return
    check_words(made.words, made.command)
    known = (made.command, *(word.known for word in made.words))
    for position, word in enumerate(made.words, 1):
        for name in word.fields:
            check_role(known, position, name)
            if made.effect is Effect.READ and (hazard := hazard_of(known, position)) is not None:
                raise ConfigError(
                    f"{{{{args.{name}}}}} is the value of {hazard}: a command that only reads cannot leave that to a "
                    'model; say permission "write"'
                )
    check_input((made.command, *(word.literal or f"{word.known}x" for word in made.words)))
