"""dynamic: agents make tools of their own, and nothing they make runs before an operator approved exactly that.

Here: the tools that make, change, remove and show tools (`tools.create` and its kin), the records they leave, and what
a definition becomes: a script, a request to one host, or a series of calls. Not here: who approved what (the guard),
how processes and connections are made (executors, network), and how a stored tool gets into the registry (assemble).
"""

from toolcrib.toolsets.dynamic.building import tool_of_definition
from toolcrib.toolsets.dynamic.records import Definition, Index, load_definition, load_index
from toolcrib.toolsets.dynamic.services import DynamicServices
from toolcrib.toolsets.dynamic.tools import toolset

__all__ = [
    "Definition",
    "DynamicServices",
    "Index",
    "load_definition",
    "load_index",
    "tool_of_definition",
    "toolset",
]
