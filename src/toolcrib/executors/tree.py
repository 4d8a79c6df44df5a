"""The descendants of a process: found, counted, weighed, and ended to the last one."""

from __future__ import annotations

import os
import signal
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
FIRST_PAUSE, LONGEST_PAUSE = 0.0002, 0.005
"""What was killed is mostly gone in a fraction of a millisecond; what is not is not worth looking for all the time."""
SHORT_NAME = 15
"""As many letters of a program's name as the kernel keeps."""


def descendants(pid: int | str = "self") -> list[int]:
    """Every descendant the kernel knows of, parents before children."""
    found: list[int] = []
    waiting: list[int | str] = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def family(pid: int, mark: str) -> list[int]:
    """Every descendant, and every process that still carries this mark in its environment, whoever its parent is now.

    A process that turned itself into a daemon is nobody's descendant any more; what it was started with it still has.
    """
    sought = mark.encode()
    return list({*descendants(pid), *(each for each in _processes() if sought in _environment(each))} - {os.getpid()})


def left_behind(pids: list[int], sandbox: str) -> list[int]:
    """Those that the command had not waited for, without those that had ended by themselves.

    A sandbox program's own processes are none of the command's; what they held dies with them, so that there a dead
    process is one that was ended.
    """
    over = "X" if sandbox else "XZ"
    found = [(pid, *_name_and_state(pid)) for pid in pids]
    return [pid for pid, name, state in found if state not in over and name != sandbox[:SHORT_NAME]]


def memory(pids: list[int]) -> int:
    """Bytes of memory that these processes hold together; shared pages count once per process."""
    return sum(map(_resident, pids))


def kill_descendants(deadline: float) -> int:
    """Kill and reap until none is left or the deadline passes; gives how many are still there."""
    pause = FIRST_PAUSE
    while True:
        alive = descendants()
        for pid in alive:
            _kill(pid)
        if _reap_all() or time.monotonic() > deadline:
            return len(descendants())
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def kill_namespace(deadline: float) -> None:
    """As the first process of a namespace: kill everything else in it."""
    pause = FIRST_PAUSE
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
        if _reap_all() or time.monotonic() > deadline:
            return
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as opened:
            return opened.read()
    except OSError:
        return b""  # it ended meanwhile, or is somebody else's


def _children(pid: int | str) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as children:
                found += map(int, children.read().split())
    except OSError:
        return found  # it ended meanwhile
    return found


def _name_and_state(pid: int) -> tuple[str, str]:
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as stat:
            name, _, rest = stat.read().partition("(")[2].rpartition(")")
    except OSError:
        return "", "X"  # it ended meanwhile
    return name, rest.split()[0]


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * PAGE
    except OSError:
        return 0  # it ended meanwhile


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap_all() -> bool:
    """Collect every child that has ended; True when there is none left at all."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return False
