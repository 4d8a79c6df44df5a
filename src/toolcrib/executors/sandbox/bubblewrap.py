"""The sandbox by bubblewrap: namespaces of its own, and only what is bound into them exists."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator

from toolcrib.executors.sandbox.bounds import Bounds, Network, etc_paths, holds, system_folders
from toolcrib.executors.sandbox.seccomp import Severity, filter_program
from toolcrib.values.noun import frozen
from toolcrib.values.process import Confinement

PROBE_SECONDS = 5
# Without dropping all capabilities a command that runs as root remounts its way out.
BASE = ("--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL")
NO_NESTING = ("--unshare-user", "--disable-userns")


@frozen
class Bubblewrap:
    """bubblewrap as it works on this machine."""

    program: str
    nesting: tuple[str, ...]
    etc: str
    """A folder that is /etc inside: one mount instead of thirty, each of which would cost half a millisecond."""
    name: str = "bubblewrap"

    def confine(self, bounds: Bounds, cwd: str) -> Confinement:
        """The words that put a command inside the bounds."""
        if not os.path.isdir(self.etc):  # folders for temporary files are swept now and then
            _copy_etc(os.path.dirname(self.etc))
        words = [self.program, *_fixed_part(self.nesting)]
        if bounds.network is Network.ON:
            words.append("--share-net")
        words += [*_mounts(bounds, self.etc), "--chdir", cwd, "--seccomp", "{filter:0}", "--"]
        return Confinement(self.name, tuple(words), filters=(filter_program(Severity.INSIDE_NAMESPACES),))

    def shortfall(self, bounds: Bounds) -> str | None:
        """Why these bounds cannot be kept; None when they can."""
        return None


def find_bubblewrap(temporary: str, search_path: str | None = None) -> Bubblewrap | str:
    """bubblewrap if it works here, else the reason and what would help."""
    program = shutil.which("bwrap", path=search_path)
    if program is None:
        return "bubblewrap is not installed; install the package 'bubblewrap'"
    problem, etc = "", _copy_etc(temporary)
    for nesting in (NO_NESTING, ()):
        problem = _try(program, nesting, etc)
        if not problem:
            return Bubblewrap(program, nesting, etc)
    return f"bubblewrap does not work here ({problem}); allow user namespaces, or install it setuid root"


def _copy_etc(temporary: str) -> str:
    """Copy what programs need of /etc; nothing that is not readable by everyone."""
    place = os.path.join(temporary, "etc")
    os.makedirs(place, exist_ok=True)
    for path in etc_paths():
        target = os.path.join(place, os.path.basename(path))
        if os.path.isdir(path):
            shutil.copytree(path, target, symlinks=True, ignore=_private, dirs_exist_ok=True)
        elif _is_public(path):
            shutil.copyfile(path, target)
    return place


def _private(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not _is_public(os.path.join(folder, name))]


def _is_public(path: str) -> bool:
    if os.path.islink(path):
        return True
    mode = os.stat(path).st_mode
    return bool(mode & stat.S_IROTH) and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _try(program: str, nesting: tuple[str, ...], etc: str) -> str:
    words = [program, *_fixed_part(nesting), *_mounts(Bounds(write=()), etc), "--", shutil.which("true") or "/bin/true"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PROBE_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode(errors="replace").strip()[:300]
    return "" if done.returncode == 0 else said or f"exit code {done.returncode}"


def _fixed_part(nesting: tuple[str, ...]) -> list[str]:
    return [*BASE, *nesting]


def _mounts(bounds: Bounds, etc: str) -> list[str]:
    words = ["--ro-bind", etc, "/etc"]
    for path in system_folders():
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    # bubblewrap leaves the kernel's settings writable, and for root they are: core_pattern alone is a way out.
    words += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    # The root is a file system in memory already: two more of the kind would only cost time.
    words += ["--perms", "1777", "--dir", "/tmp", "--dir", "/run"]
    # Outer folders first: what is mounted later lies on top of what was mounted before.
    for path, kind in sorted(_bound(bounds)):
        words += ["--tmpfs", path] if kind == "--tmpfs" else [kind, path, path]
    return words


def _bound(bounds: Bounds) -> Iterator[tuple[str, str]]:
    for path in bounds.read:
        if not any(holds(root, path) for root in ("/usr", *bounds.write)):
            yield path, "--ro-bind"
    for path in bounds.write:
        yield path, "--bind"
    for path in bounds.fixed:
        yield path, "--ro-bind"
    for path in bounds.hidden:
        if any(holds(root, path) for root in (*bounds.write, *bounds.read)):
            yield path, "--tmpfs"
