"""Formats that write calls like code."""

from __future__ import annotations

from toolcrib.dialects.formats import declarations
from toolcrib.dialects.formats.spec import LETTER, Invoked, Layout

PYTHONIC = Invoked(
    name="pythonic",
    declaration=declarations.PYTHONIC,
    opens=("[", ""),
    starts=LETTER,
    bare=True,
    ahead=(
        ("", r"[^\W\d][\w.\-/:]{0,128}(?:\Z|\()"),
        ("[", r"\s{0,40}(?:\Z|[^\W\d][\w.\-/:]{0,128}\s{0,40}(?:\Z|\())"),
    ),
    drops=("<|eot_id|>", "<|eom_id|>", "<|python_start|>", "<|python_end|>"),
    layout=Layout("$name($pairs)", before="[", between=", ", after="]", pair="$key=$value", pairs_between=", "),
)
LLAMA4_PYTHONIC = Invoked(
    name="llama4_pythonic",
    declaration=declarations.LLAMA4,
    opens=("<|python_start|>",),
    closes=("<|python_end|>",),
    drops=("<|eot|>", "<|eom|>"),
    layout=Layout(
        "$name($pairs)",
        before="<|python_start|>[",
        between=", ",
        after="]<|python_end|>",
        pair="$key=$value",
        pairs_between=", ",
    ),
)
LLAMA3_BUILTIN = Invoked(
    name="llama3_builtin",
    opens=("<|python_tag|>",),
    starts=LETTER,
    drops=("<|eot_id|>", "<|eom_id|>"),
    layout=Layout("<|python_tag|>$name.call($pairs)", between="\n", pair="$key=$value", pairs_between=", "),
)
OLMO3 = Invoked(
    name="olmo3",
    opens=("<function_calls>",),
    closes=("</function_calls>",),
    layout=Layout(
        "$name($pairs)",
        before="<function_calls>",
        between="\n",
        after="</function_calls>",
        pair="$key=$value",
        pairs_between=", ",
    ),
)
LFM2 = Invoked(
    name="lfm2",
    opens=("<|tool_call_start|>",),
    closes=("<|tool_call_end|>",),
    drops=("<|im_end|>",),
    layout=Layout(
        "$name($pairs)",
        before="<|tool_call_start|>[",
        between=", ",
        after="]<|tool_call_end|>",
        pair="$key=$value",
        pairs_between=", ",
    ),
)
GEMMA4 = Invoked(
    name="gemma4",
    opens=("<|tool_call>",),
    closes=("<tool_call|>",),
    starts=LETTER,
    reasoning=("<|channel>thought\n", "<channel|>"),
    drops=("<turn|>", "<|tool_response>"),
    prefix="call:",
    bracket="{",
    quotes=('<|"|>',),
    layout=Layout("<|tool_call>call:$name{$pairs}<tool_call|>", pair="$key:$value", pairs_between=","),
)
FUNCTIONGEMMA = Invoked(
    name="functiongemma",
    opens=("<start_function_call>",),
    closes=("<end_function_call>",),
    starts=LETTER,
    drops=("<end_of_turn>", "<start_function_response>"),
    prefix="call:",
    bracket="{",
    quotes=("<escape>",),
    text_values=True,
    layout=Layout(
        "<start_function_call>call:$name{$pairs}<end_function_call>",
        pair="$key:<escape>$value<escape>",
        pairs_between=",",
    ),
)
