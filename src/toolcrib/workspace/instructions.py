"""Files that tell agents how to behave: reading one gives the run a block for its prompt."""

from __future__ import annotations

from toolcrib.values.block import SystemBlock
from toolcrib.values.context import ToolContext
from toolcrib.workspace.lines import Span, Window
from toolcrib.workspace.patterns import is_instructions
from toolcrib.workspace.reading import read_window
from toolcrib.workspace.spots import Spot
from toolcrib.workspace.workspace import Workspace

INSTRUCTIONS_READ = "instructions_read"
BLOCK = Span(1, 1_000, 16_000)


async def take_instructions(context: ToolContext, workspace: Workspace, spot: Spot, window: Window) -> None:
    """Take what an instruction file says into the run, all of it within bounds, whichever part was asked for."""
    if not is_instructions(spot.name):
        return
    whole = window if _is_whole(window) else await read_window(workspace, spot, BLOCK)
    context.emit(INSTRUCTIONS_READ, {"path": spot.host_path, "hash": whole.hash, "size": whole.size})
    text, cut = "\n".join(whole.lines), whole.more or bool(whole.cut)
    context.add_block(SystemBlock(spot.host_path, whole.hash, text, cut))


def _is_whole(window: Window) -> bool:
    return window.start == 1 and (not window.more or len(window.lines) >= BLOCK.count)
