"""What a parser hands back: calls, prose, reasoning, notes, and which characters belong to what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from toolcrib.values.json import Json
from toolcrib.values.noun import noun

Schema: TypeAlias = Mapping[str, object]


class Status(StrEnum):
    """Whether a call may be run. Only a complete one may."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    MALFORMED = "malformed"


class Kind(StrEnum):
    """Who owns a stretch of the text, and what a delta carries."""

    CONTENT = "content"
    REASONING = "reasoning"
    CALL = "call"
    MARKUP = "markup"


@noun
class ParsedCall:
    """One tool call as the model wrote it, with arguments typed by the tool's schema."""

    name: str
    arguments: dict[str, Json]
    id: str | None = None
    status: Status = Status.COMPLETE
    repaired: bool = False


class Delta(NamedTuple):
    """One step of a stream: text of content or reasoning, or a call that has just ended."""

    kind: Kind
    text: str = ""
    call: ParsedCall | None = None


class Span(NamedTuple):
    """Characters `start` to `end` of the text and what they are."""

    kind: Kind
    start: int
    end: int


class Note(NamedTuple):
    """Something a reader of the log should know: what, and where in the text."""

    code: str
    message: str
    position: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A model's whole answer. `spans` tile the text: no character is lost."""

    content: str | None
    reasoning: str | None
    calls: list[ParsedCall]
    notes: list[Note] = field(default_factory=list[Note])
    dialect: str | None = None
    spans: list[Span] = field(default_factory=list[Span])
