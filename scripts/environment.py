"""Make or refresh one virtual environment from hashed pins.

    python3 scripts/environment.py .venv requirements/dev.txt --with-project

Needs Python 3.11, pip and the package registry; neither the venv module nor a system-wide install. Does nothing when
nothing changed.
"""

import argparse
import fcntl
import hashlib
import os
import ssl
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools" / "uv"
TOOL_PINS = ROOT / "requirements" / "tools.txt"
UV = TOOLS / "bin" / "uv"


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs on whatever python3 the machine has
        sys.exit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: run with PYTHON=python3.11")
    options = _options()
    environment, pins = ROOT / options.environment, ROOT / options.pins
    with _alone():
        ensure_uv()
        _refresh(environment, pins, [str(ROOT)] if options.with_project else [])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", help="folder of the environment, below the project")
    parser.add_argument("pins", help="requirements file with hashes")
    parser.add_argument("--with-project", action="store_true", help="also install the project itself, editable")
    return parser.parse_args()


@contextmanager
def _alone() -> Generator[None]:
    """Two set-ups at once would write the same files: the second waits."""
    (ROOT / ".tools").mkdir(exist_ok=True)
    with (ROOT / ".tools" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure_uv() -> None:
    """Install the pinned uv with pip into a local folder: Debian's pip allows that where it refuses a plain install."""
    stamp = TOOLS / ".stamp"
    wanted = _digest(TOOL_PINS)
    if _is(stamp, wanted):
        return
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--root-user-action=ignore"]
    run([*pip, "--upgrade", "--no-deps", "--require-hashes", "--target", str(TOOLS), "-r", str(TOOL_PINS)])
    stamp.write_text(wanted)


def _refresh(environment: Path, pins: Path, projects: list[str]) -> None:
    stamp = environment / ".stamp"
    python = environment / "bin" / "python"
    # The path and the interpreter belong to the digest: a moved or copied tree has scripts that start the old one.
    settings = [Path(project) / "pyproject.toml" for project in projects]
    wanted = _digest(pins, Path(__file__), *settings, extra=f"{environment} {sys.version}")
    if _is(stamp, wanted):
        return
    print(f"setting up {environment.relative_to(ROOT)} from {pins.relative_to(ROOT)}", flush=True)
    stamp.unlink(missing_ok=True)
    run([str(UV), "venv", "--quiet", "--allow-existing", "--no-project", "--python", sys.executable, str(environment)])
    run([str(UV), "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(pins)])
    for project in projects:
        install = [str(UV), "pip", "install", "--quiet", "--python", str(python), "--no-deps", "--no-build-isolation"]
        run([*install, "--editable", project])
    stamp.write_text(wanted)


def _is(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text() == wanted


def _digest(*files: Path, extra: str = "") -> str:
    parts = [file.read_bytes() for file in files]
    return hashlib.sha256(b"\0".join([*parts, extra.encode()])).hexdigest()


def run(command: list[str]) -> None:
    """Run from the project's root; a failure ends the program with the command in one line."""
    done = subprocess.run(command, cwd=ROOT, env=_variables(), check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")


def _variables() -> dict[str, str]:
    """uv uses the machine's Python, and trusts what the machine trusts if it trusts anything, as pip does."""
    trusted = ssl.create_default_context().cert_store_stats()["x509_ca"] > 0
    return {"UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": str(trusted).lower(), **os.environ}


if __name__ == "__main__":
    main()
