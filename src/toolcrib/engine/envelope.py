"""The envelope `tools.call`: opened before anything else, so that what is settled is the call inside."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.catalog.validate import arguments_of
from toolcrib.values.call import ToolCall
from toolcrib.values.name import ENVELOPE, ENVELOPES
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import NOTHING

EXAMPLE = '{"name": "notes.read", "arguments": {"title": "today"}}'


def opened(call: ToolCall) -> ToolCall:
    """The call inside an envelope, under the envelope's id; any other call, and what cannot be opened, as it is."""
    if call.name not in ENVELOPES:
        return call
    try:
        return unwrapped(call)
    except Refusal:
        return call


def unwrapped(call: ToolCall) -> ToolCall:
    """The call inside an envelope; a refusal when there is not exactly one."""
    given = arguments_of(call.arguments)
    name, arguments = given.get("name"), given.get("arguments")
    if not isinstance(name, str) or not name.strip():
        raise _invalid("'name' must be the name of a tool")
    if name.strip() in ENVELOPES:
        raise _invalid(f"{ENVELOPE} cannot call itself; name the tool that is to be called")
    if arguments is not None and not isinstance(arguments, (Mapping, str)):
        raise _invalid("'arguments' must be an object")
    if further := sorted(given.keys() - {"name", "arguments"}):
        raise _invalid(f"{further[0][:60]!r} does not belong here; put the tool's own parameters into 'arguments'")
    inner = NOTHING if arguments is None else arguments
    return ToolCall(name.strip(), inner, call.id, ENVELOPE, call.repaired, call.metadata)


def _invalid(problem: str) -> Refusal:
    return Refusal(Reason.VALIDATION_ERROR, f"{ENVELOPE}: {problem}, such as {EXAMPLE}")
