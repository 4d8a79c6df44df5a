"""The sandbox of a run, for tools that ask for it by annotation: its files, and commands in its bounds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from toolcrib.values.noun import frozen
from toolcrib.values.process import Ended
from toolcrib.workspace import Workspace

RunCommand = Callable[[Sequence[str], bytes, float | None], Awaitable[Ended]]


@frozen
class Sandbox:
    """What the tools of this run can touch: `workspace` for files, `run` for a command without a shell."""

    workspace: Workspace
    _run: RunCommand

    @property
    def root(self) -> str:
        """The project of the run, as a path."""
        return self.workspace.project.root

    async def run(self, argv: Sequence[str], stdin: bytes = b"", timeout: float | None = None) -> Ended:
        """Run a program in the project: same environment, time limit and confinement as commands of the agent."""
        return await self._run(argv, stdin, timeout)


Provide = Callable[[], Sandbox]
"""The sandbox of the run that is being served."""


def with_sandbox(function: Callable[..., object], provide: Provide) -> Callable[..., object]:
    """The function with its sandbox filled in at each call; itself, when it asks for none."""
    signature = inspect.signature(function)
    wanted = [each for each in signature.parameters.values() if _is_sandbox(each.annotation)]
    if not wanted:
        return function
    names = [(each.name, "Workspace" in _name(each.annotation)) for each in wanted]

    def filled() -> dict[str, object]:
        sandbox = provide()
        return {name: sandbox.workspace if files_only else sandbox for name, files_only in names}

    wrapper = _asynchronous(function, filled) if inspect.iscoroutinefunction(function) else _plain(function, filled)
    kept = [each for each in signature.parameters.values() if each not in wanted]
    setattr(wrapper, "__signature__", signature.replace(parameters=kept))  # noqa: B010
    return wrapper


def _plain(function: Callable[..., object], filled: Callable[[], dict[str, object]]) -> Callable[..., object]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> object:
        return function(*args, **kwargs, **filled())

    return call


def _asynchronous(function: Callable[..., object], filled: Callable[[], dict[str, object]]) -> Callable[..., object]:
    waited = cast("Callable[..., Awaitable[object]]", function)

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> object:
        return await waited(*args, **kwargs, **filled())

    return call


def _is_sandbox(annotation: object) -> bool:
    return (
        annotation is Sandbox
        or annotation is Workspace
        or (isinstance(annotation, str) and _name(annotation) in _NAMES)
    )


_NAMES = ("Sandbox", "Workspace")


def _name(annotation: object) -> str:
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return written.strip("'\" ").rsplit(".", 1)[-1]
