"""Exact edits: a text that stands in the file once is replaced by another, in the order given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.text import LineEnd, line_end_of

CONTEXT_LINES = 20
_LISTED = 10


@frozen
class Edit:
    """Replace `old` by `new`; it must stand there exactly once unless all places are meant."""

    old: str
    new: str
    replace_all: bool = False


def apply_edits(text: str, edits: Sequence[Edit], shown: str) -> str:
    """The text after all edits, each applied to what the one before left; CRLF files are matched and kept as such."""
    if line_end_of(text) is LineEnd.CRLF:
        result = apply_edits(text.replace("\r\n", "\n"), [_plain(edit) for edit in edits], shown)
        return result.replace("\n", "\r\n")
    for number, edit in enumerate(edits, 1):
        text = _apply(text, edit, f"edit {number} of {len(edits)}" if len(edits) > 1 else "the edit", shown)
    return text


def insert_lines(text: str, before: int, new: str, shown: str) -> str:
    """The text with lines put before a line (the first is 1); one more than the last line appends."""
    lines = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    if not 1 <= before <= len(lines) + 1:
        message = f"{shown} has {len(lines)} lines, so text can go before line 1 to {len(lines) + 1}, not {before}"
        raise Refusal(Reason.TEXT_NOT_FOUND, message, {"lines": len(lines)})
    end = "\r\n" if line_end_of(text) is LineEnd.CRLF else "\n"
    added = new.replace("\r\n", "\n").replace("\n", end)
    if before <= len(lines) and not added.endswith(end):
        added += end
    if before == len(lines) + 1 and lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    return "".join([*lines[: before - 1], added, *lines[before - 1 :]])


def context_of(text: str, wanted: str) -> str:
    """The part of a text in which an edit was probably meant, with line numbers."""
    lines = text.removesuffix("\n").split("\n")
    middle = _likely_line(lines, wanted)
    first = max(0, middle - CONTEXT_LINES // 2)
    return "\n".join(
        f"{number}\t{line[:400].rstrip()}"
        for number, line in enumerate(lines[first : first + CONTEXT_LINES], first + 1)
    )


def _apply(text: str, edit: Edit, which: str, shown: str) -> str:
    if not edit.old:
        raise Refusal(Reason.VALIDATION_ERROR, f"{which}: `old` is empty; quote the text that is to be replaced")
    if edit.old == edit.new:
        raise Refusal(Reason.VALIDATION_ERROR, f"{which}: `old` and `new` are the same; nothing would change")
    count = text.count(edit.old)
    if count == 0:
        return _apply_across_line_ends(text, edit, which, shown)
    if count > 1 and not edit.replace_all:
        places = [match.start() for match in re.finditer(re.escape(edit.old), text)]
        raise _ambiguous(text, places, count, which, shown)
    return text.replace(edit.old, edit.new)


def _apply_across_line_ends(text: str, edit: Edit, which: str, shown: str) -> str:
    """In a file with mixed line ends, `\\n` in an edit stands for either; new lines end like the first one replaced."""
    if "\r\n" in text and "\n" in edit.old:
        pattern = re.compile(r"\r?\n".join(re.escape(part) for part in edit.old.replace("\r\n", "\n").split("\n")))
        found = list(pattern.finditer(text))
        if len(found) > 1 and not edit.replace_all:
            raise _ambiguous(text, [match.start() for match in found], len(found), which, shown)
        if found:
            plain = edit.new.replace("\r\n", "\n")
            return pattern.sub(lambda match: plain.replace("\n", "\r\n") if "\r\n" in match[0] else plain, text)
    message = f"{which}: the text to replace is not in {shown}; it must match exactly, with all blanks and line ends"
    context = context_of(text, edit.old)
    raise Refusal(Reason.TEXT_NOT_FOUND, f"{message}. Around the likely place:\n{context}", {"context": context})


def _ambiguous(text: str, places: list[int], count: int, which: str, shown: str) -> Refusal:
    lines = list(dict.fromkeys(text.count("\n", 0, place) + 1 for place in places[:_LISTED]))
    where = ", ".join(map(str, lines)) + (" …" if count > _LISTED else "")
    message = (
        f"{which}: the text to replace stands {count} times in {shown} (line{'s' if len(lines) > 1 else ''} {where}); "
        "quote more of what is around the one you mean, or set replace_all"
    )
    return Refusal(Reason.AMBIGUOUS_EDIT, message, {"count": count, "lines": lines})


def _plain(edit: Edit) -> Edit:
    return Edit(edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n"), edit.replace_all)


def _likely_line(lines: list[str], wanted: str) -> int:
    """The line that begins like some line of the wanted text."""
    for candidate in filter(None, (line.strip() for line in wanted.split("\n")[:20])):
        for number, line in enumerate(lines):
            if candidate in line:
                return number
    return 0
