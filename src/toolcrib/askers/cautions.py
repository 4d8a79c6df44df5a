"""What a person may overlook in a question: gaps, characters that do not show, letters that look like others."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from toolcrib.values.permission import PermissionRequest
from toolcrib.values.visible import is_unseen, visible

_GAP = re.compile(r"[ \t]{8,}(?=\S)")
_WORD = re.compile(r"[^\s/\\:;,'\"=@()\[\]{}<>|&]+")
_MOST = 5
# Letters of other scripts that look like a Latin one in most fonts.
_TWINS = frozenset(
    "аеорсухіјѕһԁԛԝѵӏґАВЕЅІЈКМНОРСТХУ"  # Cyrillic
    "οαινυρκτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"  # Greek
    "օոսցհԼՍՏ"  # Armenian
    "ⅰⅴⅹⅼⅽⅾⅿ∕⁄∣ǃː։﹕꞉․‚ʼ′"
)


def cautions(request: PermissionRequest) -> list[str]:
    """What deserves a second look, in words; few enough to be read."""
    touched = [request.tool, *(target.value for target in request.targets)]
    texts = [*touched, *_strings(request.details or request.arguments)]
    found = dict.fromkeys([*_gaps(texts), *_unseen(texts), *_look_alikes(touched)])
    return list(found)[:_MOST]


def _gaps(texts: list[str]) -> Iterator[str]:
    longest = max((len(gap[0]) for text in texts for gap in _GAP.finditer(text)), default=0)
    if longest:
        yield f"there is more after a gap of {longest} blanks"


def _unseen(texts: list[str]) -> Iterator[str]:
    found = {each for text in texts for each in text if each not in "\n\t" and is_unseen(each)}
    if found:
        named = ", ".join(sorted(visible(each) for each in found)[:_MOST])
        yield f"characters that do not show, cover or reorder others are written as escapes: {named}"


def _look_alikes(texts: list[str]) -> Iterator[str]:
    """Words that are not spelled as they look. What people write in their own script is none."""
    for text in texts:
        if text.isascii():
            continue
        for word in _WORD.findall(text):
            if not word.isascii() and _deceives(word):
                yield f"{visible(word[:60])} is not spelled as it looks: {_spelled(word[:60])}"


def _deceives(word: str) -> bool:
    letters = [each for each in word if not is_unseen(each)]
    foreign = [each for each in letters if not each.isascii()]
    if any(_folds_to_ascii(each) for each in foreign):
        return True
    twins = [each for each in foreign if each in _TWINS]
    return bool(twins) and (len(twins) == len(foreign) or any(each.isascii() and each.isalpha() for each in letters))


def _folds_to_ascii(character: str) -> bool:
    """Wide, styled or small forms of ordinary characters."""
    folded = unicodedata.normalize("NFKC", character)
    return folded != character and folded.isascii()


def _spelled(word: str) -> str:
    return word.encode("ascii", "backslashreplace").decode()


def _strings(text: str) -> Iterator[str]:
    """The strings in the arguments; of arguments that were cut, the text itself."""
    try:
        waiting: list[object] = [json.loads(text)]
    except ValueError:
        yield text
        return
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif isinstance(item, list):
            waiting += item  # pyright: ignore[reportUnknownArgumentType]
