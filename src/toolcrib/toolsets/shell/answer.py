"""What a command's end looks like to a model: the output that matters, cleaned, and how it ended."""

from __future__ import annotations

import re

from toolcrib.values.process import Captured, End, Ended
from toolcrib.values.refusal import RETRYABLE, Reason
from toolcrib.values.result import ArtifactRef, Block, Text, ToolError, ToolReturn
from toolcrib.values.words import were

# Nothing in these may look further than to the next escape: a command can write a million of them.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MOST_LINES = 1_800
"""Lines of an output that are shown: fewer than a result may have, so that it is not cut a second time."""
_REASONS = {
    End.TIMED_OUT: Reason.TIMEOUT,
    End.STOPPED: Reason.CANCELLED,
    End.LOST: Reason.INTERNAL_ERROR,
    End.TOO_MANY_PROCESSES: Reason.VALIDATION_ERROR,
    End.OUT_OF_MEMORY: Reason.VALIDATION_ERROR,
}


def answer(ended: Ended, explained: str, artifacts: list[ArtifactRef], shown: int) -> ToolReturn:
    """The result of a command that ran; one that was ended by force is an error that keeps its output."""
    text = output_text(ended.stdout, ended.stderr, shown)
    parts = [text or "(no output)"]
    if explained:
        parts.append(f"[{explained}]")
    if ended.leftover and ended.end in (End.EXITED, End.SIGNALLED):
        parts.append(f"[{were(ended.leftover, 'background process', 'background processes')} left behind, and ended.]")
    content: tuple[Block, ...] = (Text("\n".join(parts)), *artifacts)
    reason = _REASONS.get(ended.end)
    error = None if reason is None else ToolError(reason, explained, reason in RETRYABLE, {"partial": bool(text)})
    metadata = {
        "exit_code": ended.code,
        "signal": ended.signal,
        "end": ended.end.value,
        "stdout_bytes": ended.stdout.total,
        "stderr_bytes": ended.stderr.total,
        "seconds": round(ended.seconds, 3),
    }
    return ToolReturn(content, metadata, error)


def output_text(stdout: Captured, stderr: Captured, shown: int) -> str:
    """Both outputs as one text of bounded length; the end of each matters more than its middle."""
    out, err = (clean(stream.text()).rstrip("\n") for stream in (stdout, stderr))
    missing, missing_err = (stream.dropped - len(stream.gap) for stream in (stdout, stderr))
    if not err:
        return cut(out, shown, missing)
    room = max(shown // 3, shown - len(out))
    err = cut(err, room, missing_err)
    out = cut(out, max(shown - len(err), shown // 3), missing)
    return f"{out}\n[stderr]\n{err}" if out else f"[stderr]\n{err}"


def clean(text: str) -> str:
    """Text without what only a terminal understands: colours, overwritten progress lines, control characters."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", text)


def cut(text: str, most: int, missing: int = 0) -> str:
    """Beginning and end of a long text, cut at lines where that is near; `missing` are gone from its middle."""
    if len(text) <= most and text.count("\n") < MOST_LINES:
        return text
    head, tail = text[: most * 2 // 3], text[max(len(text) - most // 3, 0) :]
    head = head[: head.rfind("\n") + 1] if head.rfind("\n") > len(head) // 2 else head
    tail = tail[tail.find("\n") + 1 :] if 0 <= tail.find("\n") < len(tail) // 2 else tail
    head = "".join(head.splitlines(keepends=True)[: MOST_LINES * 2 // 3])
    tail = "".join(tail.splitlines(keepends=True)[-(MOST_LINES // 3) :])
    return f"{head}\n[… {len(text) - len(head) - len(tail) + missing:,} characters left out …]\n{tail}"
