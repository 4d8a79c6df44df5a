"""The other side of an isolated handler: load one function, call it, write its answer, end."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import runpy
import signal
import sys
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.normalise import normalise
from toolcrib.values.block import SystemBlock
from toolcrib.values.context import Document, Standing, ToolContext
from toolcrib.values.identity import Origin
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult, result_json

PR_SET_PDEATHSIG = 1


def main(folder: str) -> None:
    """Answer the question in the folder; a failure is an answer too."""
    _die_with_parent()
    place = Path(folder)
    ask = cast("dict[str, Json]", json.loads((place / "ask.json").read_text()))
    answer = _answer(str(ask["entry"]), cast("dict[str, Json]", ask["arguments"]))
    temporary = place / "answer.tmp"
    temporary.write_text(json.dumps(answer))
    temporary.rename(place / "answer.json")


def load(entry: str) -> object:
    """A function by `module:name`, or by `/path/to/script.py:name` when it was defined in a script."""
    place, _, name = entry.rpartition(":")
    if place.endswith(".py"):
        return attrgetter(name)(SimpleNamespace(**runpy.run_path(place, run_name="__toolcrib_isolated__")))
    return attrgetter(name)(importlib.import_module(place))


def _answer(entry: str, arguments: dict[str, Json]) -> JsonObject:
    try:
        tool = tool_of(load(entry))
        context = ToolContext("isolated", tool.name, arguments, (), Origin("", ""), None, _NoDesk())
        returned = normalise(tool.handler(context, arguments))
        return result_json(ToolResult("", tool.name, returned.content, None, returned.error, returned.metadata))
    except Refusal as refusal:
        return {"refusal": refusal.reason.value, "message": refusal.message}
    except Exception as error:
        return {"refusal": Reason.INTERNAL_ERROR.value, "message": f"{type(error).__name__}: {error}"[:2_000]}


class _NoDesk:
    """Nobody to call from here: an isolated handler has no way back but its result."""

    def progress(self, context: ToolContext, message: str, fraction: float | None) -> None:
        print(message, file=sys.stderr)

    async def call_from(self, context: ToolContext, name: str, arguments: JsonObject) -> ToolResult:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot call other tools")

    async def load(self, context: ToolContext, kind: str, key: str) -> Document | None:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot read documents")

    def add_block(self, block: SystemBlock) -> None:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot add to the prompt")

    def standing(self) -> Standing:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot see what its caller holds")


def _die_with_parent() -> None:
    """When the process that asked dies, nobody waits for the answer: the kernel ends this one too."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
