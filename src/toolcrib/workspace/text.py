"""Text in files: which encoding, which line ends, or none at all because it is binary."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from enum import StrEnum

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

HEAD = 8 * 1024
HASHED = 8 * 1024 * 1024
"""Files up to this size are read whole and hashed by content; larger ones by inode, size and time."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_KNOWN = (
    (b"\x7fELF", "an ELF program"), (b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"), (b"%PDF", "a PDF document"), (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"), (b"SQLite format 3", "an SQLite database"), (b"\xfd7zXZ", "xz data"),
)  # fmt: skip


class LineEnd(StrEnum):
    LF = "lf"
    CRLF = "crlf"
    MIXED = "mixed"
    NONE = "none"


@frozen
class Text:
    """A whole file as text. Encoding it again gives the same bytes, so an edit changes only what it means to."""

    text: str
    encoding: str
    mark: bytes = b""

    @classmethod
    def decode(cls, body: bytes, shown: str) -> Text:
        """Refuses binary content; bytes that are no UTF-8 are taken one by one, so that nothing is lost."""
        for mark, encoding in _MARKS:
            if body.startswith(mark):
                return _marked(body, mark, encoding, shown)
        refuse_binary(body[:HEAD], len(body), shown)
        try:
            return cls(body.decode("utf-8"), "utf-8")
        except UnicodeDecodeError:
            return cls(body.decode("latin-1"), "latin-1")

    def encode(self, text: str, shown: str) -> bytes:
        """New text in the encoding of the old one."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = text[error.start]
            message = f"{shown} is encoded as {self.encoding}, which has no {letter!r}; use other characters"
            raise Refusal(Reason.VALIDATION_ERROR, message, {"encoding": self.encoding}) from error

    @property
    def name(self) -> str:
        """The encoding as it is told to a model."""
        return "utf-8-bom" if self.encoding == "utf-8" and self.mark else self.encoding

    @property
    def line_end(self) -> LineEnd:
        return line_end_of(self.text)


def line_end_of(text: str) -> LineEnd:
    """How the lines of a text end."""
    pairs = text.count("\r\n")
    lone = text.count("\n") - pairs
    if pairs and lone:
        return LineEnd.MIXED
    return LineEnd.CRLF if pairs else LineEnd.LF if lone else LineEnd.NONE


def refuse_binary(head: bytes, size: int, shown: str) -> None:
    """Refuse what is no text: a NUL byte, or more control characters than any text has."""
    if b"\0" not in head and len(_CONTROLS.findall(head)) * 10 <= len(head):
        return
    what = next((name for start, name in _KNOWN if head.startswith(start)), "binary")
    message = f"{shown} is {what} ({size:,} bytes), not text; use a tool that understands this kind of file"
    raise Refusal(Reason.BINARY_FILE, message, {"path": shown, "size": size, "kind": what})


def content_hash(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def stat_hash(status: os.stat_result) -> str:
    """What stands for the content of a file too large to hash at every read."""
    return f"stat:{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"


def _marked(body: bytes, mark: bytes, encoding: str, shown: str) -> Text:
    plain = {"utf-8-sig": "utf-8"}.get(encoding) or encoding + ("-le" if mark[:1] == b"\xff" else "-be")
    try:
        return Text(body[len(mark) :].decode(plain), plain, mark)
    except UnicodeDecodeError as error:
        message = f"{shown} says that it is {plain} but is not (byte {error.start}); it cannot be read as text"
        raise Refusal(Reason.BINARY_FILE, message, {"path": shown, "size": len(body)}) from error
