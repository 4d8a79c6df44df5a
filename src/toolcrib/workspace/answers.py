"""What file tools answer: text that a model reads, with the facts that a program needs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcrib.values.json import JsonObject
from toolcrib.values.result import Text, ToolReturn
from toolcrib.values.words import counted, were
from toolcrib.workspace.lines import Window
from toolcrib.workspace.search import Hit, Searched, Verified
from toolcrib.workspace.tree import Entry


def window_answer(shown: str, window: Window, body: str, way_on: str) -> ToolReturn:
    """Lines of a file, then one line that says what they are and how to go on."""
    facts = window_facts(shown, window)
    if not window.lines and window.total == 0:
        note = f"[{shown} is empty; content_hash {window.hash}]"
    elif not window.lines:
        note = f"[{shown} has {window.total} lines; there is nothing from line {window.start} on]"
    else:
        of = f" of {window.total}" if window.total is not None else ""
        cut = f"; lines cut at 4096 bytes: {', '.join(map(str, window.cut[:20]))}" if window.cut else ""
        on = f"; more follows: {way_on}" if window.more else ""
        note = f"[{shown}, lines {window.start}-{window.end}{of}; content_hash {window.hash}{cut}{on}]"
    return ToolReturn((Text(f"{body}\n{note}" if body else note),), facts)


def window_facts(shown: str, window: Window) -> JsonObject:
    return {
        "path": shown,
        "start_line": window.start,
        "end_line": window.end,
        "total_lines": window.total,
        "truncated": window.more,
        "next_start_line": window.next,
        "truncated_lines": list(window.cut),
        "content_hash": window.hash,
        "size": window.size,
        "encoding": window.encoding,
        "line_ending": window.line_end.value,
    }


def fact_answer(text: str, facts: JsonObject) -> ToolReturn:
    """What a model reads, and the facts for programs. Lists are in the text alone, where they are bounded."""
    return ToolReturn((Text(text),), facts)


def listing_answer(shown: str, entries: Sequence[Entry], more: bool, total: int | None, hidden: int) -> ToolReturn:
    """Entries one per line, then how many there are and what was left out."""
    seen = (
        f"{len(entries)} of {total:,} entries"
        if more and total is not None
        else counted(len(entries), "entry", "entries")
    )
    notes = [f"{seen} in {shown}"]
    if more:
        notes.append("there are more: raise limit, or list a folder further down")
    if hidden:
        notes.append(f"{were(hidden, 'sensitive folder')} not entered")
    facts: JsonObject = {
        "path": shown,
        "count": len(entries),
        "truncated": more,
        "total": total,
        "sensitive_not_entered": hidden,
    }
    return fact_answer("\n".join([*(entry.line() for entry in entries), f"[{'; '.join(notes)}]"]), facts)


def search_answer(shown: str, verified: Verified, found: Searched) -> ToolReturn:
    """Hits grouped by file, then what was cut or left out."""
    hits = verified.hits
    matches = sum(hit.match for hit in hits)
    files = len({hit.path for hit in hits})
    notes = [
        f"{counted(matches, 'match', 'matches')} in {counted(files, 'file')} below {shown}"
        if matches
        else f"no match below {shown}"
    ]
    if found.truncated:
        notes.append("there are more: narrow the query, path or glob")
    if found.timed_out:
        notes.append("time ran out: this is not all")
    if found.left_out:
        notes.append(f"{were(found.left_out, 'sensitive file')} left out")
    if verified.hard_linked:
        notes.append(f"{were(verified.hard_linked, 'match', 'matches')} in hard-linked files: read them one by one")
    if verified.gone:
        notes.append(f"{were(verified.gone, 'match', 'matches')} gone when looked at")
    facts: JsonObject = {
        "count": matches,
        "files": files,
        "truncated": found.truncated,
        "timed_out": found.timed_out,
        "sensitive_left_out": found.left_out,
        "engine": found.engine,
    }
    return fact_answer("\n".join([*_hit_lines(hits), f"[{'; '.join(notes)}]"]), facts)


def _hit_lines(hits: Sequence[Hit]) -> Iterator[str]:
    previous: Hit | None = None
    for hit in hits:
        if previous is None or previous.path != hit.path:
            yield hit.path if previous is None else f"\n{hit.path}"
        elif hit.number > previous.number + 1:
            yield "  --"
        yield f"  {hit.number}{':' if hit.match else '-'} {hit.text}"
        previous = hit
