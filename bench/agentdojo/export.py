"""Suites of AgentDojo as JSON, with what each ground-truth call returned: `.bench/agentdojo/bin/python export.py`.

Runs where agentdojo is installed and Toolcrib is not; no model is asked anything.
"""

import json
import sys
from typing import Any

from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites

VERSION = "v1.2.2"


def main() -> None:
    suites = get_suites(VERSION)
    json.dump({"version": VERSION, "suites": {name: suite_json(suite) for name, suite in suites.items()}}, sys.stdout)


def suite_json(suite: Any) -> dict[str, Any]:
    environment = suite.load_and_inject_default_environment({})
    return {
        "tools": [
            {"name": tool.name, "description": tool.description, "schema": tool.parameters.model_json_schema()}
            for tool in suite.tools
        ],
        "user_tasks": {name: calls_of(suite, task, environment) for name, task in suite.user_tasks.items()},
        "injections": {name: calls_of(suite, task, environment) for name, task in suite.injection_tasks.items()},
    }


def calls_of(suite: Any, task: Any, environment: Any) -> list[dict[str, Any]]:
    """The calls that solve a task, each with what it returned when all before it had been made."""
    world = environment.model_copy(deep=True)
    if hasattr(task, "init_environment"):
        world = task.init_environment(world)
    runtime, found = FunctionsRuntime(suite.tools), []
    for call in task.ground_truth(world.model_copy(deep=True)):
        arguments = dict(call.args)
        result, error = runtime.run_function(world, call.function, arguments, raise_on_error=False)
        found.append({"name": call.function, "arguments": arguments, "answer": str(result)[:4_000], "error": error})
    return found


if __name__ == "__main__":
    main()
