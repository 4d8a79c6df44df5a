"""Typed configuration: what an operator may set, read from files and arguments, refused when anything is wrong.

Here: the declaration of every key (`sections`), how layers are read and combined (`load`), the home folder and its
starter file, and the generated reference. Not here: what the values mean in action; each room takes its section when
`assemble` puts the program together.
"""

from toolcrib.config.config import Config, Given, Row
from toolcrib.config.home import Home
from toolcrib.config.limits import Limits, LoopLimits
from toolcrib.config.load import load
from toolcrib.config.network import Network
from toolcrib.config.problems import InvalidConfig, Level, Problem
from toolcrib.config.records import SubApp
from toolcrib.config.sections import (
    Agents,
    Durability,
    Enforcement,
    Guard,
    Modes,
    PolicySettings,
    Redaction,
    SandboxMode,
    SelfEvolution,
    Store,
    Tools,
    WorkspaceSettings,
)
from toolcrib.config.starter import init_home

__all__ = [
    "Agents",
    "Config",
    "Durability",
    "Enforcement",
    "Given",
    "Guard",
    "Home",
    "InvalidConfig",
    "Level",
    "Limits",
    "LoopLimits",
    "Modes",
    "Network",
    "PolicySettings",
    "Problem",
    "Redaction",
    "Row",
    "SandboxMode",
    "SelfEvolution",
    "Store",
    "SubApp",
    "Tools",
    "WorkspaceSettings",
    "init_home",
    "load",
]
