"""Composites: a series of calls in the name of whoever calls, each decided and recorded by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from toolcrib.toolsets.dynamic.kinds import Composite, Step
from toolcrib.toolsets.dynamic.references import Reference, argument_of, filled
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult, ToolReturn
from toolcrib.values.tool import Arguments

MAX_SECONDS = 600.0


async def run_steps(
    composite: Composite,
    schema: Mapping[str, Json],
    context: ToolContext,
    arguments: Arguments,
    check: Callable[[ToolContext], Awaitable[None]],
) -> ToolReturn:
    """Call one step after the other; the result is that of the last. `check` is asked again before each further one."""
    _require_all(composite, context)
    results: list[ToolResult] = []

    def look(reference: Reference) -> Json | object:
        if reference.step:
            return results[reference.step - 1].text
        return argument_of(arguments, schema, reference.name)

    for step in composite.steps:
        if results:
            await check(context)
        given = filled(step.arguments, look)
        assert isinstance(given, Mapping)
        result = await context.call(step.tool, given)  # pyright: ignore[reportUnknownArgumentType]
        results.append(result)
        if not result.ok:
            raise _failed(step, results, len(composite.steps))
    told: JsonObject = {"steps": [{"tool": result.name, "call_id": result.call_id} for result in results]}
    return ToolReturn(results[-1].content, told)


def _require_all(composite: Composite, context: ToolContext) -> None:
    """Nothing begins that its caller could not do by itself."""
    has = context.standing().has
    if missing := [name for name in composite.uses if not has(name)]:
        message = f"{context.name} uses {', '.join(missing)}, which this run does not have; nothing was started"
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, message, {"missing": list(missing)})


def _failed(step: Step, results: list[ToolResult], count: int) -> Refusal:
    number, result = len(results), results[-1]
    why = result.error.message if result.error is not None else result.text
    before = f" The {number - 1} before it took effect." if number > 1 else ""
    message = f"step {number} of {count} ({step.tool}) failed: {why[:2_000]}{before}"
    details: JsonObject = {"step": number, "tool": step.tool, "call_id": result.call_id}
    return Refusal(result.reason or Reason.INTERNAL_ERROR, message, details)
