"""The same texts through `transformers` response parsing, printed as one line of JSON.

    .bench/transformers/bin/python bench/dialects/transformers_parse.py --size 20000

Run it in an environment that has transformers 5.13 or later; nothing of Toolcrib is imported here.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

LINE = 'def f(x):  # 3 < 5 and "quoted" {x} [y]\n    return x + 1\n'
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
TEMPLATES: dict[str, dict[str, Any]] = {
    "hermes": {
        "open": "<tool_call>",
        "close": "</tool_call>",
        "repeats": True,
        "content": "json",
        "transform": {"type": "function", "function": "{content}"},
    },
    "qwen3_coder": {
        "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
        "close": "</tool_call>",
        "repeats": True,
        "content": "xml-inline",
        "content_args": {"tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>"},
        "transform": FUNCTION,
    },
}


def template(calls: dict[str, Any]) -> dict[str, Any]:
    thinking = {"open": "<think>", "close": "</think>", "content": "text"}
    fields = {"thinking": thinking, "tool_calls": calls, "content": {"close": "<|im_end|>", "content": "text"}}
    return {"defaults": {"role": "assistant"}, "start_anchor": "<|im_start|>assistant\n", "fields": fields}


def text(dialect: str, size: int) -> str:
    body = (LINE * (size // len(LINE) + 1))[:size]
    if dialect == "hermes":
        call = {"name": "write_log", "arguments": {"path": "/a.py", "body": body}}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    values = "".join(
        f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in (("path", "/a.py"), ("body", body))
    )
    return f"<tool_call>\n<function=write_log>\n{values}</function>\n</tool_call>"


def main() -> None:
    from transformers.utils.chat_parsing import ResponseParser

    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=20_000)
    size = options.parse_args().size

    def feed(content: str, calls: dict[str, Any], count: int) -> object:
        parser = ResponseParser(template(calls), prefix="")
        for start in range(0, len(content), count):
            parser.feed(content[start : start + count])
        return parser.finalize()

    found: dict[str, dict[str, float]] = {}
    for dialect, calls in TEMPLATES.items():
        small, large = text(dialect, size), text(dialect, 2 * size)
        streamed = [best(lambda t=t, c=calls: feed(t, c, 4)) for t in (small, large)]
        found[dialect] = {
            "ratio_4": streamed[1] / streamed[0],
            "deltas_4": len(large) / 4 / streamed[1],
            "megabytes": len(large) / best(lambda t=large, c=calls: feed(t, c, len(t))) / 1e6,
        }
    print(json.dumps(found))


def best(action: Callable[[], object], rounds: int = 3) -> float:
    times: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return max(min(times), 1e-6)


if __name__ == "__main__":
    main()
