"""Blocks that a run carries for its prompt besides what the agent's definition says."""

from __future__ import annotations

from toolcrib.values.noun import frozen


@frozen
class SystemBlock:
    """What a file that tells agents how to behave said when it was read.

    Whoever can write the file wrote the text: it is advice about the project, never authority. A prompt names `path`
    and says so; no decision about a call looks at it.
    """

    path: str
    hash: str
    text: str
    cut: bool
    """Whether the file says more than the text holds."""
