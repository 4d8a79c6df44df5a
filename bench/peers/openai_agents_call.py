"""openai-agents: one call through its run loop's own steps, which look the tool up and execute it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from agents import Agent, function_tool

    return Agent(name="bench", tools=[function_tool(function) for function in functions])


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    from agents import ModelResponse, RunConfig, RunContextWrapper, RunHooks, Usage, set_tracing_disabled
    from agents.run_internal.agent_bindings import bind_public_agent
    from agents.run_internal.tool_execution import execute_function_tool_calls
    from agents.run_internal.turn_resolution import process_model_response
    from openai.types.responses import ResponseFunctionToolCall

    set_tracing_disabled(True)
    agent = register(functions)
    tools = await agent.get_all_tools(RunContextWrapper(None))
    bindings, hooks, config = bind_public_agent(agent), RunHooks(), RunConfig(tracing_disabled=True)

    async def call(name: str, arguments: str) -> object:
        wanted = ResponseFunctionToolCall(name=name, arguments=arguments, call_id="call_1", type="function_call")
        response = ModelResponse(output=[wanted], usage=Usage(), response_id=None)
        processed = process_model_response(
            agent=agent, all_tools=tools, response=response, output_schema=None, handoffs=[], run_config=config
        )
        results, _, _ = await execute_function_tool_calls(
            bindings=bindings,
            tool_runs=processed.functions,
            hooks=hooks,
            context_wrapper=RunContextWrapper(None),
            config=config,
        )
        return results

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="openai_agents",
            distribution="openai-agents",
            imports="import agents",
            register=register,
            open=open_calls,
            answer=lambda results: results[0].output,
        )
    )
