"""Attempts to get out of a sandbox, run inside it as a program of their own. Standard library only.

An attempt that returns has escaped; one that raises was held. What each did is told as one JSON line.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class World:
    """What the host has prepared: things that an escape would reach."""

    outside: str
    secret: str
    home: str
    workspace: str
    pid: int
    port: int
    unix_socket: str
    abstract_socket: str
    variable: str


Attempt = Callable[[World], object]
ATTEMPTS: dict[str, Attempt] = {}


def attempt(name: str) -> Callable[[Attempt], Attempt]:
    def add(function: Attempt) -> Attempt:
        ATTEMPTS[name] = function
        return function

    return add


def main(world: World) -> None:
    """Try everything and tell what came of it."""
    for name, function in ATTEMPTS.items():
        try:
            told = {"name": name, "held": False, "detail": str(function(world))[:200]}
        except Exception as error:
            told = {"name": name, "held": True, "detail": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(told), flush=True)


def _write(path: str) -> str:
    with open(path, "w") as file:
        file.write("escaped")
    return path


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _libc(result: int, what: str) -> str:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return what


def _syscall(number: int, *arguments: object) -> int:
    return ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)


X86 = os.uname().machine == "x86_64"


@attempt("write a file outside the workspace")
def _(world: World) -> object:
    return _write(f"{world.outside}/written")


@attempt("read a file outside the workspace")
def _(world: World) -> object:
    return _read(world.secret)


@attempt("change a file outside the workspace")
def _(world: World) -> object:
    with open(world.secret, "a") as file:
        return file.write("changed")


@attempt("delete a file outside the workspace")
def _(world: World) -> object:
    return os.unlink(world.secret)


@attempt("list Toolcrib's home")
def _(world: World) -> object:
    return next(iter(os.listdir(world.home)))


@attempt("read Toolcrib's database")
def _(world: World) -> object:
    return _read(f"{world.home}/toolcrib.db")


@attempt("write through a symbolic link that leads out")
def _(world: World) -> object:
    link = f"{world.workspace}/link"
    os.symlink(world.outside, link)
    return _write(f"{link}/linked")


@attempt("make a hard link to a file outside")
def _(world: World) -> object:
    os.link(world.secret, f"{world.workspace}/hard")
    return _read(f"{world.workspace}/hard")


@attempt("move a file from outside into the workspace")
def _(world: World) -> object:
    return os.rename(world.secret, f"{world.workspace}/moved")


@attempt("change the mode of a file outside")
def _(world: World) -> object:
    return os.chmod(world.secret, 0o777)


@attempt("truncate a file outside")
def _(world: World) -> object:
    return os.truncate(world.secret, 0)


@attempt("write to the system's configuration")
def _(world: World) -> object:
    return _write("/etc/toolcrib-escape")


@attempt("write among the system's programs")
def _(world: World) -> object:
    return _write("/usr/bin/toolcrib-escape")


@attempt("read the password hashes")
def _(world: World) -> object:
    return _read("/etc/shadow")[:20]


@attempt("open a TCP connection to the host")
def _(world: World) -> object:
    return socket.create_connection(("127.0.0.1", world.port), timeout=1)


@attempt("send a UDP packet")
def _(world: World) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packet:
        return packet.sendto(b"escaped", ("192.0.2.1", 53))


@attempt("open a raw socket")
def _(world: World) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attempt("connect to a service on a Unix socket")
def _(world: World) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect(world.unix_socket)


@attempt("connect to a service on an abstract socket")
def _(world: World) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect("\0" + world.abstract_socket)


@attempt("signal a process of the host")
def _(world: World) -> object:
    return os.kill(world.pid, signal.SIGUSR1)


@attempt("read the environment of a process of the host")
def _(world: World) -> object:
    return _read(f"/proc/{world.pid}/environ")[:20] or _nothing_read()


@attempt("trace a process of the host")
def _(world: World) -> object:
    ptrace_attach = 16
    return _libc(_syscall(101 if X86 else 117, ptrace_attach, world.pid, 0, 0), "ptrace")


@attempt("reach the root of a process of the host")
def _(world: World) -> object:
    return os.listdir(f"/proc/{world.pid}/root{world.home}")


@attempt("mount a file system")
def _(world: World) -> object:
    libc = ctypes.CDLL(None, use_errno=True)
    return _libc(libc.mount(b"none", world.workspace.encode(), b"tmpfs", 0, None), "mount")


@attempt("mount the root writable again")
def _(world: World) -> object:
    libc = ctypes.CDLL(None, use_errno=True)
    return _libc(libc.mount(b"none", b"/usr", None, 32 | 4096, None), "remount")


@attempt("enter a new user namespace")
def _(world: World) -> object:
    return _libc(ctypes.CDLL(None, use_errno=True).unshare(0x10000000), "unshare")


@attempt("change the root folder")
def _(world: World) -> object:
    return os.chroot(world.workspace)


@attempt("make a device file")
def _(world: World) -> object:
    return os.mknod(f"{world.workspace}/disk", 0o60600, os.makedev(8, 0))


@attempt("use the kernel's key store")
def _(world: World) -> object:
    return _libc(_syscall(250 if X86 else 219, 0, -3, 0), "keyctl")


@attempt("load a program into the kernel")
def _(world: World) -> object:
    return _libc(_syscall(321 if X86 else 280, 0, struct.pack("IIII", 2, 4, 4, 1), 16), "bpf")


@attempt("open files by handle")
def _(world: World) -> object:
    return _libc(_syscall(304 if X86 else 265, -100, ctypes.create_string_buffer(128), 0), "open_by_handle_at")


@attempt("set up an I/O ring")
def _(world: World) -> object:
    return _libc(_syscall(425, 1, ctypes.create_string_buffer(120)), "io_uring_setup")


@attempt("type into a terminal")
def _(world: World) -> object:
    master, slave = os.openpty()
    try:
        return fcntl.ioctl(slave, 0x5412, b"x")
    finally:
        os.close(master)
        os.close(slave)


@attempt("change a kernel setting")
def _(world: World) -> object:
    with open("/proc/sys/kernel/core_pattern", "a"):
        return "the pattern for core dumps, which can name a program to run, is open for writing"


@attempt("keep a capability")
def _(world: World) -> object:
    status = dict(line.split(":\t") for line in _read("/proc/self/status").splitlines() if ":\t" in line)
    if any(int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")):
        return status["CapEff"]
    raise PermissionError("none is left")


@attempt("gain privileges from a setuid program")
def _(world: World) -> object:
    status = _read("/proc/self/status")
    if "NoNewPrivs:\t1" not in status:
        return "no_new_privs is not set"
    raise PermissionError("no_new_privs is set")


@attempt("find an open file of the host")
def _(world: World) -> object:
    found = [name for name in os.listdir("/proc/self/fd") if int(name) > 2 and _is_open(int(name))]
    return found[0]


@attempt("see a variable of the host's environment")
def _(world: World) -> object:
    return os.environ[world.variable]


@attempt("leave a process behind")
def _(world: World) -> object:
    if os.fork() == 0:
        os.setsid()
        signal.pause()
    raise PermissionError("whether it stays is seen from outside")


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _nothing_read() -> object:
    raise PermissionError("nothing was there to read")


if __name__ == "__main__":
    main(World(**json.loads(sys.argv[1])))
