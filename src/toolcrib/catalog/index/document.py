"""From a tool's definition to weighted terms: what is indexed, in which field, and how much each field counts.

A document's weights depend on the document alone, never on the rest of the catalog: field lengths are measured against
fixed typical lengths, so that an index grown tool by tool equals one built at once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice, pairwise
from typing import NamedTuple, Protocol, TypeGuard, cast

from toolcrib.catalog.index.names import Keys
from toolcrib.catalog.index.words import Analyzer, key_of

SATURATION = 1.0
NODE_LIMIT = 400
TEXT_LIMIT = 20_000
MEANING_LENGTH = 500


class Kind(StrEnum):
    """What a hit is."""

    TOOL = "tool"
    SKILL = "skill"
    AGENT = "agent"


class Described(Protocol):
    """What the index reads of a tool; `ToolSpec` has these, and so may any object."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be found that is not a tool: a skill, an agent definition."""

    name: str
    description: str = ""
    kind: Kind = Kind.TOOL
    title: str | None = None
    aliases: tuple[str, ...] = ()
    category: str | None = None
    tags: tuple[str, ...] = ()
    input_schema: Mapping[str, object] = field(default_factory=dict[str, object])
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a definition: its weight, how strongly length dilutes it, and its typical length in words."""

    label: str
    weight: float
    dilution: float
    typical: float

    def share(self, length: float) -> float:
        """What one word weighs in a text of that length."""
        return self.weight / (1.0 - self.dilution + self.dilution * length / self.typical)


NAME = Field("name", 4.0, 0.4, 3.0)
GROUP = Field("group", 4.0, 0.3, 2.0)
ALIAS = Field("alias", 3.0, 0.3, 4.0)
TITLE = Field("title", 2.0, 0.4, 4.0)
LABEL = Field("label", 1.2, 0.4, 3.0)
SUMMARY = Field("description", 1.8, 0.55, 10.0)
DETAIL = Field("details", 0.5, 0.6, 30.0)
PARAMETER = Field("parameters", 0.8, 0.6, 6.0)
PARAMETER_TEXT = Field("parameter help", 0.35, 0.6, 40.0)
FIELDS = (NAME, GROUP, ALIAS, TITLE, LABEL, SUMMARY, DETAIL, PARAMETER, PARAMETER_TEXT)
DESCRIBED_FROM = FIELDS.index(SUMMARY)
"""Fields before this one name a tool, those from here on describe it."""


class Document(NamedTuple):
    """A definition as the index reads it."""

    name: str
    kind: Kind
    parts: tuple[list[str], ...]
    """The terms of each of FIELDS."""
    name_terms: tuple[str, ...]
    """The distinct words of the name's last part."""
    keys: Keys


def read_document(spec: Described, analyzer: Analyzer) -> Document:
    """Take a definition apart into terms; raises ValueError for one without a name."""
    if not spec.name:
        raise ValueError("a definition without a name cannot be indexed")
    groups, leaf = _split_name(spec.name)
    aliases = _texts(getattr(spec, "aliases", ()))
    leaf_terms = analyzer.name_terms(leaf)
    kind = getattr(spec, "kind", Kind.TOOL)
    return Document(
        spec.name,
        kind if isinstance(kind, Kind) else Kind.TOOL,
        tuple(_field_terms(spec, groups, leaf_terms, aliases, analyzer)),
        tuple(dict.fromkeys(leaf_terms)),
        Keys(key_of(spec.name), key_of(leaf), tuple(map(key_of, aliases))),
    )


def weigh_document(document: Document) -> tuple[dict[str, float], bytes]:
    """Term → saturated weight in 0..1; and for each term, in the same order, the first of FIELDS in which it stands."""
    masses, fields = masses_of(document)
    return {term: saturated(mass) for term, mass in masses.items()}, fields


def masses_of(document: Document) -> tuple[dict[str, float], bytes]:
    """As `weigh_document`, with what the fields together give each term."""
    masses: dict[str, float] = {}
    known = masses.get
    fields = bytearray()
    for number, (part, terms) in enumerate(zip(FIELDS, document.parts, strict=True)):
        if terms:
            share = part.share(len(terms))
            if len(set(terms)) == len(terms):
                for term in terms:
                    masses[term] = known(term, 0.0) + share
            else:
                for term, count in Counter(terms).items():
                    masses[term] = known(term, 0.0) + count * share
            fields.extend(bytes([number]) * (len(masses) - len(fields)))
    return masses, bytes(fields)


def saturated(mass: float) -> float:
    """The weight, below 1, of a term that the fields together give this mass."""
    return mass / (mass + SATURATION)


def mass_of(weight: float) -> float:
    """The mass behind a saturated weight."""
    return SATURATION * weight / (1.0 - weight)


def meaning_text(spec: Described) -> str:
    """What is embedded of a definition: its name in words and the beginning of its description."""
    words = " ".join(word for word in re.split(r"[\W_]+", spec.name) if word)
    return f"{words}: {(spec.description or '').strip()[:MEANING_LENGTH]}"


def _field_terms(
    spec: Described, groups: str, leaf_terms: list[str], aliases: list[str], analyzer: Analyzer
) -> Iterator[list[str]]:
    """The terms of each field, in the order of FIELDS."""
    summary, detail = _split_description(spec.description or "")
    parameters, helps = _schema_texts(getattr(spec, "input_schema", None))
    yield leaf_terms + _joined(leaf_terms)
    yield analyzer.name_terms(groups)
    yield analyzer.name_terms(" ".join(aliases))
    yield analyzer.terms(getattr(spec, "title", None) or "")
    yield analyzer.terms(" ".join(_labels(spec)))
    yield analyzer.terms(summary)
    yield analyzer.terms(detail)
    yield analyzer.terms(" ".join(parameters))
    yield analyzer.terms(" ".join(helps)[:TEXT_LIMIT])


def _split_name(name: str) -> tuple[str, str]:
    """`github.issues.create` → (`github issues`, `create`)."""
    *groups, leaf = [part for part in SEPARATOR.split(name) if part] or [name]
    return " ".join(groups), leaf


def _split_description(text: str) -> tuple[str, str]:
    """The first sentence says what a tool is for; the rest explains."""
    text = text.strip()[:TEXT_LIMIT]
    end = SENTENCE_END.search(text, 12)
    return (text[: end.start()], text[end.end() :]) if end else (text, "")


def _joined(terms: list[str]) -> list[str]:
    """Neighbours written as one word, so that `web_hook` is found as `webhook`."""
    return [first + second for first, second in pairwise(terms)]


def _labels(spec: Described) -> Iterator[str]:
    category = getattr(spec, "category", None)
    if category:
        yield str(getattr(category, "value", category))
    yield from sorted(_texts(getattr(spec, "tags", ())))
    metadata = getattr(spec, "metadata", None)
    if metadata and isinstance(metadata, Mapping):
        for key in ("family", "toolkit", "toolkits", "label", "labels", "server"):
            yield from _texts(cast("Mapping[str, object]", metadata).get(key))


def _texts(value: object) -> list[str]:
    if not value:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        return [item for item in cast("Iterable[object]", value) if isinstance(item, str)]
    return []


def _schema_texts(schema: object) -> tuple[list[str], list[str]]:
    """Names of parameters, and the words that explain them, from every level of a JSON Schema."""
    names: list[str] = []
    helps: list[str] = []
    pending: list[Mapping[str, object]] = [schema] if _is_object(schema) else []
    for node in islice(pending, NODE_LIMIT):
        text = node.get("description")
        if isinstance(text, str):
            helps.append(text)
        choices = node.get("enum")
        if choices and isinstance(choices, (list, tuple)):
            helps.extend(choice for choice in cast("Sequence[object]", choices)[:20] if isinstance(choice, str))
        if not NESTING.isdisjoint(node):
            _visit(node, names, pending)
    return names, helps


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return type(value) is dict or isinstance(value, Mapping)


def _visit(node: Mapping[str, object], names: list[str], pending: list[Mapping[str, object]]) -> None:
    """What a node holds is visited later, also where the list grows while it is read."""
    properties = node.get("properties")
    if _is_object(properties):
        names.extend(properties)
        pending.extend(filter(_is_object, properties.values()))
    items = node.get("items")
    if _is_object(items):
        pending.append(items)
    for key in BRANCHES:
        branches = node.get(key)
        if branches and isinstance(branches, (list, tuple)):
            pending.extend(filter(_is_object, cast("Sequence[object]", branches)))


BRANCHES = ("anyOf", "oneOf", "allOf")
NESTING = frozenset(("properties", "items", *BRANCHES))
SEPARATOR = re.compile(r"[./:\\]+|__+")
SENTENCE_END = re.compile(r"[.!?:;](?:\s+|$)|\n+")
