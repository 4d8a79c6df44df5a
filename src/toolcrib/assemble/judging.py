"""What the operator's lists of commands and hosts say about a call; their tables are loaded when a call needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolcrib.policy.verdict import Decision
from toolcrib.values.target import Target, TargetKind

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.policy.commands import CommandRule, CommandRules
    from toolcrib.policy.network.rules import NetworkRules


@dataclass
class Lists:
    """The judge of a crib, or of one agent in it: command rules, and the lists of hosts of the configuration."""

    settings: Config
    commands: tuple[CommandRule, ...]

    def __call__(self, tool: str, targets: Sequence[Target]) -> Decision | None:
        """The strictest of what is said about the commands and the hosts among the targets."""
        kinds = {target.kind for target in targets}
        found: list[Decision | None] = []
        if TargetKind.COMMAND in kinds:
            from toolcrib.policy.commands import decide_commands

            found.append(decide_commands(self._command_rules, targets))
        if TargetKind.HOST in kinds:
            from toolcrib.policy.network.decide import decide_hosts

            found.append(decide_hosts(self._network, tool, targets))
        return max((each for each in found if each is not None), key=lambda each: each.verdict, default=None)

    @cached_property
    def _command_rules(self) -> CommandRules:
        from toolcrib.policy.commands import CommandRules

        return CommandRules(self.commands)

    @cached_property
    def _network(self) -> NetworkRules:
        return network_rules(self.settings)


def network_rules(settings: Config) -> NetworkRules:
    """The network rules of a configuration."""
    from toolcrib.policy.network.address import read_network
    from toolcrib.policy.network.hosts import HostPattern
    from toolcrib.policy.network.rules import NetworkRules, ToolHosts

    def patterns(texts: tuple[str, ...]) -> tuple[HostPattern, ...]:
        return tuple(map(HostPattern.of, texts))

    network = settings.network
    return NetworkRules(
        allow=patterns(network.allow_hosts),
        deny=patterns(network.deny_hosts),
        private=tuple(map(read_network, network.allow_private)),
        deny_private=network.deny_private,
        schemes=network.schemes,
        unlisted=network.unlisted,
        tools={
            name: ToolHosts(
                None if lists.allow_hosts is None else patterns(lists.allow_hosts), patterns(lists.deny_hosts)
            )
            for name, lists in network.tools.items()
        },
    )
