"""The other side of an isolated handler: load one function, call it, write its answer, end."""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import inspect
import json
import os
import runpy
import signal
import sys
from collections.abc import Awaitable
from operator import attrgetter
from pathlib import Path
from typing import cast

from toolcrib.catalog.decorate import tool_of
from toolcrib.values.context import ToolContext
from toolcrib.values.identity import Origin
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Tool

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


def _answer(entry: str, arguments: dict[str, Json]) -> dict[str, Json]:
    try:
        tool = tool_of(load(entry))
        return {"value": _plain(_call(tool, arguments))}
    except Refusal as refusal:
        return {"reason": refusal.reason.value, "message": refusal.message}
    except Exception as error:
        return {"reason": Reason.INTERNAL_ERROR.value, "message": f"{type(error).__name__}: {error}"[:2_000]}


def load(entry: str) -> object:
    """A function by `module:name`, or by `/path/to/script.py:name` when it was defined in a script."""
    place, _, name = entry.rpartition(":")
    if place.endswith(".py"):
        return attrgetter(name)(_Namespace(runpy.run_path(place, run_name="__toolcrib_isolated__")))
    return attrgetter(name)(importlib.import_module(place))


class _Namespace:
    def __init__(self, names: dict[str, object]) -> None:
        self.__dict__.update(names)


class _NoDesk:
    """Nobody to call from here: an isolated handler has no way back but its result."""

    def progress(self, context: ToolContext, message: str, fraction: float | None) -> None:
        print(message, file=sys.stderr)

    async def call_from(self, context: ToolContext, name: str, arguments: object) -> object:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot call other tools")

    async def load(self, context: ToolContext, kind: str, key: str) -> object:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, "an isolated handler cannot read documents")


def _call(tool: Tool, arguments: dict[str, Json]) -> object:
    context = ToolContext("isolated", tool.name, arguments, (), Origin("", ""), None, cast("object", _NoDesk()))  # type: ignore[arg-type]
    value = tool.handler(context, arguments)
    return asyncio.run(_wait(cast("Awaitable[object]", value))) if inspect.isawaitable(value) else value


async def _wait(value: Awaitable[object]) -> object:
    return await value


def _plain(value: object) -> Json:
    from toolcrib.engine.normalise import normalise

    returned = normalise(value)
    return None if returned is None else None


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
