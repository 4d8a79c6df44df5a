"""The home folder: where it is and what lies where in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolcrib.config.problems import InvalidConfig, Problem
from toolcrib.values.noun import frozen

VARIABLE = "TOOLCRIB_HOME"
FOLDERS = ("tools", "agents", "skills", "memory", "artifacts")


@frozen
class Home:
    """The paths below one home; none of them need exist."""

    root: Path
    config: Path
    database: Path
    artifacts: Path
    tools: Path
    agents: Path
    skills: Path
    memory: Path
    hooks: Path
    mcp: Path
    trust: Path

    @classmethod
    def at(cls, root: Path, database: Path = Path("toolcrib.db")) -> Home:
        """The home in this folder; a relative database path is below it."""
        return cls(
            root=root,
            config=root / "config.toml",
            database=root / database,
            artifacts=root / "artifacts",
            tools=root / "tools",
            agents=root / "agents",
            skills=root / "skills",
            memory=root / "memory",
            hooks=root / "hooks.json",
            mcp=root / "mcp.json",
            trust=root / "trust.json",
        )


def find_root(given: Path | None, environ: Mapping[str, str]) -> Path:
    """The argument, else TOOLCRIB_HOME, else `.toolcrib` in the user's home folder."""
    if given is not None:
        return _expanded(given, environ).absolute()
    named = environ.get(VARIABLE)
    if not named:
        return user_home(environ) / ".toolcrib"
    root = _expanded(Path(named), environ)
    if not root.is_absolute():
        # A relative home would make whatever folder one happens to stand in the operator's.
        raise InvalidConfig([Problem(f"environment variable {VARIABLE}", "", "must be an absolute path")])
    return root


def user_home(environ: Mapping[str, str]) -> Path:
    named = environ.get("HOME")
    return Path(named) if named and Path(named).is_absolute() else Path.home()


def _expanded(path: Path, environ: Mapping[str, str]) -> Path:
    return user_home(environ).joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path
