"""Command rules: which commands run without a question, which are refused, and what an answer for a session covers.

Here: reading a shell line into commands, flag profiles of common programs, token rules, and the decision. All of it
is a function of values: which file a name stands for, and what lies at a path, is found out elsewhere (`toolsets`)
and handed in.
"""

from toolcrib.policy.commands.command import Command, CommandTarget, Whence
from toolcrib.policy.commands.decide import decide_commands
from toolcrib.policy.commands.profile import Descent, Dots, Links
from toolcrib.policy.commands.reading import Reading, read_command
from toolcrib.policy.commands.rules import CommandRule, CommandRules
from toolcrib.policy.commands.scope import command_target, scope_of
from toolcrib.policy.commands.words import Line, Segment, read_line

__all__ = [
    "Command",
    "CommandRule",
    "CommandRules",
    "CommandTarget",
    "Descent",
    "Dots",
    "Line",
    "Links",
    "Reading",
    "Segment",
    "Whence",
    "command_target",
    "decide_commands",
    "read_command",
    "read_line",
    "scope_of",
]
