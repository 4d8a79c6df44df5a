"""Tools of installed packages: by package and name, or by an entry point in the group `toolcrib.tools`."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, packages_distributions, version
from types import ModuleType
from typing import cast

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.toolset import Toolset
from toolcrib.sources.module.beside import ModuleProblem
from toolcrib.sources.module.exports import export_tool, exports_of
from toolcrib.sources.module.objects import is_tool_object, own_name
from toolcrib.sources.module.sandbox import Provide
from toolcrib.values.refusal import RegistrationError, ToolcribError
from toolcrib.values.spec import Source
from toolcrib.values.tool import Tool

GROUP = "toolcrib.tools"


def package_tools(package: str, imported: str, provide: Provide) -> list[Tool]:
    """What a package offers under a name, as `external.<package>.<tool>`."""
    point = next((each for each in _points() if each.name == imported and _is_of(each, package)), None)
    value = _loaded(point) if point is not None else _imported(package, imported)
    return _made(value, f"external.{package}", f"{package}: {imported}", _source(package, imported), provide)


def point_tools(name: str, provide: Provide) -> list[Tool]:
    """What an entry point of the group offers, as `<name>.<tool>`; `package:name` names one without entry point."""
    package, colon, imported = name.partition(":")
    if colon:
        return _made(_imported(package, imported), package, name, _source(package, imported, "python"), provide)
    point = next((each for each in _points() if each.name == name), None)
    if point is None:
        there = ", ".join(sorted(each.name for each in _points())) or "none"
        raise ModuleProblem(f"no installed package offers tools as {name!r} (group {GROUP}); there are: {there}")
    return _made(_loaded(point), name, name, _source(point.module.partition(".")[0], name, "python"), provide)


def _made(value: object, prefix: str, where: str, source: Source, provide: Provide) -> list[Tool]:
    found: list[Tool] = []
    for name, each in _members(value, where):
        try:
            full = f"{prefix}.{name.removeprefix(prefix + '.')}"
            made = export_tool(each, None, full, f"{where}.{name}", provide)
            found.append(replace(made, spec=replace(made.spec, source=source)))
        except RegistrationError as error:
            raise ModuleProblem(f"{where}: {error}") from error
    if not found:
        raise ModuleProblem(f"{where} has no tools in it")
    return found


def _members(value: object, where: str) -> Iterator[tuple[str, object]]:
    """The tools in a toolset, a module, a mapping, a list, or the one tool that it is."""
    if isinstance(value, ModuleType):
        yield from exports_of(value).items()
    elif isinstance(value, Toolset):
        yield from ((tool.name, tool) for tool in value.tools)
    elif isinstance(value, Mapping) and not is_tool_object(cast("object", value)):
        yield from cast("Mapping[str, object]", value).items()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((_name(each, where), each) for each in cast("Iterable[object]", value))
    else:
        yield _name(cast("object", value), where), cast("object", value)


def _name(value: object, where: str) -> str:
    if is_tool_object(value) and (name := own_name(value)):
        return name
    try:
        return tool_of(value).name
    except ToolcribError as error:
        raise ModuleProblem(f"{where}: {error}") from error


def _imported(package: str, imported: str) -> object:
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{package}.".startswith(f"{error.name}."):
            raise ModuleProblem(f"the package {package!r} is not installed here") from error
        raise ModuleProblem(_told(package, error)) from error
    except (Exception, SystemExit) as error:
        raise ModuleProblem(_told(package, error)) from error
    found: object = getattr(module, imported, None)
    if found is None:
        from difflib import get_close_matches  # only a mistake has to pay for it

        names = sorted(name for name in vars(module) if not name.startswith("_"))
        near = get_close_matches(imported, names, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ModuleProblem(
            f"the package {package} has no {imported!r}; {hint}it has {', '.join(names[:20]) or 'nothing'}"
        )
    return found


def _loaded(point: EntryPoint) -> object:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise ModuleProblem(_told(f"the entry point {point.name} ({point.value})", error)) from error


def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _is_of(point: EntryPoint, package: str) -> bool:
    named = point.dist.name if point.dist is not None else ""
    return package in (point.module, point.module.partition(".")[0], named, named.replace("-", "_"))


def _source(package: str, imported: str, kind: str = "package") -> Source:
    """Package and version: a new version is another contract."""
    top = package.partition(".")[0]
    owners = packages_distributions().get(top, [top])
    try:
        found = version(owners[0])
    except PackageNotFoundError:
        found = ""
    return Source(kind, f"{package}:{imported}", found)


def _told(what: str, error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{what} cannot be loaded: {type(error).__name__}: {error}{where}"
