"""Tool search, usable on its own: `ToolIndex.build(specs).search("open a pull request", limit=5)`.

Standard library only; numpy makes it faster where it is installed, and `toolcrib.catalog.index.embed` adds nearness in
meaning. What may be seen or run is not decided here: the caller passes what is allowed.
"""

from toolcrib.catalog.index.document import Entry, Kind
from toolcrib.catalog.index.ranking import Hit
from toolcrib.catalog.index.snapshot import SnapshotError
from toolcrib.catalog.index.tool_index import Arithmetic, ToolIndex
from toolcrib.catalog.index.usage import UsageMemory

__all__ = ["Arithmetic", "Entry", "Hit", "Kind", "SnapshotError", "ToolIndex", "UsageMemory"]
