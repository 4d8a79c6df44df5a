"""What tools should not say: words for the model that a person would not see, or that reach beyond the tool.

It only reports. A description that fits no pattern here is not thereby harmless; approval is a person's, and this says
where to look first. So a pattern stays out when honest tools use it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolcrib.catalog.neighbours import Neighbours, words_of
from toolcrib.values.json import Json
from toolcrib.values.schema import LISTS, MAPS, SINGLE
from toolcrib.values.spec import ToolSpec
from toolcrib.values.visible import is_unseen, visible

_MOST = 20
_TEXTS = ("title", "description", "$comment")
_LONGEST = 100_000
_AIMED = (
    (r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|other"
     r"|existing|system)\b[^.\n]{0,20}\b(?:instructions?|prompts?|messages?|rules|directions|guidelines)\b",
     "it tells the model to set instructions aside"),
    (r"\b(?:do not|don'?t|never|must not|should not|without|avoid)\b[^.\n]{0,30}\b(?:tell|telling|mention\w*|inform\w*"
     r"|reveal\w*|notify\w*|alert\w*|disclos\w*)\b[^.\n]{0,40}\b(?:users?|humans?|operators?|anyone|anybody)\b",
     "it tells the model to keep something from the person"),
    (r"\b(?:keep|hide)\b[^.\n]{0,30}\b(?:secret|hidden|from (?:the )?(?:user|human|operator))\b",
     "it tells the model to keep something from the person"),
    (r"\b(?:do not|don'?t|never|without)\b[^.\n]{0,20}\b(?:ask|asking|wait|request)\w*\b[^.\n]{0,30}"
     r"\b(?:confirmation|approval|permission|consent)\b",
     "it tells the model not to ask"),
    (r"<\s*/?\s*(?:important|system|secret|instructions?|hidden|admin|critical|assistant|override)\s*>|<\|[a-z_]{2,30}\|>"
     r"|(?m:^\s*(?:\[system\]|system\s*:|###\s*system\b))|\[/?INST\]",
     "it has marks of a prompt in it"),
    (r"\b(?:reveal|print|repeat|output|include|send|leak)\b[^.\n]{0,30}\b(?:your|the) (?:system prompt|instructions)\b",
     "it asks for the prompt"),
)  # fmt: skip
_BEYOND = (
    (r"\b(?:before|prior to|after)\b[^.\n]{0,20}\b(?:using|calling|invoking|running|use|call|invoke)\b[^.\n]{0,12}"
     r"\b(?:any|all|every|other|another)\b[^.\n]{0,20}\btools?\b", "it gives orders about other tools"),
    (r"\b(?:any|every) time\b[^.\n]{0,40}\b(?:other|another|any) tools?\b", "it gives orders about other tools"),
    (r"\b(?:instead of|rather than|in place of)\b[^.\n]{0,20}\b(?:any|all|every|the) other tools?\b",
     "it wants to be used in place of other tools"),
)  # fmt: skip
_SECRET = (
    r"(?:~/\.ssh|\bid_rsa\b|\bid_ed25519\b|(?<![\w/])\.env\b|\.aws/credentials|/etc/(?:passwd|shadow)|\.netrc\b"
    r"|\.npmrc\b|\.git-credentials|\.kube/config|\bmcp\.json\b|\bprivate keys?\b"
    r"|\b(?:conversation|chat|message) history\b)"
)
_HAND_OVER = r"\b(?:send|put|include|attach|upload|forward|post|copy|paste|append|insert|leak|exfiltrate|transmit)\w*\b"
_TAKEN = (
    (rf"{_HAND_OVER}[^\n]{{0,80}}{_SECRET}", "it wants something secret handed over"),
    (rf"{_SECRET}[^\n]{{0,40}}{_HAND_OVER}", "it wants something secret handed over"),
    (r"\b(?:also|additionally|secretly|silently|quietly)\b[^.\n]{0,30}\b(?:send|forward|post|upload|bcc|copy|transmit)\b"
     r"[^\n]{0,60}(?:https?://|[\w.+-]+@[\w-]+\.\w+|\b[\w-]+\.(?:com|net|org|io|dev|test|xyz|ru|cn|example)\b)",
     "it sends things somewhere else as well"),
    (r"!\[[^\]]*\]\(https?://[^)\s]*[?&=][^)\s]*[{$%<]", "it has an image whose address carries data away"),
)  # fmt: skip
_PATTERNS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE), why)
    for kind, group in (("instruction", _AIMED), ("cross_tool", _BEYOND), ("exfiltration", _TAKEN))
    for pattern, why in group
)
_HINT = re.compile(
    "ignor|disregard|forget|overrid|bypass|tell|mention|inform|reveal|notif|alert|disclos|secret|hid|ask|wait|request|<"
    "|system|INST|print|leak|tool|history|send|also|silent|quiet|!\\[|id_rsa|\\.ssh|\\.env|key",
    re.IGNORECASE,
)
_GAP = re.compile(r"(?:[^\S\n]*\n){25,}[^\S\n]*\S|[^\S\n]{150,}\S")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{160,}={0,2}")
_JOINERS = "\u200c\u200d\ufe0f\ufe0e"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One thing that a person should look at, and where it stands."""

    kind: str
    place: str
    why: str


def suspicions(spec: ToolSpec, neighbours: Neighbours) -> list[Suspicion]:
    """Everything about a tool that deserves a second look, beside the tools of other families."""
    found: dict[Suspicion, None] = {}
    for place, text in _texts(spec):
        text = text[:_LONGEST]
        found.update(dict.fromkeys(_hidden(place, text)))
        plain = _plain(text)
        if _HINT.search(plain):
            found.update(dict.fromkeys(_spoken(place, plain)))
        found.update(dict.fromkeys(_about_others(spec, place, plain, neighbours)))
        if len(found) > _MOST:
            break
    found.update(dict.fromkeys(Suspicion("look_alike", "name", why) for why in neighbours.look_alikes(spec)))
    found.update(dict.fromkeys(Suspicion("shadowing", "name", why) for why in neighbours.shadows(spec)))
    return list(found)[:_MOST]


def _hidden(place: str, text: str) -> Iterator[Suspicion]:
    if not text.isascii() or not text.isprintable():
        unseen = {each for number, each in enumerate(text) if _is_hidden(text, number)}
        if unseen:
            named = ", ".join(sorted(visible(each) for each in unseen)[:5])
            yield Suspicion("hidden_text", place, f"it has characters that do not show: {named}")
    if _GAP.search(text):
        yield Suspicion("hidden_text", place, "there is more after a long gap, where nobody looks")
    if _ENCODED.search(text):
        yield Suspicion("hidden_text", place, "it has a long stretch of encoded text")


def _is_hidden(text: str, number: int) -> bool:
    """Whether a character hides; those that scripts and emoji need between their signs do not."""
    each = text[number]
    if (
        each in "\n\t\r"
        or " " <= each <= "~"
        or not is_unseen(each)
        or unicodedata.category(each) in ("Zs", "Co", "Cn")
    ):
        return False
    before = text[number - 1] if number else " "
    return not (each in _JOINERS and not before.isascii()) and not (each == "\ufe0f" and before in "0123456789#*")


def _spoken(place: str, text: str) -> Iterator[Suspicion]:
    for kind, pattern, why in _PATTERNS:
        if (said := pattern.search(text)) is not None:
            yield Suspicion(kind, place, f"{why}: {visible(said[0][:100])}")


def _about_others(spec: ToolSpec, place: str, text: str, neighbours: Neighbours) -> Iterator[Suspicion]:
    """Names of other families' tools: nothing here needs them, unless it is to steer how those are used."""
    for other in neighbours.named_in(text, spec):
        yield Suspicion("cross_tool", place, f"it speaks of {other}, which is not its own")


def _plain(text: str) -> str:
    """The text as a model takes it: styled letters and those hidden between others read as what they stand for."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(each for each in folded if each in "\n\t" or not is_unseen(each))


def _texts(spec: ToolSpec) -> Iterator[tuple[str, str]]:
    """Everything a model gets to read of a tool, with its place."""
    for place in ("title", "description", "help"):
        if text := getattr(spec, place):
            yield place, text
    yield from _schema_texts(spec.input_schema, "parameters")
    yield from _schema_texts(spec.output_schema, "result")
    for key, value in spec.annotations.items():
        if isinstance(value, str):
            yield f"annotations.{key}", value


def _schema_texts(schema: Json, place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        if key in MAPS and isinstance(value, Mapping):
            for name, member in value.items():
                yield f"{place}.{visible(name)}", " ".join(words_of(name))
                yield from _schema_texts(member, f"{place}.{visible(name)}")
        elif key in LISTS and isinstance(value, (list, tuple)):
            for member in value:
                yield from _schema_texts(member, place)
        elif key in SINGLE:
            yield from _schema_texts(value, place)
        elif key in _TEXTS and isinstance(value, str):
            yield f"{place}.{key}", value
        elif key in ("default", "const", "enum", "examples"):
            values = value if isinstance(value, (list, tuple)) else [value]
            yield from ((f"{place}.{key}", each) for each in values if isinstance(each, str))
