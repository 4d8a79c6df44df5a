"""Who holds a lease, in words an operator can find, and whether that process is certainly no more."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_PROC = Path("/proc")


def owner_name() -> str:
    """Host, process, and parts that tell this process from any other that ever had its number."""
    pid = os.getpid()
    started, _ = _life(pid) or ("", "")
    return f"{os.uname().nodename}:{pid}:{_machine()}-{started}-{os.urandom(4).hex()}"


def is_gone(owner: str) -> bool:
    """Whether an owner was a process of this very machine, since its start, that has ended. In doubt it lives.

    A lease is for owners that nobody can ask about; a process that can be looked up and is not there needs no patience.
    Should it live after all, its commits are fenced, as those of any owner whose lease ran out.
    """
    _, _, rest = owner.partition(":")
    pid, _, tail = rest.partition(":")
    machine, _, other = tail.partition("-")
    started, _, _ = other.partition("-")
    if not pid.isdigit() or not started or not machine or machine != _machine():
        return False
    life = _life(int(pid))
    return life is None or life[0] != started or life[1] in "ZX"


def _machine() -> str:
    """One boot of one machine, and one namespace of process numbers; "" where that cannot be told."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text()
        namespace = os.readlink(_PROC / "self/ns/pid")
        mounted = os.readlink(_PROC / "self")
    except OSError:
        return ""
    if mounted != str(os.getpid()):  # this /proc shows the numbers of another namespace
        return ""
    return hashlib.sha256(f"{boot}{namespace}".encode()).hexdigest()[:12]


def _life(pid: int) -> tuple[str, str] | None:
    """When a process was started, and its state; None when there is none."""
    try:
        facts = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:
        return ("?", "R")
    return facts[19], facts[0]
