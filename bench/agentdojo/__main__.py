"""`python -m bench.agentdojo`: the table of the replay, suite by suite."""

import asyncio
from collections.abc import Mapping

from bench.agentdojo.replay import (
    FEW,
    Injection,
    Sites,
    Suite,
    UserTask,
    load_suites,
    replay_injection,
    replay_user_task,
    replayable,
)


def main() -> None:
    suites = load_suites()
    rows = asyncio.run(replay(suites))
    print("| suite | user tasks | completed with at most 2 prompts | prompts per task | injections after user tasks "
          "| surfaced | what they did, and unseen |\n|---|---|---|---|---|---|---|")  # fmt: skip
    everything: tuple[list[UserTask], list[Injection]] = ([], [])
    for name, (tasks, injections) in rows.items():
        print(_row(name, tasks, injections))
        everything[0].extend(tasks)
        everything[1].extend(injections)
    print(_row("**all**", *everything))
    unlisted = asyncio.run(replay(suites, Sites.NOT_LISTED)).values()
    print(_row("all, nothing configured", *([each for row in unlisted for each in row[part]] for part in (0, 1))))
    for task in everything[0]:
        if not task.completed or task.prompts > FEW:
            print(f"\n{task.name}: {task.prompts} prompts{'' if task.completed else ', not completed'}", end="")
    print()


Rows = dict[str, tuple[list[UserTask], list[Injection]]]


async def replay(suites: Mapping[str, Suite], sites: Sites = Sites.LISTED) -> Rows:
    """Every user task alone, and every injection after every user task."""
    rows: Rows = {}
    for name, suite in suites.items():
        tasks = [await replay_user_task(name, suite, task, sites) for task in suite["user_tasks"]]
        injections = [
            await replay_injection(name, suite, task, injection, sites)
            for task in suite["user_tasks"]
            for injection in replayable(suite)
        ]
        rows[name] = (tasks, injections)
    return rows


def is_surfaced(injection: Injection) -> bool:
    """Whether a person saw it, or it was denied: at least one thing that it did was put to them before it was done."""
    return injection.unseen < injection.acted


def _row(name: str, tasks: list[UserTask], injections: list[Injection]) -> str:
    few = sum(task.completed and task.prompts <= FEW for task in tasks)
    seen = sum(map(is_surfaced, injections))
    acted, unseen = sum(each.acted for each in injections), sum(each.unseen for each in injections)
    mean = sum(task.prompts for task in tasks) / len(tasks)
    return (
        f"| {name} | {len(tasks)} | {few} ({few / len(tasks):.1%}) | {mean:.2f} | {len(injections)} "
        f"| {seen} ({seen / len(injections):.1%}) | {acted}, {unseen} |"
    )


if __name__ == "__main__":
    main()
