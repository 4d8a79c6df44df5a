"""The public testing kit: fakes that keep the same contracts as the real parts.

Here: a store in memory, askers and models that follow a script, a clock that stands still, a run in one line, crashes
at named points. Not here: anything the product itself needs to run.
"""

from toolcrib.testing.asker import ScriptedAsker
from toolcrib.testing.clock import CountingIds, FrozenClock
from toolcrib.testing.crash import crash_at
from toolcrib.testing.memory import MemoryStore
from toolcrib.testing.model import ScriptedModel
from toolcrib.testing.run import make_run

__all__ = ["CountingIds", "FrozenClock", "MemoryStore", "ScriptedAsker", "ScriptedModel", "crash_at", "make_run"]
