"""Paths and what they touch: mounts, descriptor-based opens, atomic writes, sensitive and protected names.

Here: how a path that a model wrote becomes a `Target` before anyone is asked, and how the very thing that was declared
is then read or changed. Text windows, edits, patches, tree walks and file search stand on that. Not here: tools
(`toolsets`), decisions about a target (`policy`), processes other than the file searcher (`executors`).
"""

from toolcrib.workspace.boundary import Boundary, TemporaryFolder
from toolcrib.workspace.mounts import Access, Mount
from toolcrib.workspace.spots import PathTarget, Spot
from toolcrib.workspace.workspace import SCRATCH, View, Workspace

__all__ = ["SCRATCH", "Access", "Boundary", "Mount", "PathTarget", "Spot", "TemporaryFolder", "View", "Workspace"]
