"""A system call filter, written out as the small program that the kernel runs before each call."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from enum import StrEnum

from toolcrib.executors.sandbox.calls import AARCH64, BOTH, X86_64

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE = 0, 4
NEW_NAMESPACES = 0x7E020080
TERMINAL_INPUT = (0x5412, 0x541C)
"""ioctls that type into a terminal: what is typed there is run by whoever sits at it."""
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 38, 22, 2

_MACHINES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}
_METADATA = frozenset(
    {"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr"}
    | {"fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat"}
)
_SPECIAL = frozenset({"clone", "clone3", "socket", "ioctl"})


class Severity(StrEnum):
    """What surrounds the filter: namespaces that confine by themselves, or nothing but Landlock."""

    INSIDE_NAMESPACES = "inside namespaces"
    WITHOUT_NAMESPACES = "without namespaces"
    WITHOUT_NAMESPACES_BUT_NETWORK = "without namespaces, with a network"


def shortfall() -> str | None:
    """Why there can be no filter on this machine; None when there can."""
    if platform.system() != "Linux" or platform.machine() not in _MACHINES:
        return f"no system call filter is known for {platform.system()} on {platform.machine()}"
    return None


def filter_program(severity: Severity) -> bytes:
    """The filter: forbidden calls fail with EPERM, everything else goes through."""
    architecture, own = _MACHINES[platform.machine()]
    calls = {**own, **BOTH}
    alone = severity is not Severity.INSIDE_NAMESPACES
    program = [
        _step(LOAD, ARCHITECTURE),
        _step(JUMP_EQUAL, architecture, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
    ]
    if platform.machine() == "x86_64":
        program += [_step(JUMP_AT_LEAST, 0x40000000, 0, 1), _step(RETURN, ERRNO | errno.EPERM)]
    for name, number in calls.items():
        if name not in _SPECIAL and (alone or name not in _METADATA):
            program += _refuse(number, errno.EPERM)
    # clone3 keeps its flags in memory, where a filter cannot look; without it libraries fall back to clone.
    program += _refuse(calls["clone3"], errno.ENOSYS)
    program += [
        *_if_call(calls["clone"], 4),
        _argument(0),
        _step(JUMP_BITS, NEW_NAMESPACES, 0, 1),
        _refused(errno.EPERM),
        _allowed(),
    ]
    program += [*_if_call(calls["ioctl"], 5), _argument(1)]
    program += [
        _step(JUMP_EQUAL, TERMINAL_INPUT[0], 1, 0),
        _step(JUMP_EQUAL, TERMINAL_INPUT[1], 0, 1),
        _refused(errno.EPERM),
        _allowed(),
    ]
    if severity is Severity.WITHOUT_NAMESPACES:
        program += _refuse(calls["socket"], errno.EACCES)
    program.append(_allowed())
    return b"".join(program)


def install(program: bytes) -> None:
    """Put the filter on this process; there is no way to take it off."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    held = ctypes.create_string_buffer(header, len(header))
    no_new_privileges()
    if libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.c_void_p(ctypes.addressof(held)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")


def no_new_privileges() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"no_new_privs: {os.strerror(ctypes.get_errno())}")


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _refuse(number: int, error: int) -> list[bytes]:
    return [_step(JUMP_EQUAL, number, 0, 1), _refused(error)]


def _if_call(number: int, length: int) -> list[bytes]:
    return [_step(JUMP_EQUAL, number, 0, length)]


def _argument(index: int) -> bytes:
    return _step(LOAD, 16 + 8 * index)


def _refused(error: int) -> bytes:
    return _step(RETURN, ERRNO | error)


def _allowed() -> bytes:
    return _step(RETURN, ALLOW)
