"""The implementation hash: the same function gives the same hash wherever it stands, on whatever line."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from types import CodeType, FunctionType


def implementation_of(function: FunctionType | type) -> str:
    """SHA-256 of the source text, decorators included; of the bytecode where there is no source."""
    return hashlib.sha256(_text(function).encode()).hexdigest()


def _text(function: FunctionType | type) -> str:
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        if isinstance(function, type):
            return f"{function.__module__}.{function.__qualname__}"
        return _code_text(function.__code__) + repr((function.__defaults__, function.__kwdefaults__))
    lines = [line.rstrip() for line in textwrap.dedent(source).splitlines()]
    return "\n".join(lines).strip()


def _code_text(code: CodeType) -> str:
    constants = [_code_text(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants))
