"""What self evolution stands on: one repository as a workspace of its own, and the bounds of what runs in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolcrib.executors.environment import command_environment
from toolcrib.executors.sandbox.bounds import Bounds, Network
from toolcrib.toolsets.self_evolution import EvolutionServices
from toolcrib.toolsets.self_evolution.guard import Guard
from toolcrib.values.refusal import ConfigError
from toolcrib.workspace import Boundary, View, Workspace
from toolcrib.workspace.workspace import PROJECT, Mount

if TYPE_CHECKING:
    from toolcrib.assemble.hands import Hands
    from toolcrib.config import Config
    from toolcrib.values.process import Confinement

NO_REPOSITORY = (
    "self evolution needs a repository: set self_evolution.repository to the main folder of a clone, and "
    "self_evolution.allowed_paths to what may be changed in it"
)


def evolution_services(hands: Hands) -> EvolutionServices:
    """The services for the repository that the configuration names; ConfigError when it names none."""
    settings = hands.settings
    wanted = settings.self_evolution
    if wanted.repository is None:
        raise ConfigError(NO_REPOSITORY)
    boundary = Boundary.of([], [settings.home.root])
    here = Workspace([Mount.of(PROJECT, wanted.repository)], boundary=boundary, reach=View.VIRTUAL)
    hands.workspaces[f"repository {here.project.root}"] = here
    root = here.project.root

    def confine(executable: str, cwd: str) -> Confinement | None:
        return hands.sandbox.confine(executable, cwd, _bounds(settings, root))

    def confine_push(executable: str, cwd: str) -> Confinement | None:
        return hands.sandbox.confine(executable, cwd, _push_bounds(settings, root))

    return EvolutionServices(
        workspace=here,
        processes=hands.processes,
        artifacts=hands.artifacts,
        holds_secrets=hands.holds_secrets,
        environment=command_environment(os.environ, settings.tools.env_allowlist),
        confine=confine,
        confine_push=confine_push,
        guard=Guard(wanted.allowed_paths),
        checks=wanted.checks,
        branch_prefix=wanted.branch_prefix,
        push_to=wanted.push_to,
        timeout=settings.tools.default_timeout_ms / 1000,
    )


def _bounds(settings: Config, root: str) -> Bounds:
    """The repository and nothing else; what steers git in it is not to be changed from inside."""
    return Bounds.of(
        [root],
        read=[str(path) for path in settings.tools.sandbox_read_roots],
        hidden=[str(settings.home.root)],
        fixed=[os.path.join(root, ".git", name) for name in ("hooks", "config")],
    )


def _push_bounds(settings: Config, root: str) -> Bounds:
    """The repository, and the place that is pushed to: a folder, or the network with the user's keys for it."""
    place = settings.self_evolution.push_to
    if place.startswith("/"):
        return Bounds.of([root, place], hidden=[str(settings.home.root)])
    keys = os.path.expanduser("~/.ssh")
    return Bounds.of([root], read=[keys], hidden=[str(settings.home.root)], network=Network.ON)
