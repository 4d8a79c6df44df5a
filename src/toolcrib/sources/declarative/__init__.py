"""Commands as tools: a JSON file in the home's `tools` folder says what is run, with which arguments in which places.

Here: reading definitions strictly (`definition`), placeholders that can only ever be one word (`template`, `line`), the
tool itself (`tool`), what its output means (`answer`), and writing a definition from an example (`writing`). Not here:
how a process is run, or whether it may: both are handed in. A project declares no commands.
"""

from toolcrib.sources.declarative.definition import Bounds, Definition, read_definition
from toolcrib.sources.declarative.tool import CommandDesk, declared_tool

__all__ = ["Bounds", "CommandDesk", "Definition", "declared_tool", "read_definition"]
