"""From files and arguments to one `Config`: the user's file, narrowed by the project's, then the overrides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from toolcrib.config.config import Config, Given
from toolcrib.config.document import read_document
from toolcrib.config.home import Home, find_root, user_home
from toolcrib.config.keys import Key, all_keys, built, members
from toolcrib.config.narrowing import Widens
from toolcrib.config.problems import (
    MAX_SHOWN,
    At,
    Invalid,
    InvalidConfig,
    KeyPath,
    Level,
    Problem,
    kind_with_article,
    not_known,
    show_key,
)
from toolcrib.values.json import Json

PROJECT_FILE = "toolcrib.toml"
ARGUMENT = "config argument"


def load(
    home: Path | None, project: Path | None, overrides: Mapping[str, Json] | None, environ: Mapping[str, str]
) -> Config:
    """Read every layer and combine them; `InvalidConfig` lists all that is wrong with them."""
    root = find_root(home, environ)
    reader = _Reader(user_home(environ))
    paths = Home.at(root)
    layers = [reader.file(Level.USER, paths.config)]
    if project is not None:
        project = project.absolute()
        layers.append(reader.file(Level.PROJECT, _project_file(project)))
    layers.append(reader.arguments(overrides or {}))
    _refuse(reader.problems)
    combined = _Combined(paths.config)
    for layer in layers:
        combined.add(layer)
    _refuse(combined.problems)
    combined.hold_to_ceilings()
    return Config(
        **built(Config, combined.values),
        home=Home.at(root, combined.values["store.path"]),
        project=project,
        sources=tuple(combined.sources),
        places=MappingProxyType(combined.places),
    )


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise InvalidConfig(problems)


def _project_file(project: Path) -> Path:
    if not project.is_dir():
        raise InvalidConfig([Problem(str(project), "", "is not a folder, so it cannot be the project")])
    misplaced = project / ".toolcrib" / "config.toml"
    if misplaced.exists():
        message = f"is not read: a project's settings, which only narrow, belong in {project / PROJECT_FILE}"
        raise InvalidConfig([Problem(str(misplaced), "", message)])
    return project / PROJECT_FILE


class _Layer:
    """What one file or argument says: typed values by dotted key."""

    def __init__(self, level: Level, locate: Callable[[KeyPath], str]) -> None:
        self.level = level
        self.locate = locate
        self.values: dict[str, Any] = {}


class _Reader:
    """Reads layers and keeps every problem with them, so that all can be told at once."""

    def __init__(self, user_home: Path) -> None:
        self.user_home = user_home
        self.problems: list[Problem] = []

    def file(self, level: Level, path: Path) -> _Layer:
        try:
            document = read_document(path)
        except InvalidConfig as error:
            self.problems += error.problems
            document = None
        if document is None:
            return _Layer(level, lambda key: str(path))
        layer = _Layer(level, document.locate)
        self._section(Config, document.content, self._at(layer), layer)
        return layer

    def arguments(self, overrides: Mapping[str, Json]) -> _Layer:
        """Overrides come nested, dotted, or both; each top-level entry is read as a small document of its own."""
        layer = _Layer(Level.OVERRIDE, lambda key: ARGUMENT)
        for name, value in cast("Mapping[object, object]", overrides).items():
            first, *rest = name.split(".") if isinstance(name, str) else (name,)
            for part in reversed(rest):
                value = {part: value}
            self._section(Config, {first: value}, self._at(layer), layer)
        return layer

    def _at(self, layer: _Layer) -> At:
        return At((), layer.level, self.user_home, layer.locate)

    def _section(self, holder: type[object], table: Mapping[Any, object], at: At, layer: _Layer) -> None:
        known = members(holder)
        for name, value in table.items():
            inside = at.inside(name if isinstance(name, str) else repr(name))
            member = known.get(name)
            if member is None:
                self._problem(inside, self._unknown(inside, known))
            elif isinstance(member, Key):
                self._key(member, value, inside, layer)
            elif isinstance(value, Mapping):
                self._section(member, cast("Mapping[Any, object]", value), inside, layer)
            else:
                self._problem(inside, f"must be a table, not {kind_with_article(value)}")

    def _key(self, key: Key[Any], value: object, at: At, layer: _Layer) -> None:
        name = show_key(at.path)
        if name in layer.values:
            self._problem(at, "is given twice")
            return
        try:
            layer.values[name] = key.kind.read(value, at)
        except Invalid as invalid:
            self.problems += [Problem(at.locate(path), show_key(path), message) for path, message in invalid.mistakes]

    def _unknown(self, at: At, known: Mapping[str, object]) -> str:
        if len(self.problems) >= MAX_SHOWN:  # it will not be shown, and a file may hold very many
            return "is not a known key"
        around = show_key(at.path[:-1])
        here = {name: f"{around}.{name}" if around else name for name in known}
        return not_known(str(at.path[-1]), here, {name.rpartition(".")[2]: name for name, _ in all_keys(Config)})

    def _problem(self, at: At, message: str) -> None:
        self.problems.append(Problem(at.place, show_key(at.path), message))


class _Combined:
    """The layers so far, one over the other."""

    def __init__(self, user_file: Path) -> None:
        self.user_file = user_file
        self.keys: dict[str, Key[Any]] = dict(all_keys(Config))
        self.values: dict[str, Any] = {name: key.default for name, key in self.keys.items()}
        self.places: dict[str, str] = {}
        self.sources: list[Given] = []
        self.problems: list[Problem] = []

    def add(self, layer: _Layer) -> None:
        for name, wanted in layer.values.items():
            key, path = self.keys[name], tuple(name.split("."))
            if layer.level is Level.PROJECT:
                self._narrow(name, key, wanted, layer)
            else:
                self.values[name] = key.combine(self.values[name], wanted)
            place = layer.locate(path)
            self.sources.append(Given(name, layer.level, place))
            before = self.places.get(name) if key.adds_up else None
            self.places[name] = f"{before}, {place}" if before else place

    def hold_to_ceilings(self) -> None:
        """Bring every value down to the sibling that bounds it: lowering one limit must not need lowering two."""
        for name, key in self.keys.items():
            ceiling = f"{name.rpartition('.')[0]}.{key.at_most}"
            if key.at_most and self.values[name] > self.values[ceiling]:
                self.values[name] = self.values[ceiling]
                self.places[name] = f"held to {ceiling} ({self.places.get(ceiling, 'default')})"

    def _narrow(self, name: str, key: Key[Any], wanted: object, layer: _Layer) -> None:
        try:
            self.values[name] = key.project.narrow(self.values[name], wanted)
        except Widens as widens:
            for inside, why in widens.reasons.items():
                path = (*name.split("."), *inside)
                message = f"{why}; only the user's {self.user_file} may widen it"
                self.problems.append(Problem(layer.locate(path), show_key(path), message))
