"""What the runs of one agent in one session have in common about what they show, and how it is stored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.catalog.discovery.listing import Level, Listing
from toolcrib.values.context import Document
from toolcrib.values.json import Json, JsonObject, canonical

if TYPE_CHECKING:
    from toolcrib.catalog.discovery.activation import Activation
    from toolcrib.engine.wish import Wish

KIND = "activation"
MOST_OPENINGS = 8


@dataclass(slots=True, eq=False)
class Held:
    """Active tools, and what each kind of run was told at its start. `key` is None where nobody can come back to it."""

    key: str | None
    activation: Activation
    version: int = 0
    openings: dict[str, Listing] = field(default_factory=dict[str, Listing])
    stored: bool = False
    runs: int = 0

    def open(self, view: str, told: Listing) -> None:
        """Keep what runs of this view are told; the oldest view makes room."""
        self.openings[view] = told
        while len(self.openings) > MOST_OPENINGS:
            del self.openings[next(iter(self.openings))]
        self.stored = False

    def documents(self) -> tuple[Document, ...]:
        """What is to be stored now, as the next version."""
        self.stored = True
        if self.key is None:
            return ()
        openings: JsonObject = {view: _listing_body(told) for view, told in self.openings.items()}
        body: JsonObject = {**self.activation.body(), "openings": openings}
        document = Document(KIND, self.key, body, self.version)
        self.version += 1
        return (document,)

    def not_kept(self) -> None:
        """What could not be stored is stored with the next change; a session has one owner, so this is rare."""
        self.stored = False
        if self.key is not None:
            self.version -= 1


def view_of(wish: Wish) -> str:
    """Runs of one session that differ in this see different tools, so each kind has its own opening."""
    allowed: Json = None if wish.allowed_tools is None else sorted(wish.allowed_tools)
    text = canonical({"mode": wish.mode.value, "caller": wish.caller.value, "role": wish.role.value, "tools": allowed})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_openings(body: Json) -> dict[str, Listing]:
    """The openings of a stored body; what is none is left out."""
    stored = body.get("openings") if isinstance(body, dict) else None
    read = {view: _listing(told) for view, told in stored.items()} if isinstance(stored, dict) else {}
    return {view: told for view, told in read.items() if told is not None}


def _listing_body(told: Listing) -> JsonObject:
    return {"level": told.level.value, "text": told.text, "named": list(told.named)}


def _listing(body: Json) -> Listing | None:
    if not isinstance(body, dict) or body.get("level") not in [level.value for level in Level]:
        return None
    text, named = body.get("text"), body.get("named")
    if not isinstance(text, str) or not isinstance(named, list):
        return None
    return Listing(Level(str(body["level"])), text, tuple(str(name) for name in named))
