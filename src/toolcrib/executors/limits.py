"""Limits a command takes on before it begins. Standard library only: this also runs in the warden."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from typing import cast

from toolcrib.values.json import JsonObject
from toolcrib.values.process import ProcessLimits

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWPID = 0x20000000


def limits_json(limits: ProcessLimits) -> JsonObject:
    """Limits as they travel to the warden."""
    return {
        "processes": limits.processes,
        "memory": limits.memory,
        "file_size": limits.file_size,
        "open_files": limits.open_files,
    }


def take_on(limits: JsonObject) -> None:
    """Limit this process and everything it will start; memory and number of processes are watched from outside."""
    _lower(resource.RLIMIT_CORE, 0)
    for kind, name in ((resource.RLIMIT_FSIZE, "file_size"), (resource.RLIMIT_NOFILE, "open_files")):
        if (value := limits[name]) is not None:
            _lower(kind, cast("int", value))
    if (processes := limits["processes"]) is not None and os.geteuid() != 0:
        # The kernel counts all threads of the user, so those of everyone are added to what the command may have.
        _lower(resource.RLIMIT_NPROC, cast("int", processes) + _threads_now())
    # When memory runs out the kernel should end the command, not the program that started it.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as adjust:
        adjust.write("500")


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends."""
    parent = os.getppid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none is lost sight of."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


class PidNamespaces:
    """New process namespaces for children, where we may make them: when the first process ends, so do all others."""

    def __init__(self, own: int | None) -> None:
        self._own = own

    @classmethod
    def of_this_process(cls) -> PidNamespaces:
        if os.geteuid() != 0:
            return cls(None)
        try:
            return cls(os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return cls(None)

    def enter_new(self) -> bool:
        """Make the next child the first process of a namespace of its own; False where that is not possible."""
        if self._own is None:
            return False
        libc = ctypes.CDLL(None, use_errno=True)
        # A process may ask for a new namespace only while its children would go to its own one: so back there first.
        return libc.setns(self._own, CLONE_NEWPID) == 0 and libc.unshare(CLONE_NEWPID) == 0


def _threads_now() -> int:
    with contextlib.suppress(OSError), open("/proc/loadavg") as load:
        return int(load.read().split()[3].split("/")[1])
    return 4_096


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, most))


def _prctl(option: int, value: int) -> None:
    try:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
    except AttributeError:
        return  # not Linux: the warden's own bookkeeping has to do
