"""Output on its way to an artifact: in a nameless file, up to a limit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

CHUNK = 1024 * 1024


class Spool:
    """Takes a stream and keeps the first part of it on disk, so that memory does not grow with output."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self.size = 0
        self.total = 0

    async def take(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._most - self.size
        if room > 0:
            self._file.write(chunk[:room])
            self.size += min(len(chunk), room)

    def chunks(self) -> Iterator[bytes]:
        self._file.seek(0)
        while chunk := self._file.read(CHUNK):
            yield chunk

    def close(self) -> None:
        self._file.close()
