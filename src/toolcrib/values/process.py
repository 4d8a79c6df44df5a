"""A process to be run and how it ended: what toolsets ask for and executors answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import StrEnum

from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING

KIB, MIB, GIB = 1024, 1024**2, 1024**3
Sink = Callable[[bytes], Awaitable[None]]
"""Takes output as it comes; the process waits while it is busy."""


@frozen(kw_only=True)
class ProcessLimits:
    """What one command and everything it starts may use; None = no limit of ours."""

    processes: int | None = 512
    memory: int | None = 8 * GIB
    file_size: int | None = 8 * GIB
    open_files: int | None = 8_192


@frozen
class Confinement:
    """How a sandbox wants a command started: words before it, and restrictions taken on just before it begins."""

    backend: str
    prefix: tuple[str, ...] = ()
    restrictions: JsonObject = NOTHING
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: tuple[bytes, ...] = ()
    """Programs for the kernel's system call filter; each is handed to the prefix as an open file, `{filter:N}`."""


class Stdin(StrEnum):
    """Input other than given bytes: none at all, or kept open to be written to."""

    EMPTY = "empty"
    OPEN = "open"


@frozen(kw_only=True)
class Job:
    """One command: a resolved program, its words, and everything it gets to see. There is no shell in it."""

    executable: str
    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    timeout: float
    stdin: bytes | Stdin = Stdin.EMPTY
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    confinement: Confinement | None = None
    keep_head: int = 256 * KIB
    keep_tail: int = 256 * KIB


class End(StrEnum):
    """How a process came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    TOO_MANY_PROCESSES = "too_many_processes"
    OUT_OF_MEMORY = "out_of_memory"
    LOST = "lost"


@frozen
class Captured:
    """What was kept of a stream: its beginning and its end; `total` counts everything that came."""

    head: bytes = b""
    tail: bytes = b""
    total: int = 0

    @property
    def dropped(self) -> int:
        """Bytes between head and tail that were not kept."""
        return self.total - len(self.head) - len(self.tail)

    @property
    def gap(self) -> str:
        """The note that stands for what was not kept."""
        return f"\n[… {self.dropped:,} bytes left out …]\n" if self.dropped else ""

    def text(self) -> str:
        """Head and tail as text, with a note where something is missing."""
        if not self.dropped:
            return (self.head + self.tail).decode(errors="replace")
        return self.head.decode(errors="ignore") + self.gap + self.tail.decode(errors="ignore")


@frozen(kw_only=True)
class Ended:
    """The end of a process. `leftover` counts what it had started and not waited for; all of that is dead too."""

    end: End
    code: int | None
    signal: int | None
    stdout: Captured
    stderr: Captured
    seconds: float
    leftover: int = 0
    pipes_held: bool = False
    """Something kept the output open after the end; it was not waited for."""
