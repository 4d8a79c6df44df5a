"""shell: command lines and background processes. Also holds `code.run_command`, which the code toolset includes.

Every call declares what it would run, and which sensitive, protected or outside paths it names, before anyone is asked.
"""

from toolcrib.toolsets.shell.background import Background
from toolcrib.toolsets.shell.run_command import run_command_tool
from toolcrib.toolsets.shell.services import CommandServices, Ground
from toolcrib.toolsets.shell.tools import toolset

__all__ = ["Background", "CommandServices", "Ground", "run_command_tool", "toolset"]
