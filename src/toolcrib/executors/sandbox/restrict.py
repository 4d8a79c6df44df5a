"""What a command without namespaces takes on just before it begins. Standard library only: it runs in the warden."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from typing import cast

from toolcrib.executors.sandbox.landlock import restrict_files
from toolcrib.executors.sandbox.seccomp import install, no_new_privileges
from toolcrib.values.json import JsonObject

PR_CAPBSET_DROP, CAPABILITY_VERSION_3, HIGHEST_CAPABILITY = 24, 0x20080522, 63


def restrict(restrictions: JsonObject) -> None:
    """Give up capabilities, files and system calls, in this order; OSError when any of it fails."""
    no_new_privileges()
    drop_capabilities()
    version = cast("int", restrictions["version"])
    restrict_files(version, cast("list[str]", restrictions["read"]), cast("list[str]", restrictions["write"]))
    install(bytes.fromhex(cast("str", restrictions["filter"])))


def drop_capabilities() -> None:
    """Be no more than the owner of one's own files, even as root."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in range(HIGHEST_CAPABILITY + 1):
            with contextlib.suppress(OSError):
                libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    if libc.capset(header, struct.pack("6I", 0, 0, 0, 0, 0, 0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")
