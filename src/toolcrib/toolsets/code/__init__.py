"""code: files of the project and of the host, as a programmer uses them. Paths are host paths or relative ones."""

from __future__ import annotations

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.toolsets import Services
from toolcrib.toolsets.code.changing import add_changing
from toolcrib.toolsets.code.reading import add_reading

GUIDANCE = (
    "Read before you edit, and pass the content_hash that you read as expected_hash. Relative paths start at the "
    "project. Prefer edit_file with a short unique text over writing whole files."
)


def toolset(services: Services) -> Toolset:
    """The tools `code.*`."""
    build = ToolsetBuilder("code", guidance=GUIDANCE)
    add_reading(build, services)
    add_changing(build, services)
    return build.build()
