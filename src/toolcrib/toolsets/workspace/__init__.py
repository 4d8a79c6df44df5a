"""workspace: files under virtual paths. `/workspace` is the project, `/scratch` the state of the run."""

from __future__ import annotations

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.toolsets.workspace.changing import add_changing
from toolcrib.toolsets.workspace.reading import add_reading
from toolcrib.toolsets.workspace.searching import add_searching

GUIDANCE = (
    "Paths are relative to /workspace, or begin with /workspace, /scratch or another mount. Keep notes and "
    "intermediate results in /scratch; it belongs to this run."
)


def toolset(services: Services) -> Toolset:
    """The tools `workspace.*`."""
    build = ToolsetBuilder("workspace", guidance=GUIDANCE)
    add_reading(build, services)
    add_searching(build, services)
    add_changing(build, services)
    return build.build()
