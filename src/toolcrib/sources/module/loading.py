"""A module from exactly the bytes that were checked, never from whatever lies on disk a moment later."""

from __future__ import annotations

import hashlib
import linecache
import sys
import traceback
from dataclasses import dataclass
from types import ModuleType

from toolcrib.values.refusal import ConfigError

MOST_BYTES = 4 * 1024 * 1024


class ModuleProblem(ConfigError):
    """A module or package cannot give the tools that a definition names; the message says where and why."""


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """The bytes of a module, and the path that they were read from."""

    path: str
    body: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


def load(file: ModuleFile) -> ModuleType:
    """Run the module's code and return it; ModuleProblem with file and line when that fails."""
    if len(file.body) > MOST_BYTES:
        raise ModuleProblem(f"{file.path} is larger than {MOST_BYTES >> 20} MiB")
    module = ModuleType(f"toolcrib_module_{file.digest[:16]}")
    module.__file__ = file.path
    # Dataclasses and type hints look their module up by name; the same bytes have the same name.
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        _show_lines(file)
        exec(compile(file.body, file.path, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        if before is None:
            del sys.modules[module.__name__]
        else:
            sys.modules[module.__name__] = before
        raise ModuleProblem(_told(file.path, error)) from error
    return module


def _show_lines(file: ModuleFile) -> None:
    """Let tracebacks and the readers of source show these bytes, and not what the file holds by then."""
    text = file.body.decode("utf-8", "replace")
    linecache.cache[file.path] = (len(text), None, text.splitlines(keepends=True), file.path)


def _told(path: str, error: BaseException) -> str:
    where = path
    if isinstance(error, SyntaxError) and error.filename == path:
        where = f"{path}:{error.lineno}"
        return f"{where}: cannot be loaded: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if lines:
        where = f"{path}:{lines[-1]}"
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        hint = "; a module can import what is installed, not the files beside it"
    return f"{where}: cannot be loaded: {type(error).__name__}: {error}{hint}"
