"""A module from exactly the bytes that were checked, never from whatever lies on disk a moment later."""

from __future__ import annotations

import builtins
import linecache
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType

from toolcrib.sources.module.beside import MOST_BYTES, ModuleFile, ModuleProblem, Part, full_name


def load(file: ModuleFile) -> ModuleType:
    """Run the module's code and return it; ModuleProblem with file and line when that fails."""
    if len(file.body) > MOST_BYTES:
        raise ModuleProblem(f"{file.path} is larger than {MOST_BYTES >> 20} MiB")
    name = f"toolcrib_module_{file.digest[:16]}"
    try:
        return _run(name, Part(file.path, file.body, ""), _Imports(name, file.beside))
    except (Exception, SystemExit) as error:
        raise ModuleProblem(_told(file, error)) from error


class _Imports:
    """The `import` of one module and of what it imports from beside it; names that are not there are everybody's."""

    def __init__(self, name: str, parts: Mapping[str, Part]) -> None:
        self._name = name
        self._parts = parts
        self._loaded: dict[str, ModuleType] = {}
        self._lock = threading.RLock()

    def __call__(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        package = str((globals or {}).get("__package__") or "")
        wanted = full_name(name, package, level)
        if wanted is None:
            raise ImportError(f"{'.' * level}{name} is above the folder of the module", name=name)
        if level == 0 and wanted.partition(".")[0] not in self._parts:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self._lock:
            return self._local(wanted, fromlist or ())

    def _local(self, wanted: str, fromlist: Sequence[str]) -> ModuleType:
        found = self._module(wanted) if wanted else ModuleType(self._name)
        for each in fromlist:
            dotted = f"{wanted}.{each}".strip(".")
            if dotted in self._parts:
                setattr(found, each, self._module(dotted))
        return found if fromlist else self._module(wanted.partition(".")[0])

    def _module(self, dotted: str) -> ModuleType:
        """A part, run when it is first wanted, after the packages that it is in."""
        parent, _, last = dotted.rpartition(".")
        holder = self._module(parent) if parent else None
        if dotted not in self._loaded:
            if dotted not in self._parts:
                raise ModuleNotFoundError(f"No module named {dotted!r}", name=dotted)
            _run(f"{self._name}.{dotted}", self._parts[dotted], self, self._loaded, dotted)
        if holder is not None:
            setattr(holder, last, self._loaded[dotted])
        return self._loaded[dotted]


def _run(
    name: str, part: Part, imports: _Imports, loaded: dict[str, ModuleType] | None = None, key: str = ""
) -> ModuleType:
    """A module of these bytes; `loaded` has it while it runs, because two may import each other."""
    module = ModuleType(name)
    module.__file__, module.__package__ = part.path, part.package
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": imports}
    # Dataclasses and type hints look their module up by name; the same bytes have the same name.
    places = [(sys.modules, name), *([] if loaded is None else [(loaded, key)])]
    before = [table.get(each) for table, each in places]
    for table, each in places:
        table[each] = module
    try:
        _show_lines(part)
        exec(compile(part.body, part.path, "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        for (table, each), earlier in zip(places, before, strict=True):
            if earlier is None:
                del table[each]
            else:
                table[each] = earlier
        raise
    return module


def _show_lines(part: Part) -> None:
    """Let tracebacks and the readers of source show these bytes, and not what the file holds by then."""
    text = part.body.decode("utf-8", "replace")
    linecache.cache[part.path] = (len(text), None, text.splitlines(keepends=True), part.path)


def _told(file: ModuleFile, error: BaseException) -> str:
    where = file.path
    if isinstance(error, SyntaxError) and error.filename in file.paths:
        return f"{error.filename}:{error.lineno}: cannot be loaded: {error.msg}"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename in file.paths]
    if frames:
        where = f"{frames[-1].filename}:{frames[-1].lineno}"
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        hint = "; a module can import what is installed, and the files beside it"
    return f"{where}: cannot be loaded: {type(error).__name__}: {error}{hint}"
