"""self_evolution: an agent works on its own code, in one local git repository, on branches of its own.

Here: the tools, the allow-list of paths and the write guard (`guard`), git without anything that a repository could
make it run (`git`), and the records of branches, checks and proposals. Not here: when to use them (toolkits).
"""

from toolcrib.toolsets.self_evolution.services import EvolutionServices
from toolcrib.toolsets.self_evolution.tools import toolset

__all__ = ["EvolutionServices", "toolset"]
