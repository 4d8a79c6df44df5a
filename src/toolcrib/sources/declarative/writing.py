"""A definition written from an example command line: its placeholders become arguments, everything else stays."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence

from toolcrib.sources.declarative.template import PLACEHOLDER, open_fields, read_word
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

TYPES = ("string", "integer", "number", "boolean")
_SHELL_WORD = re.compile(r"\|{1,2}|&{1,2}|;|\d?>{1,2}(?:&\d)?|&>{1,2}|<{1,3}|\d?>\S+|~/\S*")
_EXPANDED = re.compile(r"\$\w|\$\{|\$\(|`")
_ARGUMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_-]*)(?::(?P<type>[a-z]+)(?::(?P<meaning>.*))?)?", re.DOTALL)


@frozen
class Argument:
    """One argument of the tool, in the words of the command line: `name`, `name:type` or `name:type:meaning`."""

    name: str
    type: str = "string"
    meaning: str = ""

    @classmethod
    def of(cls, text: str) -> Argument:
        found = _ARGUMENT.fullmatch(text)
        if found is None or (found["type"] or "string") not in TYPES:
            raise ConfigError(f"{text!r} is not NAME:TYPE; a type is {', '.join(TYPES)}")
        return cls(found["name"], found["type"] or "string", found["meaning"] or "")


@frozen(kw_only=True)
class Example:
    """What is known of the tool that is to be."""

    name: str
    description: str
    command: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    permission: str = "write"
    output: str = "text"
    shell: str = ""
    """A whole shell line, instead of a command."""


def written(example: Example) -> str:
    """The text of the file."""
    line = example.shell
    texts = (line,) if line else example.command
    named = {argument.name: argument for argument in example.arguments}
    used = list(dict.fromkeys(name for text in texts for name in PLACEHOLDER.findall(text)))
    if idle := [name for name in named if name not in used]:
        raise ConfigError(f"the command has no {{{{args.{idle[0]}}}}}; write it where the argument belongs")
    definition: dict[str, Json] = {
        "name": example.name,
        "description": example.description,
        "input_schema": _schema([named.get(name, Argument(name)) for name in used]),
        "permission": example.permission,
        "command_type": "shell" if line else "exec",
        "command": line or example.command[0],
        "output": example.output,
    }
    if not line:
        definition["args"] = list(example.command[1:])
    return json.dumps(definition, indent=2, ensure_ascii=False) + "\n"


def unguarded(command: Sequence[str]) -> list[str]:
    """Arguments that stand where a value beginning with `-` will be refused."""
    return open_fields([read_word(word) for word in command[1:]], command[0])


def shell_words(command: Sequence[str]) -> list[str]:
    """Words that mean something to a shell, and are handed on as they are where there is none."""
    return [word for word in command if _SHELL_WORD.fullmatch(word) or _EXPANDED.search(word)]


def as_line(command: Sequence[str]) -> str:
    """The command as the shell line that was perhaps meant: operators and variables bare, all else quoted."""
    bare = (
        word if word in shell_words(command) or PLACEHOLDER.fullmatch(word) else shlex.quote(word) for word in command
    )
    return " ".join(bare)


def _schema(arguments: Iterable[Argument]) -> Json:
    described = {
        each.name: {"type": each.type, **({"description": each.meaning} if each.meaning else {})} for each in arguments
    }
    return {
        "type": "object",
        "properties": described,
        "required": list(described),
        "additionalProperties": False,
    }
