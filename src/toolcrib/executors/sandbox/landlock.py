"""The sandbox by Landlock: the kernel's own file rules, for machines where namespaces are out of reach.

It cannot hide what lies inside an allowed folder and does not cover ownership, modes and sockets; a system call filter
forbids those altogether. Commands in it cannot chmod, and have no network of any kind unless it is switched on.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Sequence

from toolcrib.executors.sandbox import seccomp
from toolcrib.executors.sandbox.bounds import DEVICES, Bounds, Network, etc_paths, holds, system_folders
from toolcrib.values.noun import frozen
from toolcrib.values.process import Confinement

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
FIRST_RIGHTS = (1 << 13) - 1
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
SCOPES = 0b11
"""Abstract sockets and signals stay inside (from version 6 on)."""
OLDEST = 2
"""Version 1 cannot tell a move within a folder from one out of it."""


@frozen
class Landlock:
    """Landlock as this kernel has it."""

    version: int
    temporary: str
    name: str = "landlock"

    def confine(self, bounds: Bounds, cwd: str) -> Confinement:
        """The restrictions that a command takes on before it begins."""
        open_network = bounds.network is Network.ON
        severity = seccomp.Severity.WITHOUT_NAMESPACES
        if open_network:
            severity = seccomp.Severity.WITHOUT_NAMESPACES_BUT_NETWORK
        return Confinement(
            self.name,
            restrictions={
                "version": self.version,
                "read": [*system_folders(), *etc_paths(), "/proc", *bounds.read],
                "write": [*bounds.write, *DEVICES, self.temporary],
                "filter": seccomp.filter_program(severity).hex(),
            },
            environment={"TMPDIR": self.temporary},
        )

    def shortfall(self, bounds: Bounds) -> str | None:
        """Why these bounds cannot be kept; None when they can."""
        for path in bounds.hidden:
            if any(holds(root, path) for root in (*bounds.write, *bounds.read)):
                return (
                    f"Landlock cannot hide {path}, which lies inside a folder that commands may use; install bubblewrap"
                )
        return None


def find_landlock(temporary: str) -> Landlock | str:
    """Landlock if this kernel has it, else the reason and what would help."""
    if platform.system() != "Linux":
        return f"Landlock is part of Linux, and this is {platform.system()}"
    if (problem := seccomp.shortfall()) is not None:
        return problem
    version = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < OLDEST:
        return "this kernel has no Landlock (5.19 or newer, with lsm=landlock, has); boot one that does"
    return Landlock(version, temporary)


def restrict_files(version: int, read: Sequence[str], write: Sequence[str]) -> None:
    """Confine this process for good: it reads below some paths, writes below others, and sees nothing else."""
    libc = ctypes.CDLL(None, use_errno=True)
    handled = _rights(version)
    attributes = struct.pack("QQQ", handled, 0, SCOPES)[: 24 if version >= 6 else 8]
    ruleset = _checked(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0), "create")
    for path in read:
        _add(libc, ruleset, path, handled & (EXECUTE | READ_FILE | READ_DIR))
    for path in write:
        _add(libc, ruleset, path, handled)
    _checked(libc.syscall(RESTRICT_SELF, ruleset, 0), "restrict")
    os.close(ruleset)


def _rights(version: int) -> int:
    rights = FIRST_RIGHTS | REFER
    if version >= 3:
        rights |= TRUNCATE
    return rights | IOCTL_DEVICE if version >= 5 else rights


def _add(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # nothing to allow
    try:
        allowed = rights if os.path.isdir(path) else rights & ON_FILES
        _checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, descriptor), 0), path)
    finally:
        os.close(descriptor)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock ({what}): {os.strerror(number)}")
    return result
