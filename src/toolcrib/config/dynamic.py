"""The keys of `dynamic`: tools that agents make. The toolset `dynamic` among `toolsets` switches them on."""

from __future__ import annotations

from toolcrib.config.keys import key
from toolcrib.config.kinds import choice, items
from toolcrib.config.narrowing import fewer
from toolcrib.values.identity import Role
from toolcrib.values.noun import frozen


@frozen(kw_only=True)
class DynamicSettings:
    """Tools that agents make, where `toolsets` names `dynamic`. Each version runs only once an operator approved it."""

    creators: tuple[Role, ...] = key(
        items(choice(Role)),
        (Role.MAIN, Role.ORCHESTRATOR),
        fewer(),
        "Roles whose agents may make, change and delete tools; of nothing that they could not do themselves.",
    )
