"""Cedar (cedarpy): the same rules as a policy set that is parsed once, one authorization per call, as one line of JSON.

A rule that allows is a permit, one that asks or denies is a forbid; tools, paths and commands are attributes of the
context. A third verdict would cost Cedar a second authorization, which is not counted here.
"""

import gc
import json
import statistics
import time

import cedarpy

from policy_plan import CALLS, PLAN, Decided, Planned

ROUNDS, SECONDS = 7, 0.1


def policy(rule: Planned) -> str:
    conditions = [f'context.tool like "{rule.tool.replace("**", "*")}"']
    if rule.path:
        conditions.append(f'context.path like "{rule.path.replace("**", "*")}"')
    if rule.command:
        conditions.append(f'(context.command == "{rule.command}" || context.command like "{rule.command} *")')
    effect = "permit" if rule.verdict == "allow" else "forbid"
    return f"{effect}(principal, action, resource) when {{ {' && '.join(conditions)} }};"


def request(call: Decided) -> dict[str, object]:
    context = {"tool": call.tool, "path": call.path, "command": call.command}
    return {"principal": 'Agent::"main"', "action": 'Action::"call"', "resource": 'Tool::"any"', "context": context}


def microseconds(wanted: dict[str, object], policies: object, entities: object) -> float:
    times: list[float] = []
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        count, began = 0, time.process_time()
        while (spent := time.process_time() - began) < SECONDS:
            for _ in range(10):
                cedarpy.is_authorized(wanted, policies, entities)
            count += 10
        times.append(spent / count * 1e6)
    gc.enable()
    return statistics.median(times)


def main() -> None:
    policies = cedarpy.PolicySet.from_str("\n".join(map(policy, PLAN)))
    entities = cedarpy.Entities.from_json_str("[]")
    figures: dict[str, float] = {}
    for call in CALLS:
        wanted = request(call)
        decided = cedarpy.is_authorized(wanted, policies, entities).decision
        assert (decided is cedarpy.Decision.Allow) == (call.verdict == "allow"), (call, decided)
        figures[f"{call.kind}_us"] = microseconds(wanted, policies, entities)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
