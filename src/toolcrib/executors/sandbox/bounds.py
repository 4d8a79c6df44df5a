"""What a sandboxed command may reach: folders to read, folders to write, and whether there is a network."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum

from toolcrib.values.noun import frozen


class Network(StrEnum):
    OFF = "off"
    ON = "on"


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap")
ETC = frozenset(
    {"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "gai.conf", "gitconfig", "group"}
    | {"host.conf", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime"}
    | {"magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "profile", "protocols", "resolv.conf"}
    | {"services", "shells", "ssl", "terminfo", "timezone"}
)
"""What programs need of /etc. The rest of it stays outside, and with it whatever only root should read."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@frozen(kw_only=True)
class Bounds:
    """Real paths. `hidden` lies inside what is reachable and must not be seen; `fixed` there must not be changed."""

    write: tuple[str, ...]
    read: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    network: Network = Network.OFF

    @classmethod
    def of(
        cls,
        write: Iterable[str],
        *,
        read: Iterable[str] = (),
        hidden: Iterable[str] = (),
        fixed: Iterable[str] = (),
        network: Network = Network.OFF,
    ) -> Bounds:
        """Bounds from paths as they are written; what does not exist is left out."""
        return cls(
            write=_real(write), read=_real(read), hidden=_real(hidden), fixed=_real(fixed), network=network
        )  # fmt: skip

    def shows(self, path: str) -> bool:
        """Whether a command in these bounds can see a real path."""
        if any(holds(root, path) for root in self.hidden):
            return False
        return any(holds(root, path) for root in (*self.write, *self.read, *SYSTEM))


def system_folders() -> list[str]:
    """Where programs and libraries are; on most systems some of these are links into /usr."""
    return [path for path in SYSTEM if os.path.lexists(path) and (os.path.islink(path) or os.listdir(path))]


def etc_paths() -> list[str]:
    return [path for name in sorted(ETC) if os.path.exists(path := f"/etc/{name}")]


def holds(root: str, path: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    found = (os.path.realpath(path) for path in paths)
    return tuple(dict.fromkeys(path for path in found if os.path.exists(path)))
