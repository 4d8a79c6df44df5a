"""The toolset, put together: looking, changing, checking, proposing."""

from __future__ import annotations

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.toolsets.self_evolution.changing import add_changing
from toolcrib.toolsets.self_evolution.checking import add_checking
from toolcrib.toolsets.self_evolution.git import Git
from toolcrib.toolsets.self_evolution.looking import add_looking
from toolcrib.toolsets.self_evolution.proposing import add_proposing
from toolcrib.toolsets.self_evolution.repository import Repository
from toolcrib.toolsets.self_evolution.services import EvolutionServices


def toolset(services: EvolutionServices) -> Toolset:
    """The tools over one repository; ConfigError when it is none."""
    git = Git(
        services.repository, services.processes, services.confine, services.environment, services.timeout
    )  # fmt: skip
    repository = Repository(git, services.branch_prefix)
    build = ToolsetBuilder("self_evolution")
    add_looking(build, services, repository)
    add_changing(build, services, repository)
    add_checking(build, services, repository)
    add_proposing(build, services, repository)
    return build.build()
