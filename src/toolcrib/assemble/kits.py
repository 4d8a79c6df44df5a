"""The toolkits of a crib: found by module name or entry point, and wired to the switches of the configuration."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import toolcrib.toolkits as shipped
from toolcrib.catalog.toolkit import Toolkit
from toolcrib.engine.switchboard import Binding, Switchboard
from toolcrib.values.refusal import RegistrationError

if TYPE_CHECKING:
    from toolcrib.config import Config

GROUP = "toolcrib.toolkits"


def switchboard_of(settings: Config) -> Switchboard:
    """The switchboard that the configuration describes; what its switches name is checked once tools are known."""
    bindings = [
        Binding(name, frozenset(sub_app.agents or ("main",)), sub_app.tool_names, sub_app.place)
        for name, sub_app in settings.sub_apps.items()
    ]
    return Switchboard(find_toolkits(), settings.tools_config, tuple(bindings))


def mounted_toolsets(settings: Config, board: Switchboard) -> tuple[str, ...]:
    """The toolsets that the configuration names, and those that come along with a toolkit that is switched on."""
    return tuple(dict.fromkeys((*settings.toolsets, *board.wanted_toolsets())))


def find_toolkits() -> tuple[Toolkit, ...]:
    """Every toolkit there is: those that ship with Toolcrib, then those of installed packages, by key."""
    names = [module.name for module in pkgutil.iter_modules(shipped.__path__)]
    found: list[Toolkit] = [import_module(f"{shipped.__name__}.{name}").TOOLKIT for name in names]
    for point in entry_points(group=GROUP):
        try:
            toolkit = point.load()
        except (ImportError, AttributeError) as error:
            place = f"the entry point {point.name!r} of {GROUP} ({point.value})"
            raise RegistrationError(f"{place} cannot be loaded: {error}") from error
        if not isinstance(toolkit, Toolkit) or toolkit.key != point.name:
            raise RegistrationError(
                f"the entry point {point.name!r} of {GROUP} ({point.value}) must lead to a Toolkit with that key"
            )
        found.append(toolkit)
    return tuple(sorted(found, key=lambda toolkit: toolkit.key))
