"""What tools should not say: words for the model that a person would not see, or that reach beyond the tool.

It only reports. A description that fits no pattern here is not thereby harmless; approval is a person's, and this says
where to look first. So a pattern stays out when honest tools use it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from toolcrib.catalog.neighbours import Neighbours, words_of
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.schema import LISTS, MAPS, SINGLE
from toolcrib.values.spec import ToolSpec
from toolcrib.values.visible import is_unseen, visible

_MOST = 20
_LONGEST = 100_000
_PERSON = r"(?:users?|humans?|operators?|anyone|anybody)\b"
_SECRET = (
    r"(?:~/\.ssh|\bid_rsa\b|\bid_ed25519\b|(?<![\w/])\.env\b|\.aws/credentials|/etc/(?:passwd|shadow)|\.netrc\b"
    r"|\.npmrc\b|\.git-credentials|\.kube/config|\bmcp\.json\b|\bprivate keys?\b"
    r"|\b(?:conversation|chat|message) history\b)"
)
_SECRETS = (
    ".ssh",
    "id_rsa",
    "id_ed",
    ".env",
    ".aws/",
    "/etc/",
    "rc",
    "credentials",
    ".kube/",
    "mcp.json",
    "private key",
)
_HAND_OVER = r"\b(?:send|put|include|attach|upload|forward|post|copy|paste|append|insert|leak|exfiltrate|transmit)\w*\b"
# Each with words of which one must be there: most tools say none of them, and then no pattern is tried.
_SAYINGS = (
    (
        "instruction", ("ignore", "disregard", "forget", "override", "bypass"),
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|other"
        r"|existing|system)\b[^.\n]{0,20}\b(?:instructions?|prompts?|messages?|rules|directions|guidelines)\b",
        "it tells the model to set instructions aside",
    ),
    (
        "instruction", ("user", "human", "operator", "anyone", "anybody"),
        r"\b(?:do not|don'?t|never|must not|should not|without|avoid)\b[^.\n]{0,30}\b(?:tell|telling|mention\w*"
        r"|inform\w*|reveal\w*|notify\w*|alert\w*|disclos\w*)\b[^.\n]{0,40}(?<!\ba )(?<!\bany )\b" + _PERSON,
        "it tells the model to keep something from the person",
    ),
    (
        "instruction", ("secret", "hidden", "from the user", "from user", "from the human", "from the operator"),
        r"\b(?:keep|hide)\b[^.\n]{0,30}\b(?:secret|hidden|from (?:the )?(?:user|human|operator))\b",
        "it tells the model to keep something from the person",
    ),
    (
        "instruction", ("confirmation", "approval", "permission", "consent"),
        r"\b(?:do not|don'?t|never|without)\b[^.\n]{0,20}\b(?:ask|asking|wait|request)\w*\b[^.\n]{0,30}"
        r"\b(?:confirmation|approval|permission|consent)\b",
        "it tells the model not to ask",
    ),
    (
        "instruction", ("<", "[system]", "system:", "### system", "inst]"),
        r"<\s*/?\s*(?:important|system|secret|hidden|admin|critical|assistant|override)\s*>|<\|[a-z_]{2,30}\|>"
        r"|(?m:^\s*(?:\[system\]|system\s*:|###\s*system\b))|\[/?INST\]",
        "it has marks of a prompt in it",
    ),
    (
        "instruction", ("system prompt", "instructions"),
        r"\b(?:reveal|print|repeat|output|send|leak)\b[^.\n]{0,30}\b(?:your|the) (?:system prompt|instructions)\b",
        "it asks for the prompt",
    ),
    (
        "instruction", ("you are now", "no need to", "decode", "assistant:", "human:"),
        r"\byou are now (?:in|a|an|the|free)\b|\bno need to (?:ask|confirm|check|wait)\b[^.\n]{0,40}\b(?:permission"
        r"|approval|confirmation|user|human|operator)\b|\bdecode\b[^.\n]{0,20}\b(?:follow|obey|execute)\b"
        r"|(?m:^\s*(?:assistant|human)\s*:)",
        "it speaks to the model, not of the tool",
    ),
    (
        "instruction", ("ignorier", "ignora", "précédent", "忽略", "игнорир"),
        r"\bignorier\w*[^.\n]{0,40}\b(?:anweisung|vorgabe|regel)"
        r"|\bignora\w*[^.\n]{0,40}\b(?:instrucci|istruzion|instruç)"
        r"|\bignor\w*[^.\n]{0,40}\binstructions précédent"
        r"|忽略[^。\n]{0,12}(?:指令|指示)|игнорир\w*[^.\n]{0,40}инструкц",
        "it tells the model to set instructions aside",
    ),
    (
        "hidden_text", ("<!--", "[//]:"),
        r"<!--[^>\n]*\w+\s+\w+[^>]*-->|(?m:^\s*\[//\]:\s*#)",
        "it has a comment, which is not shown where the text is rendered",
    ),
    (
        "exfiltration", ("conversation", "chat"),
        r"\b(?:add|pass|put|include|send|copy|paste|attach)\b[^.\n]{0,20}\b(?:full|entire|whole|complete)\b[^.\n]{0,12}"
        r"\b(?:conversation|chat)\b",
        "it wants all that was said handed over",
    ),
    (
        "cross_tool", ("tool",),
        r"\b(?:before|prior to|after)\b[^.\n]{0,20}\b(?:using|calling|invoking|running|use|call|invoke)\b[^.\n]{0,12}"
        r"\b(?:any|all|every)\b[^.\n]{0,20}\btools?\b"
        r"|\b(?:any|every) time\b[^.\n]{0,40}\b(?:other|another|any) tools?\b"
        r"|\b(?:instead of|rather than|in place of)\b[^.\n]{0,20}\b(?:any|all|every|the) other tools?\b",
        "it gives orders about other tools",
    ),
    (
        "exfiltration", (*_SECRETS, "mcp.json", "private key", " history"),
        rf"{_HAND_OVER}[^\n]{{0,80}}{_SECRET}|{_SECRET}[^\n]{{0,40}}{_HAND_OVER}",
        "it wants something secret handed over",
    ),
    (
        "exfiltration", ("also", "additionally", "secretly", "silently", "quietly"),
        r"\b(?:also|additionally|secretly|silently|quietly)\b[^.\n]{0,30}\b(?:send|forward|post|upload|bcc|copy"
        r"|transmit)\b[^\n]{0,60}(?:https?://|[\w.+-]+@[\w-]+\.\w+"
        r"|\b[\w-]+\.(?:com|net|org|io|dev|test|xyz|ru|cn|example)\b)",
        "it sends things somewhere else as well",
    ),
    (
        "exfiltration", ("![",),
        r"!\[[^\]]*\]\(https?://[^)\s]*[?&=][^)\s]*[{$%<]",
        "it has an image whose address carries data away",
    ),
)  # fmt: skip
_PATTERNS = tuple((kind, needles, re.compile(saying, re.IGNORECASE), why) for kind, needles, saying, why in _SAYINGS)
_GAP = re.compile(r"(?:[^\S\n]*\n){25,}[^\S\n]*\S|[^\S\n]{150,}\S")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{160,}={0,2}")
_WRAPPED = re.compile(r"(?<![.:;!?\s])[^\S\n]*\n[^\S\n]*(?=[a-z])")
_TWO_ALPHABETS = re.compile(r"[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")
_STRUCTURE = frozenset({"pattern", "format", "type", "required", "$ref", "$id", "$schema", "$anchor", "$dynamicRef"})
_JOINERS = "\u200c\u200d\ufe0f\ufe0e"


@frozen
class Suspicion:
    """One thing that a person should look at, and where it stands."""

    kind: str
    place: str
    why: str


def suspicions(spec: ToolSpec, neighbours: Neighbours) -> list[Suspicion]:
    """Everything about a tool that deserves a second look, beside the tools of other families."""
    texts = list(_texts(spec))
    found: dict[Suspicion, None] = {}
    if _deserves_a_look("\n\n".join(text for _, text in texts)[:_LONGEST], spec, neighbours):
        for place, text in texts:
            found.update(dict.fromkeys(_said(place, text[:_LONGEST], spec, neighbours)))
    found.update(dict.fromkeys(Suspicion("look_alike", "name", why) for why in neighbours.look_alikes(spec)))
    found.update(dict.fromkeys(Suspicion("shadowing", "name", why) for why in neighbours.shadows(spec)))
    return list(found)[:_MOST]


def _deserves_a_look(text: str, spec: ToolSpec, neighbours: Neighbours) -> bool:
    """Whether there is anything in all that a tool says: asked once, because nearly always there is nothing."""
    return next(_said("", text, spec, neighbours), None) is not None


def _said(place: str, text: str, spec: ToolSpec, neighbours: Neighbours) -> Iterator[Suspicion]:
    plain = _plain(text)
    yield from _hidden(place, text)
    yield from _spoken(place, plain)
    for other in neighbours.steered_in(plain, spec):
        yield Suspicion("cross_tool", place, f"it says when to use {other}, which is not its own")


def _hidden(place: str, text: str) -> Iterator[Suspicion]:
    if unseen := {each for each in set(text) if each not in "\n\t\r" and _may_hide(each)}:
        hidden = {each for number, each in enumerate(text) if each in unseen and not _joins(text, number)}
        if hidden:
            named = ", ".join(sorted(visible(each) for each in hidden)[:5])
            yield Suspicion("hidden_text", place, f"it has characters that do not show: {named}")
    if (text.count("\n") >= 25 or " " * 20 in text) and _GAP.search(text):
        yield Suspicion("hidden_text", place, "there is more after a long gap, where nobody looks")
    if not text.isascii() and (mixed := _TWO_ALPHABETS.search(text)) is not None:
        around = text[max(mixed.start() - 10, 0) : mixed.end() + 10]
        yield Suspicion("hidden_text", place, f"a word is spelled with letters of two alphabets: {visible(around)}")
    if any(len(word) >= 160 for word in text.split()) and _ENCODED.search(text):
        yield Suspicion("hidden_text", place, "it has a long stretch of encoded text")


def _may_hide(character: str) -> bool:
    return is_unseen(character) and unicodedata.category(character) not in ("Zs", "Co", "Cn")


def _joins(text: str, number: int) -> bool:
    """Whether a character is one that scripts and emoji need between their signs."""
    each, before = text[number], text[number - 1] if number else " "
    return (each in _JOINERS and not before.isascii()) or (each == "\ufe0f" and before in "0123456789#*")


def _spoken(place: str, text: str) -> Iterator[Suspicion]:
    small = text.lower()
    for kind, needles, pattern, why in _PATTERNS:
        if any(needle in small for needle in needles) and (said := pattern.search(text)) is not None:
            yield Suspicion(kind, place, f"{why}: {visible(said[0][:100])}")


def _plain(text: str) -> str:
    """The text as a model takes it: styled letters and those hidden between others read as what they stand for."""
    text = _WRAPPED.sub(" ", text) if "\n" in text else text
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
    yield from _nested_texts(spec.annotations, "annotations")


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
        elif key in ("enum", "examples") and isinstance(value, (list, tuple)):
            for each in value:
                yield from _nested_texts(each, f"{place}.{key}")
        elif key not in _STRUCTURE:
            yield from _nested_texts(value, f"{place}.{key}")


def _nested_texts(value: Json, place: str) -> Iterator[tuple[str, str]]:
    """Texts inside a value that is no schema: a model reads those too."""
    waiting: list[tuple[str, Json]] = [(place, value)]
    while waiting:
        where, each = waiting.pop()
        if isinstance(each, str):
            yield where, each
        elif isinstance(each, Mapping):
            waiting += [(f"{where}.{visible(name)}", member) for name, member in each.items()]
        elif isinstance(each, (list, tuple)):
            waiting += [(where, member) for member in each]
