"""Write the hashed pins anew from pyproject.toml and the *.in files; `--upgrade` also moves to newer versions."""

import sys
from pathlib import Path

from environment import ROOT, UV, ensure_uv, run

PINS = Path("requirements")
PEER_PINS = Path("bench/peers/requirements")
SERVER_PINS = Path("tests/servers")


def main() -> None:
    ensure_uv()
    _compile(PINS / "tools.txt", [str(PINS / "tools.in")])
    dev = PINS / "dev.txt"
    _compile(dev, ["pyproject.toml", "--extra", "all", str(PINS / "dev.in")])
    # What users get is resolved inside what is tested, so that the two never name different versions.
    _compile(PINS / "core.txt", ["pyproject.toml", "--constraint", str(dev)])
    _compile(PINS / "all.txt", ["pyproject.toml", "--extra", "all", "--constraint", str(dev)])
    _compile(SERVER_PINS / "requirements.txt", [str(SERVER_PINS / "requirements.in")])
    for wanted in sorted((ROOT / PEER_PINS).glob("*.in")):
        _compile(PEER_PINS / f"{wanted.stem}.txt", [str(PEER_PINS / wanted.name)])


def _compile(output: Path, sources: list[str]) -> None:
    command = [str(UV), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--custom-compile-command", "make pins"]
    run([*command, *sys.argv[1:], "--output-file", str(output), *sources])
    print(f"{output}: {sum('==' in line for line in (ROOT / output).read_text().splitlines())} distributions")


if __name__ == "__main__":
    main()
