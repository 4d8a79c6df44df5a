"""What a caller of the search tool wants, and the answer: tools it may use, each in a line with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from toolcrib.catalog.discovery.lines import one_line, signature, summary, summary_of
from toolcrib.catalog.discovery.listing import group_of, grouped, server_of
from toolcrib.catalog.discovery.minify import minify
from toolcrib.catalog.discovery.showing import ANSWERS
from toolcrib.catalog.index.document import Entry, Kind
from toolcrib.catalog.index.ranking import Hit
from toolcrib.catalog.index.words import key_of
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import ToolSpec

NAMED = 10
LISTED = 15
WHY_LENGTH = 80
NAMED_GROUPS = 12
HELP_LENGTH = 4_000


class By(StrEnum):
    """Ways to ask, the first one given counts."""

    TOOL = "tool"
    SERVER = "server"
    CATEGORY = "category"
    QUERY = "query"


@frozen
class Wanted:
    """One question to the catalog."""

    by: By
    text: str

    @classmethod
    def of(cls, arguments: Mapping[str, Json]) -> Wanted:
        """What the arguments ask for; a name beats a server, a server a category, a category words."""
        given = [By(key) for key in By if isinstance(arguments.get(key), str)]
        if not given:
            ways = "'tool' (an exact name), 'server', 'category' or 'query' (words)"
            raise Refusal(Reason.VALIDATION_ERROR, f"say what to look for: give one of {ways}")
        chosen = next((by for by in given if str(arguments[by]).strip()), given[-1])
        return cls(chosen, str(arguments[chosen]))


@frozen
class Found:
    """One answer: a tool (or skill, or agent definition) in a line, why it is here, and how a tool is called."""

    name: str
    kind: Kind
    line: str
    why: str
    signature: str = ""

    @property
    def label(self) -> str:
        """The name; of what is no tool with its kind, and in one line, because its author chose any text."""
        return self.name if self.kind is Kind.TOOL else f"{self.kind.value} {one_line(self.name)}"

    def body(self) -> JsonObject:
        told = {"name": self.name, "kind": self.kind.value, "line": self.line, "why": self.why}
        return {**told, "signature": self.signature} if self.signature else told


@frozen
class Answer:
    """What was found, how many more there are, and the whole definition where one tool was asked for by name."""

    found: tuple[Found, ...]
    more: int = 0
    note: str = ""
    definition: JsonObject | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools among what was found, best first."""
        return tuple(found.name for found in self.found if found.kind is Kind.TOOL)


Search = Callable[[str, int], Sequence[Hit]]
"""Words and how many answers → hits among what the caller may use."""


@frozen
class Catalog:
    """What one caller may find: the tools of its effective set, other entries, and a search over exactly these."""

    specs: Mapping[str, ToolSpec]
    entries: Mapping[str, Entry]
    search: Search
    limit: int = ANSWERS
    """Answers to words at most."""
    listed: int = LISTED
    """Tools of a server or category at most."""
    named: int = NAMED
    """Answers at most where the words are names of tools."""

    def answer(self, wanted: Wanted) -> Answer:
        """Results, or a clear word that there are none and what would work."""
        match wanted.by:
            case By.TOOL:
                return self._named(wanted.text)
            case By.SERVER:
                return self._listed(wanted, _fits_server)
            case By.CATEGORY:
                return self._listed(wanted, _fits_category)
            case By.QUERY:
                hits = self._hits(wanted.text)
                return Answer(tuple(map(self._found, hits))) if hits else self._nothing(wanted)

    def _hits(self, text: str) -> list[Hit]:
        """The best answers, and more of them where more tools are called by their names."""
        hits = self.search(text, max(self.limit, self.named))
        return [hit for place, hit in enumerate(hits) if place < self.limit or hit.score > 1.0]

    def _named(self, text: str) -> Answer:
        """The tool of exactly that name or alias, with its whole definition; else what the name is near to."""
        key = key_of(text)
        hits = self.search(text, self.limit)
        named = [self.specs[hit.name] for hit in hits if hit.name in self.specs]
        exact = (spec for spec in named if key in map(key_of, (spec.name, *spec.aliases)))
        if (spec := self.specs.get(text.strip()) or next(exact, None)) is not None:
            found = Found(spec.name, Kind.TOOL, summary(spec), "exact name", signature(spec))
            return Answer((found,), definition=definition(spec))
        near = tuple(map(self._found, hits))
        note = f"there is no tool named {one_line(text, 60)!r}"
        return Answer(near, note=f"{note}; near to it:") if near else self._nothing(Wanted(By.TOOL, text))

    def _listed(self, wanted: Wanted, fits: Callable[[ToolSpec, str], bool]) -> Answer:
        text = key_of(wanted.text)
        specs = sorted((spec for spec in self.specs.values() if text and fits(spec, text)), key=lambda spec: spec.name)
        if not specs:
            return self._nothing(wanted)
        why = f"{wanted.by.value} {one_line(wanted.text, 40)}"
        first = specs[: self.listed]
        found = tuple(Found(spec.name, Kind.TOOL, summary(spec), why, signature(spec)) for spec in first)
        return Answer(found, more=len(specs) - len(found))

    def _found(self, hit: Hit) -> Found:
        why = one_line(hit.why, WHY_LENGTH)
        spec = self.specs.get(hit.name)
        if spec is not None:
            return Found(hit.name, Kind.TOOL, summary(spec), why, signature(spec))
        return Found(hit.name, hit.kind, summary_of(self.entries[hit.name].description), why)

    def _nothing(self, wanted: Wanted) -> Answer:
        groups = list(grouped(self.specs.values()))
        known = ", ".join(groups[:NAMED_GROUPS]) + (" …" if len(groups) > NAMED_GROUPS else "")
        sought = f" for {wanted.by.value} {one_line(wanted.text, 60)!r}" if wanted.text.strip() else ""
        advice = f"try other words, or a category: {known}" if groups else "this run has no tools to find"
        return Answer((), note=f"nothing found{sought}; {advice}")


def definition(spec: ToolSpec) -> JsonObject:
    """A tool's definition in full, as short as it can be said, with its help."""
    told: dict[str, Json] = {"name": spec.name, "description": spec.description, "effect": spec.effect.value}
    if spec.help:
        told["help"] = spec.help[:HELP_LENGTH]
    told["parameters"] = minify(spec.input_schema).schema
    if spec.output_schema is not None:
        told["returns"] = minify(spec.output_schema).schema
    return told


def lines(found: Iterable[Found]) -> str:
    """Answers as a model reads them where definitions are not sent: signature, line and reason."""
    return "\n".join(_line(one) for one in found)


def _line(one: Found) -> str:
    return f"{one.signature or one.label} - {one.line or 'no description'} [{one.why}]"


def _fits_server(spec: ToolSpec, key: str) -> bool:
    server = server_of(spec)
    return key_of(server or spec.name.partition(".")[0]) == key


def _fits_category(spec: ToolSpec, key: str) -> bool:
    return key in (key_of(spec.category), key_of(group_of(spec)), key_of(spec.name.partition(".")[0]))
