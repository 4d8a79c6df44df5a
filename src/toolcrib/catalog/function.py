"""A Python function as a tool: its signature read once, its handler made to fit."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from types import FunctionType

from toolcrib.catalog.callee import Callee, read_callee
from toolcrib.catalog.docstring import read_docstring
from toolcrib.catalog.handler import guarded, make_handler
from toolcrib.catalog.implementation import implementation_of
from toolcrib.catalog.signature import Signature, given_signature, output_schema, read_signature
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.spec import NOTHING, Effect, Exposure, Source, ToolSpec
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Handler, Runs, Tool, no_targets

_YIELDS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_STAMPS = {Effect.READ: frozenset({"code", "readonly"}), Effect.WRITE: frozenset({"code", "write"})}


@frozen(kw_only=True)
class Marking:
    """What the author said about a function beside its signature."""

    effect: Effect = Effect.WRITE
    name: str | None = None
    title: str = ""
    description: str | None = None
    help: str = ""
    tags: frozenset[str] = frozenset()
    category: str = ""
    aliases: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()
    exposure: Exposure = Exposure.BOTH
    timeout: float | None = None
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    read_form: JsonObject | None = None
    targets: Callable[[Arguments], Sequence[Target]] = no_targets
    isolate: str | None = None
    transactional: bool = False
    needs_approval: Callable[[Arguments], bool] | None = None
    metadata: JsonObject = NOTHING


def function_tool(target: Callable[..., object], marking: Marking) -> Tool:
    """Make the tool; whatever is wrong with the function is a RegistrationError that says what would work."""
    callee = read_callee(target)
    function = callee.function
    doc = read_docstring(function.__doc__)
    given = marking.input_schema
    signature = read_signature(callee, doc) if given is None else given_signature(callee, given)
    name = marking.name or function.__name__
    spec = ToolSpec(
        name=name,
        description=marking.description or doc.text or _in_words(name),
        input_schema=signature.schema,
        title=marking.title,
        help=marking.help,
        output_schema=marking.output_schema or output_schema(callee),
        effect=marking.effect,
        tags=marking.tags | _STAMPS[marking.effect] if marking.tags else _STAMPS[marking.effect],
        category=marking.category,
        capabilities=marking.capabilities,
        aliases=marking.aliases,
        exposure=marking.exposure,
        timeout=marking.timeout,
        read_form=marking.read_form,
        source=_source(function.__module__),
        metadata=marking.metadata,
    )
    runs = _runs(callee, marking)
    return Tool(
        spec,
        _handler(callee, signature, given is not None),
        runs,
        marking.targets,
        functools.partial(implementation_of, function),
        marking.transactional,
        marking.needs_approval,
        _entry(callee, signature) if runs is Runs.PROCESS else "",
    )


def _handler(callee: Callee, signature: Signature, is_given: bool) -> Handler:
    handler = make_handler(callee.call, signature.injected, signature.bindings)
    return guarded(handler, signature.injected, signature.taken) if is_given else handler


def _runs(callee: Callee, marking: Marking) -> Runs:
    flags = callee.function.__code__.co_flags
    if flags & _YIELDS:
        raise RegistrationError(f"{callee.label} is a generator; return a list, and report with context.progress")
    if marking.isolate is None:
        return Runs.ASYNC if flags & inspect.CO_COROUTINE or _is_async(callee) else Runs.THREAD
    if marking.isolate != "process":
        raise RegistrationError(f"{callee.label}: isolate must be 'process', not {marking.isolate!r}")
    return Runs.PROCESS


def _is_async(callee: Callee) -> bool:
    """Whether what is called is a coroutine function, though the function underneath is not (a wrapper's case)."""
    return callee.call is not callee.function and inspect.iscoroutinefunction(callee.call)


def _entry(callee: Callee, signature: Signature) -> str:
    """Where another process finds the function: `module:name`, or `/path/script.py:name` for a script's own."""
    function = callee.function
    if callee.call is not function or "<" in function.__qualname__ or signature.injected is not None:
        raise RegistrationError(
            f"{callee.label}: isolate='process' needs a function at the top level of a module, without a ToolContext"
        )
    return f"{_place(function)}:{function.__qualname__}"


def _place(function: FunctionType) -> str:
    script = getattr(sys.modules.get("__main__"), "__file__", None) if function.__module__ == "__main__" else None
    return script if isinstance(script, str) else function.__module__


def _in_words(name: str) -> str:
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


@functools.lru_cache(maxsize=256)
def _source(module: str) -> Source:
    return Source("python", module)
