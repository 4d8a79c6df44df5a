"""What a call touches, declared before permission is asked."""

from __future__ import annotations

from enum import StrEnum

from toolcrib.values.noun import frozen


class TargetKind(StrEnum):
    PATH = "path"
    HOST = "host"
    COMMAND = "command"
    AGENT = "agent"
    TOOL = "tool"
    RESOURCE = "resource"


@frozen
class Target:
    """One resolved thing a call touches. `scope` is what a session grant would cover; empty = not grantable."""

    kind: TargetKind
    value: str
    scope: str = ""
    marks: frozenset[str] = frozenset()

    @property
    def also(self) -> str:
        """Another name that rules may know it by, such as the virtual path of a file; empty when it has none."""
        return ""
