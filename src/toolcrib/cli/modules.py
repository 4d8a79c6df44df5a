"""Tools from Python code that the operator names: a file, or an importable module."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import click

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.function import Marking
from toolcrib.catalog.toolset import Toolset
from toolcrib.values.refusal import ToolcribError
from toolcrib.values.spec import ToolSpec
from toolcrib.values.tool import Tool


def load_tools(places: Iterable[str]) -> list[Tool]:
    """Every tool of these files and modules; one that cannot be loaded, or has none, is an error that says so."""
    return [tool for place in places for tool in _tools_of(place)]


def _tools_of(place: str) -> list[Tool]:
    is_file = place.endswith(".py") or os.sep in place
    module = _load_file(Path(place)) if is_file else _load_module(place)
    found: list[Tool] = []
    for value in vars(module).values():
        if isinstance(value, Toolset):
            found += value.tools
        elif _is_tool(value):
            found.append(_made(value, place))
    if not found and callable(getattr(module, "toolset", None)):
        raise _unusable(place, "makes a toolset, and has none yet; add a line such as: made = toolset(None)")
    if not found:
        raise _unusable(place, "has no tools; mark a function with @tool (from toolcrib import tool)")
    return _once(found)


def _once(found: list[Tool]) -> list[Tool]:
    """Each tool once, though it may be bound to two names or stand both alone and in a toolset."""
    kept: dict[str, Tool] = {}
    others: list[Tool] = []
    for tool in found:
        # Two tools of one name that differ are both kept: registration refuses them, and says so.
        first = kept.setdefault(tool.name, tool)
        if first is not tool and first.fingerprint != tool.fingerprint:
            others.append(tool)
    return [*kept.values(), *others]


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise _unusable(path, "is not a file; give a Python file such as tools.py, or the name of a module")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _unusable(path, "is not a Python file; its name must end in .py")
    _look_also_in(path.absolute().parent)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look their module up by name; a module of the same name that is there stays.
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _broken(path, error) from error
    return module


def _load_module(name: str) -> ModuleType:
    _look_also_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        raise _unusable(name, "is not a module that can be imported from here; install it, or give its file") from error
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _look_also_in(folder: Path) -> None:
    """Let the code import its neighbours. Last, so that no file there takes the place of an installed module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _is_tool(value: object) -> bool:
    if isinstance(value, type):
        return False
    return isinstance(getattr(value, "__toolcrib_tool__", None), Marking) or isinstance(
        getattr(value, "spec", None), ToolSpec
    )


def _made(value: object, place: str) -> Tool:
    try:
        return tool_of(value)
    except ToolcribError as error:
        raise _unusable(place, f"has a tool that cannot be used: {error}") from error


def _broken(place: object, error: BaseException) -> click.UsageError:
    # The mistake is in the last line of theirs, also when one of ours noticed it.
    ours = str(Path(__file__).parents[1])
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        where = f" ({error.filename}:{error.lineno})"
    return _unusable(place, f"cannot be loaded: {type(error).__name__}: {error}{where}; mend it and try again")


def _unusable(place: object, problem: str) -> click.UsageError:
    return click.UsageError(f"{place} {problem}")
