"""Which tools a model has been shown: pinned ones always, found and called ones until others push them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from toolcrib.catalog.discovery.showing import CEILING
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen


@frozen
class Activation:
    """The active tools of one agent in one session, as a value.

    Order of display and order of use are two things: a tool keeps its place while it is active, so that what a provider
    has cached stays valid, and the least recently used one makes room.
    """

    ceiling: int = CEILING
    pinned: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    """In the order in which they became active; pinned tools are not repeated here."""
    recent: tuple[str, ...] = ()
    """The same names, least recently used first."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Pinned tools, then active ones, each in an order that no later use changes."""
        return (*self.pinned, *self.active)

    def __contains__(self, name: object) -> bool:
        return name in self.active or name in self.pinned

    def found(self, names: Iterable[str]) -> Activation:
        """These tools become active, the best first: where not all of them can stay, the best do."""
        ranked = tuple(dict.fromkeys(names))
        return self.using(reversed(ranked)).placed((*self.active, *ranked))

    def using(self, names: Iterable[str]) -> Activation:
        """These tools become active, and are the most recently used ones, the last most; nothing is evicted yet."""
        used = [name for name in dict.fromkeys(names) if name not in self.pinned]
        fresh = tuple(name for name in used if name not in self.active)
        recent = (*(name for name in self.recent if name not in used), *used)
        return replace(self, active=self.active + fresh, recent=recent)

    def bounded(self) -> tuple[Activation, tuple[str, ...]]:
        """At most `ceiling` tools, and which ones had to go: the least recently used, never a pinned one.

        However many are pinned, the one used last stays: what was just found must be there to be called.
        """
        room = max(1, self.ceiling - len(self.pinned))
        return self.without(self.recent[:-room])

    def without(self, names: Iterable[str]) -> tuple[Activation, tuple[str, ...]]:
        """Without these, and which of them were active."""
        gone = frozenset(names)
        kept = replace(
            self,
            active=tuple(name for name in self.active if name not in gone),
            recent=tuple(name for name in self.recent if name not in gone),
        )
        return kept, tuple(name for name in self.active if name in gone)

    def body(self) -> JsonObject:
        """What is stored; pins and ceiling come from the configuration."""
        return {"active": list(self.active), "recent": list(self.recent)}

    def restored(self, body: Json, admits: Callable[[str], bool]) -> Activation:
        """This activation with what was stored, as far as it is still there to be shown."""
        stored = body if isinstance(body, dict) else {}
        active = _names(stored.get("active"), admits)
        known = frozenset(active)
        recent = _names(stored.get("recent"), known.__contains__)
        missing = tuple(name for name in active if name not in recent)
        return replace(self, active=(), recent=()).using((*missing, *recent)).placed(active)

    def placed(self, order: tuple[str, ...]) -> Activation:
        """The same tools, displayed in this order."""
        return replace(self, active=tuple(name for name in dict.fromkeys(order) if name in self.active))


def _names(value: Json, admits: Callable[[str], bool]) -> tuple[str, ...]:
    listed = value if isinstance(value, (list, tuple)) else ()
    return tuple(dict.fromkeys(name for name in listed if isinstance(name, str) and admits(name)))
