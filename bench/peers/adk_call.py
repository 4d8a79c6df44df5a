"""google-adk: one call through `handle_function_calls_async`, the path of its model flow."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from google.adk.tools import FunctionTool

    return {function.__name__: FunctionTool(function) for function in functions}


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    from google.adk.agents import LlmAgent
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events import Event
    from google.adk.flows.llm_flows.functions import handle_function_calls_async
    from google.adk.sessions import InMemorySessionService
    from google.genai import types

    tools = register(functions)
    agent = LlmAgent(name="bench", tools=list(tools.values()))
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="bench", user_id="bench")
    context = InvocationContext(session_service=sessions, invocation_id="bench", agent=agent, session=session)

    async def call(name: str, arguments: str) -> object:
        wanted = types.FunctionCall(id="call_1", name=name, args=json.loads(arguments))
        content = types.Content(role="model", parts=[types.Part(function_call=wanted)])
        return await handle_function_calls_async(context, Event(author="bench", content=content), tools)

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="adk",
            distribution="google-adk",
            imports="from google.adk.agents import LlmAgent\nfrom google.adk.tools import FunctionTool",
            register=register,
            open=open_calls,
            answer=lambda event: event.content.parts[0].function_response.response["result"],
        )
    )
