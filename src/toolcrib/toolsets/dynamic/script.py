"""Scripts: the text goes to its interpreter as one word, the arguments as JSON on standard input."""

from __future__ import annotations

import hashlib
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


def script_targets(script: Script, label: str, commands: Commands) -> Sequence[Target]:
    """The interpreter with the whole script as a target; a person reads which script it is, not all of it."""
    digest = hashlib.sha256(script.script.encode()).hexdigest()[:12]
    shown = f"{script.language} (the script of {label}: {len(script.script):,} characters, sha256 {digest})"
    return commands.targets(_argv(script), shown)


async def run_script(context: ToolContext, arguments: Arguments, commands: Commands) -> ToolReturn:
    """Run the declared script; one that ends with anything but 0 failed."""
    returned = await commands.run(context, canonical(dict(arguments)).encode(), SECONDS)
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
    return ("node", f"--eval={script.script}")
