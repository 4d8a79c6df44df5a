"""Response templates of tokenizers are formats like any other."""

from __future__ import annotations

from typing import Any

import pytest
from samples import TOOLS, plain, stream

from toolcrib.dialects import parse
from toolcrib.dialects.huggingface import UnsupportedTemplate, load_response_template

THINKING = {"open": "<think>", "close": "</think>", "content": "text"}
CONTENT = {"close": "<|im_end|>", "content": "text"}
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}


def template(**calls: Any) -> dict[str, Any]:
    return {"start_anchor": "x", "fields": {"thinking": THINKING, "tool_calls": calls, "content": CONTENT}}


TEMPLATES = {
    "JSON between tags": (
        template(open="<call>", close="</call>", repeats=True, content="json", transform={"function": "{content}"}),
        '<think>hm</think>Hi <call>{"name": "tide_at", "arguments": {"harbour": "Lund"}}</call><|im_end|>',
    ),
    "a list with keys of its own": (
        template(
            open="<|ACT|>",
            close="<|/ACT|>",
            content="json",
            transform_each=True,
            transform={"function": {"name": "{tool}", "arguments": "{with}"}},
        ),
        '<think>hm</think>Hi <|ACT|>[{"tool": "tide_at", "with": {"harbour": "Lund"}}]<|/ACT|>',
    ),
    "the name in a header": (
        template(
            open_pattern=r"<\|to\|>functions\.(?P<name>\w+).*?<\|message\|>",
            close="<|call|>",
            content="json",
            transform=FUNCTION,
        ),
        '<think>hm</think>Hi <|to|>functions.tide_at json<|message|>{"harbour": "Lund"}<|call|>',
    ),
    "one tag per argument": (
        template(
            open_pattern=r"<tool>\s*<function=(?P<name>\w+)>",
            close="</tool>",
            content="xml-inline",
            content_args={"tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>"},
            transform=FUNCTION,
        ),
        "<think>hm</think>Hi <tool>\n<function=tide_at>\n<parameter=harbour>\nLund\n</parameter>\n</function>\n</tool>",
    ),
    "bare keys and quotes of its own": (
        template(
            open_pattern=r"<\|do>call:(?P<name>\w+)",
            close="<do|>",
            content="json",
            content_args={"unquoted_keys": True, "string_delims": [["<q>", "<q>"]]},
            transform=FUNCTION,
        ),
        "<think>hm</think>Hi <|do>call:tide_at{harbour:<q>Lund<q>}<do|>",
    ),
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_response_template_loads_as_a_format(kind: str) -> None:
    description, text = TEMPLATES[kind]
    spec = load_response_template("mine", description)
    parsed = parse(text, TOOLS, spec)
    assert (plain(parsed.calls), parsed.content, parsed.reasoning, parsed.dialect) == (
        [("tide_at", {"harbour": "Lund"})],
        "Hi",
        "hm",
        "mine",
    )
    assert stream(list(text), spec) == parsed


@pytest.mark.parametrize(
    "calls", [{}, {"open": "<x>", "content": "kv-lines"}, {"open_pattern": r"\w+", "content": "json"}]
)
def test_a_template_that_cannot_be_read_is_refused(calls: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedTemplate):
        load_response_template("mine", template(**calls))
