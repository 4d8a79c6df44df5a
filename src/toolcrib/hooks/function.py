"""Hooks as Python functions, found by `module:function` in the home's hooks folder or among the installed packages."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from toolcrib.hooks.aside import aside
from toolcrib.hooks.declared import BadAnswer, answer_of
from toolcrib.ports import HookAnswer
from toolcrib.values.json import JsonObject, canonical, parse_json
from toolcrib.values.noun import frozen


@frozen
class FunctionWay:
    """Calls a function with the occasion. It may be async; one that is not runs in a thread of its own."""

    place: str
    folder: Path

    async def __call__(self, occasion: JsonObject) -> HookAnswer:
        function = await aside(self._load)
        copy = parse_json(canonical(occasion))
        if inspect.iscoroutinefunction(function):
            return _answer(await function(copy))
        return _answer(await aside(lambda: function(copy)))

    def _load(self) -> Callable[..., Any]:
        """The function; loaded when it is first needed, so that one that is broken fails its own calls only."""
        module_name, _, name = self.place.partition(":")
        function = getattr(_module(module_name, self.folder), name, None)
        if not callable(function):
            raise BadAnswer(f"{module_name} has no function {name}")
        return function


def _module(name: str, folder: Path) -> ModuleType:
    """The home's own file first: whatever else happens to lie on the search path must not stand in for it."""
    file = folder / f"{name}.py"
    if file.is_file():
        return _own_module(file)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".", 1)[0] and error.name != name:
            raise
    raise BadAnswer(f"there is no module {name}, neither installed nor as {file}")


def _own_module(file: Path) -> ModuleType:
    """Loaded once for each content of each home's file, so that no home runs the hook of another or of yesterday."""
    source = file.read_bytes()
    private = f"_toolcrib_hooks_{hashlib.sha256(bytes(file) + source).hexdigest()}"
    if (known := sys.modules.get(private)) is not None:
        return known
    module = ModuleType(private)
    module.__file__ = str(file)
    exec(compile(source, str(file), "exec"), module.__dict__)
    sys.modules[private] = module
    return module


def _answer(value: object) -> HookAnswer:
    return value if isinstance(value, HookAnswer) else answer_of(value)  # pyright: ignore[reportArgumentType]
