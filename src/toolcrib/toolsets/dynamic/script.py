"""Scripts: the text goes to its interpreter as one word, the arguments as JSON on standard input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolcrib.toolsets.dynamic.kinds import Script
from toolcrib.toolsets.dynamic.services import Commands
from toolcrib.values.context import ToolContext
from toolcrib.values.json import canonical
from toolcrib.values.refusal import Reason
from toolcrib.values.result import ToolError, ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments

SECONDS = 30.0


def script_targets(script: Script, name: str, commands: Commands) -> Sequence[Target]:
    """The interpreter with its script as a target. The script is what was approved under its tool's name, so that the
    name stands for it: rules can say it, and a person can read it."""
    return commands.targets(_argv(script), name)


async def run_script(script: Script, context: ToolContext, arguments: Arguments, commands: Commands) -> ToolReturn:
    """Run the script; one that ends with anything but 0 failed."""
    returned = await commands.run(context, _argv(script), canonical(dict(arguments)).encode(), SECONDS)
    code = returned.metadata.get("exit_code")
    if returned.error is not None or code == 0:
        return returned
    message = f"{context.name} failed: its script ended with exit code {code}"
    return replace(returned, error=ToolError(Reason.INTERNAL_ERROR, message, details={"exit_code": code}))


def _argv(script: Script) -> tuple[str, ...]:
    """No start-up files, no modules from the working folder; a script that begins with '-' is no option."""
    if script.language == "bash":
        return ("bash", "--noprofile", "--norc", "-c", "--", script.script)
    if script.language == "python3":
        return ("python3", "-I", "-c", script.script)
    return ("node", "--eval", f"\n{script.script}" if script.script.startswith("-") else script.script)
