"""Flag profiles of the programs that agents use most; one module per kind of program, all data.

A program that is missing here is not forbidden: it asks, unless a rule spells out what may be run.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolcrib.policy.commands.profile import Profile
from toolcrib.policy.commands.profiles import archives, files, git, network, packages, search, text

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        **files.PROFILES,
        **text.PROFILES,
        **search.PROFILES,
        **git.PROFILES,
        **archives.PROFILES,
        **network.PROFILES,
        **packages.PROFILES,
    }
)
