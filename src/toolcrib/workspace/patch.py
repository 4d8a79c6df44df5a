"""Unified diffs, read strictly and applied exactly: one file, hunks in order, every context line as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple, NoReturn

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.edits import context_of

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_UNSUPPORTED = re.compile(
    r"(rename (?:from|to)|copy (?:from|to)|deleted file mode|old mode|new mode|similarity index|dissimilarity index"
    r"|GIT binary patch|Binary files )"
)
_NO_NEWLINE = "\\"
NOTHING = "/dev/null"


class Line(NamedTuple):
    """One line of a hunk: ` ` stays, `-` goes, `+` comes; `text` has its line end."""

    sign: str
    text: str


@frozen
class Hunk:
    """A change of consecutive lines; `start` is the first old line (from 1)."""

    start: int
    lines: tuple[Line, ...]
    old: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "old", [line.text for line in self.lines if line.sign != "+"])

    def bare(self) -> Hunk:
        """The same with plain line ends."""
        return Hunk(self.start, tuple(Line(line.sign, line.text.replace("\r\n", "\n")) for line in self.lines))


@frozen
class Patch:
    """A diff of one file. `names` are what its headers call the file, before and after."""

    names: tuple[str, ...]
    hunks: tuple[Hunk, ...]

    @property
    def creates(self) -> bool:
        return bool(self.names) and self.names[0] == NOTHING


def parse_patch(diff: str) -> Patch:
    """Read a diff; whatever is not a plain change of one text file is refused by name."""
    lines = diff.split("\n")
    if lines[-1] == "":
        lines.pop()
    reader = _Reader(lines)
    names = reader.headers()
    hunks = tuple(reader.hunks())
    if not hunks:
        _fail("it has no hunk; a hunk begins with a line such as '@@ -1,3 +1,4 @@'")
    if len(names) == 2 and names[1] == NOTHING:
        _fail("it deletes the file; use a tool that deletes")
    return Patch(names, hunks)


def check_names(patch: Patch, parts: Sequence[str], shown: str) -> None:
    """The headers must name the file that the call names, from its last folder as far up as they go."""
    for name in patch.names:
        if name == NOTHING:
            continue
        plain = tuple(part for part in name.split("/") if part not in ("", "."))
        forms = (plain, plain[1:]) if plain[:1] in (("a",), ("b",)) else (plain,)
        if not any(form and tuple(parts[-len(form) :]) == form for form in forms):
            message = f"the diff is for {name!r}, but the call is for {shown}; give one diff for one file"
            raise Refusal(Reason.PATCH_PATH_MISMATCH, message, {"path": shown, "header": name})


def apply_patch(text: str, patch: Patch) -> str:
    """The text after the patch; if lines match only without their carriage returns, the file's line ends are kept."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    placed = _place(lines, patch.hunks)
    if placed is not None:
        return "".join(_merged(lines, placed, None))
    if "\r\n" in text:
        placed = _place([line.replace("\r\n", "\n") for line in lines], [hunk.bare() for hunk in patch.hunks])
        if placed is not None:
            pairs = sum(line.endswith("\r\n") for line in lines)
            return "".join(_merged(lines, placed, "\r\n" if pairs * 2 >= len(lines) else "\n"))
    raise _misfit(text, lines, patch.hunks)


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._position = 0

    def headers(self) -> tuple[str, ...]:
        """What stands before the first hunk: the names of the file, and nothing that a plain change would not say."""
        names: list[str] = []
        while self._position < len(self._lines):
            line = self._lines[self._position]
            if _HUNK.match(line):
                break
            if found := _UNSUPPORTED.match(line):
                _fail(f"it says {found[1].strip()!r}; only changes of the content of one text file are possible")
            if line.startswith(("--- ", "+++ ")) and len(names) < 2:
                names.append(_header_name(line[4:]))
            elif line.startswith(("--- ", "diff --git ")) and names:
                _fail("it is for more than one file; give one diff for one file")
            self._position += 1
        return tuple(names)

    def hunks(self) -> Iterator[Hunk]:
        end = 0
        while self._position < len(self._lines):
            line = self._lines[self._position]
            found = _HUNK.match(line)
            if not found:
                if line.startswith(("diff --git ", "--- ", "+++ ")):
                    _fail("it is for more than one file; give one diff for one file")
                if line.strip():
                    _fail(f"line {self._position + 1} belongs to no hunk: {line[:80]!r}; check the counts in '@@'")
                self._position += 1
                continue
            self._position += 1
            hunk = self._body(found)
            if hunk.start < end:
                _fail("its hunks overlap or are not in order")
            end = hunk.start + len(hunk.old)
            yield hunk

    def _body(self, header: re.Match[str]) -> Hunk:
        """Exactly as many lines as the header counts, so that a removed `-- x` is never taken for a header."""
        old, new = (1 if count is None else int(count) for count in (header[2], header[4]))
        start = int(header[1]) + (1 if old == 0 else 0)
        lines: list[Line] = []
        while old > 0 or new > 0:
            if self._position == len(self._lines):
                _fail(f"the hunk '{header[0]}' ends early: {old} old and {new} new lines are missing")
            line = self._line()
            old -= line.sign in " -"
            new -= line.sign in " +"
            if line.sign not in " +-" or old < 0 or new < 0:
                _fail(f"line {self._position} does not fit into the hunk '{header[0]}'; check the counts in '@@'")
            lines.append(line)
        return Hunk(start, tuple(lines))

    def _line(self) -> Line:
        """One line; `\\ No newline at end of file` after it takes its line end away. A blank one is blank context."""
        raw = self._lines[self._position]
        self._position += 1
        line = Line(" ", raw + "\n") if raw in ("", "\r") else Line(raw[0], raw[1:] + "\n")
        if self._position < len(self._lines) and self._lines[self._position].startswith(_NO_NEWLINE):
            self._position += 1
            return Line(line.sign, line.text.removesuffix("\n"))
        return line


Placed = list[tuple[int, Hunk]]


def _place(lines: list[str], hunks: Sequence[Hunk]) -> Placed | None:
    """Where each hunk goes: where it says, else the only place after the one before where it fits."""
    placed: Placed = []
    shift = end = 0
    for hunk in hunks:
        stated = hunk.start - 1 + shift
        if stated >= end and _fits(lines, hunk, stated):
            position = stated
        else:
            if not hunk.old:
                return None
            places = [place for place in range(end, len(lines) - len(hunk.old) + 1) if _fits(lines, hunk, place)]
            if len(places) != 1:
                return None
            position = places[0]
            shift = position - (hunk.start - 1)
        placed.append((position, hunk))
        end = position + len(hunk.old)
    return placed


def _fits(lines: list[str], hunk: Hunk, position: int) -> bool:
    if not hunk.old:
        return 0 <= position <= len(lines)
    return lines[position : position + len(hunk.old)] == hunk.old


def _merged(lines: list[str], placed: Placed, end: str | None) -> Iterator[str]:
    """The new lines. Those that stay are the file's own; with `end`, those that come get this line end."""
    position = 0
    for start, hunk in placed:
        yield from lines[position:start]
        position = start
        for line in hunk.lines:
            if line.sign == "+":
                yield line.text if end is None or not line.text.endswith("\n") else line.text[:-1] + end
            else:
                if line.sign == " ":
                    yield lines[position]
                position += 1
    yield from lines[position:]


def _header_name(text: str) -> str:
    name = text.split("\t", 1)[0].rstrip("\r").rstrip()
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        escaped = name[1:-1].encode("latin-1", "backslashreplace")
        return escaped.decode("unicode_escape").encode("latin-1", "replace").decode("utf-8", "replace")
    return name


def _misfit(text: str, lines: list[str], hunks: Sequence[Hunk]) -> Refusal:
    for number, hunk in enumerate(hunks, 1):
        if _place(lines, hunks[:number]) is None:
            context = context_of(text, "".join(hunk.old))
            message = (
                f"the diff does not apply: hunk {number} of {len(hunks)} (line {hunk.start}) does not match the file; "
                f"context and removed lines must be exact. Around the likely place:\n{context}"
            )
            return Refusal(Reason.PATCH_APPLY_FAILED, message, {"hunk": number, "context": context})
    return Refusal(Reason.PATCH_APPLY_FAILED, "the diff does not apply: its line ends differ from the file's")


def _fail(why: str) -> NoReturn:
    raise Refusal(Reason.PATCH_APPLY_FAILED, f"the diff cannot be applied: {why}")
