"""What file tools do to change text: read the declared file, compute the new text, replace it whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.words import counted
from toolcrib.workspace.answers import fact_answer
from toolcrib.workspace.arguments import refuse_redacted
from toolcrib.workspace.changes import KEPT_BYTES, Changes, Held, hold
from toolcrib.workspace.edits import Edit, apply_edits, context_of
from toolcrib.workspace.patch import Patch, apply_patch, check_names, parse_patch
from toolcrib.workspace.spots import Spot
from toolcrib.workspace.text import LineEnd, Text, line_end_of
from toolcrib.workspace.waiting import looking
from toolcrib.workspace.writing import Folders

_LEAST_HASH = 12


class Missing(StrEnum):
    """What an edit does about a file that does not exist."""

    CREATED = "created"
    REFUSED = "refused"


async def write_text(changes: Changes, spot: Spot, content: str, folders: Folders) -> ToolReturn:
    """A new file, or new content for an existing one in its own encoding and with its own line ends."""
    if spot.identity is None:
        digest = await changes.create(spot, content.encode(), folders)
        return _written("created", spot, content, digest)
    spot.file()
    held = await looking(partial(hold, changes.workspace, spot))
    try:
        body = b"".join(_like(held, content, spot.shown))
    except Refusal:
        body = content.encode()  # the old was no text, or its encoding cannot hold the new: it goes as a whole
    return _written("replaced", spot, content, await changes.replace(spot, held, body))


async def append_text(changes: Changes, spot: Spot, content: str) -> ToolReturn:
    """More text at the end of a file, which is made if there is none."""
    if spot.identity is None:
        return await write_text(changes, spot, content, Folders.MAKE)
    spot.file()
    held = await looking(partial(hold, changes.workspace, spot))
    _, body = _like(held, content, spot.shown)
    return _written("appended to", spot, content, await changes.append(spot, held, body))


async def edit_text(
    changes: Changes, spot: Spot, edits: Sequence[Edit], missing: Missing, expected_hash: str | None
) -> ToolReturn:
    """Exact edits in order."""
    if spot.identity is None and missing is Missing.CREATED and len(edits) == 1 and not edits[0].old:
        return await write_text(changes, spot, edits[0].new, Folders.MAKE)
    wanted = edits[0].old if edits else ""
    return await change_text(changes, spot, lambda text: apply_edits(text, edits, spot.shown), expected_hash, wanted)


async def patch_text(
    changes: Changes, spot: Spot, diff: str, missing: Missing, expected_hash: str | None
) -> ToolReturn:
    """A unified diff of this one file."""
    patch = parse_patch(diff)
    check_names(patch, (*spot.mount.root.split("/"), *spot.parts), spot.shown)
    refuse_redacted(*(line.text for hunk in patch.hunks for line in hunk.lines if line.sign == "+"))
    if spot.identity is None and missing is Missing.CREATED:
        return await write_text(changes, spot, apply_patch("", patch), Folders.MAKE)
    if patch.creates:
        spot_exists = f"{spot.shown} exists already" if spot.identity else "set create_if_missing to make the file"
        raise Refusal(Reason.PATCH_APPLY_FAILED, f"the diff makes a new file; {spot_exists}")
    wanted = "".join(_first_old(patch))
    return await change_text(changes, spot, lambda text: apply_patch(text, patch), expected_hash, wanted)


async def change_text(
    changes: Changes, spot: Spot, change: Callable[[str], str], expected_hash: str | None, wanted: str
) -> ToolReturn:
    """Read, change, replace; nothing is written unless the new text is whole and the file still the one read."""
    spot.file()
    held = await looking(partial(hold, changes.workspace, spot))
    if not held.whole:
        message = (
            f"{spot.shown} has {held.status.st_size:,} bytes; files above {KEPT_BYTES:,} cannot be edited in place"
        )
        raise Refusal(Reason.VALIDATION_ERROR, message, {"size": held.status.st_size})
    text = Text.decode(held.body, spot.shown)
    if expected_hash is not None and not same_hash(expected_hash, held.hash):
        raise _stale(spot, held, text.text, wanted)
    changed = change(text.text)
    digest = await changes.replace(spot, held, text.encode(changed, spot.shown))
    added = changed.count("\n") - text.text.count("\n")
    facts = {"path": spot.shown, "content_hash": digest, "lines_added": added, "bytes": len(changed.encode())}
    sign = f", {added:+d} lines" if added else ""
    return fact_answer(f"edited {spot.shown}{sign}; content_hash {digest}", facts)


def same_hash(expected: str, actual: str) -> bool:
    """Whether a hash that a model passed on is the file's; a beginning of it will do."""
    given = expected if ":" in expected else f"sha256:{expected}"
    return actual == given or (len(given) >= len("sha256:") + _LEAST_HASH and actual.startswith(given))


def _stale(spot: Spot, held: Held, text: str, wanted: str) -> Refusal:
    context = context_of(text, wanted)
    message = (
        f"{spot.shown} has changed since it was read (content_hash is now {held.hash}); look at it again and repeat "
        f"the edit. Around the likely place:\n{context}"
    )
    return Refusal(Reason.STALE_FILE, message, {"content_hash": held.hash, "context": context})


def _like(held: Held, content: str, shown: str) -> tuple[bytes, bytes]:
    """New content as the old was: its byte order mark, its encoding, and CRLF if all its lines ended so."""
    sample = held.body if held.whole else held.body[: held.body.rfind(b"\n") + 1]
    old = Text.decode(sample, shown)
    if old.line_end is LineEnd.CRLF and line_end_of(content) is LineEnd.LF:
        content = content.replace("\n", "\r\n")
    return old.mark, old.encode(content, shown).removeprefix(old.mark)


def _written(verb: str, spot: Spot, content: str, digest: str) -> ToolReturn:
    lines = content.count("\n") + (1 if content and not content.endswith("\n") else 0)
    size = len(content.encode())
    facts = {"path": spot.shown, "action": verb, "bytes": size, "lines": lines, "content_hash": digest}
    return fact_answer(
        f"{verb} {spot.shown}: {counted(lines, 'line')}, {counted(size, 'byte')}; content_hash {digest}", facts
    )


def _first_old(patch: Patch) -> list[str]:
    return patch.hunks[0].old
