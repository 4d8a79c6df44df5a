"""Exact names: which documents a query calls by name or alias, however it is spelt."""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

from toolcrib.catalog.index.words import WORD_LIMIT, key_of

Table = dict[str, list[int]]
PIECE_LIMIT = 200
QUERY_LIMIT = 2 * WORD_LIMIT * PIECE_LIMIT
WINDOW = 6
NAME_LIMIT = 300


class Rank(IntEnum):
    """How exactly a query names a document; a higher rank always comes first."""

    WORDS = 0
    MENTION = 1
    LAST_PART = 2
    ALIAS = 3
    NAME = 4


class Keys(NamedTuple):
    """The folded spellings under which one document may be called."""

    full: str
    last: str
    aliases: tuple[str, ...]


class Names:
    """Folded keys of names, aliases and last parts, each with the slots it stands for."""

    __slots__ = ("alias", "full", "last")

    def __init__(self, full: Table | None = None, alias: Table | None = None, last: Table | None = None) -> None:
        self.full: Table = full or {}
        self.alias: Table = alias or {}
        self.last: Table = last or {}

    def insert(self, slot: int, keys: Keys) -> None:
        for table, key in self._places(keys):
            table.setdefault(key, []).append(slot)

    def delete(self, slot: int, keys: Keys) -> None:
        for table, key in self._places(keys):
            table[key].remove(slot)
            if not table[key]:
                del table[key]

    def _places(self, keys: Keys) -> Iterator[tuple[Table, str]]:
        yield self.full, keys.full
        yield self.last, keys.last
        for key in dict.fromkeys(keys.aliases):
            yield self.alias, key

    def called(self, query: str) -> dict[int, Rank]:
        """Slots that the query names, with how exactly: as a whole, or among other words."""
        ranks = self._whole(query)
        for slot in self._mentioned(query):
            ranks.setdefault(slot, Rank.MENTION)
        return ranks

    def _whole(self, query: str) -> dict[int, Rank]:
        key = key_of(query[:NAME_LIMIT])
        ranks: dict[int, Rank] = {}
        if key:
            for rank, table in ((Rank.NAME, self.full), (Rank.ALIAS, self.alias), (Rank.LAST_PART, self.last)):
                for slot in table.get(key, ()):
                    ranks.setdefault(slot, rank)
        return ranks

    def _mentioned(self, query: str) -> Iterator[int]:
        """Names written as identifiers count anywhere; plain words only when the whole query is a list of names."""
        query = query[:QUERY_LIMIT]
        pieces = [piece.strip(".:'\"`()[]{}<>!?*") for piece in SPACE.split(query, PIECE_LIMIT)[:PIECE_LIMIT]]
        listed: list[int] = []
        at = 0
        while at < len(pieces) and (found := self._longest(pieces, at)):
            listed.extend(found[0])
            at = found[1]
        if at == len(pieces):
            yield from listed
            return
        for piece in pieces if IDENTIFIER.search(query) else ():
            if IDENTIFIER.search(piece):
                yield from self._slots(_key_of_piece(piece))

    def _longest(self, pieces: list[str], at: int) -> tuple[list[int], int] | None:
        if not _key_of_piece(pieces[at]):
            return [], at + 1
        keys = list(accumulate(map(_key_of_piece, pieces[at : at + WINDOW])))
        for number in range(len(keys), 0, -1):
            slots = self._slots(keys[number - 1])
            if slots:
                return slots, at + number
        return None

    def _slots(self, key: str) -> list[int]:
        """The documents of that full name, else those that have it as alias or last part."""
        return self.full.get(key) or self.alias.get(key) or self.last.get(key) or []


def _key_of_piece(piece: str) -> str:
    return key_of(piece[: 2 * WORD_LIMIT])


SPACE = re.compile(r"[\s,;|]+")
IDENTIFIER = re.compile(r"[^\W_][_./:\\-]+[^\W_]|[a-z][A-Z]")
