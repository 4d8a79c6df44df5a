"""Formats that write the tool's name in a header and its arguments as JSON behind it."""

from __future__ import annotations

from toolcrib.dialects.formats import declarations
from toolcrib.dialects.formats.spec import LETTER, Channels, Header, Layout

_NAME = r"(?P<name>[^\s<>{}\[\]`\"'｜|]+)"
_FENCE = r"(?:\s*```(?:json)?)?\s*"

DEEPSEEK_V3 = Header(
    name="deepseek_v3",
    declaration=declarations.DEEPSEEK_V3,
    opens=("<｜tool▁call▁begin｜>",),
    closes=("<｜tool▁call▁end｜>",),
    wraps=(("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),),
    drops=("<｜end▁of▁sentence｜>",),
    head=rf"\s*(?:function\s*<｜tool▁sep｜>\s*)?{_NAME}\s*(?:<｜tool▁sep｜>)?{_FENCE}",
    layout=Layout(
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\n```json\n$arguments\n```<｜tool▁call▁end｜>",
        before="<｜tool▁calls▁begin｜>",
        between="\n",
        after="<｜tool▁calls▁end｜>",
    ),
    names=("deepseekv3",),
)
DEEPSEEK_V31 = Header(
    name="deepseek_v31",
    declaration=declarations.DEEPSEEK_V31,
    opens=("<｜tool▁call▁begin｜>",),
    closes=("<｜tool▁call▁end｜>",),
    wraps=(("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),),
    drops=("<｜end▁of▁sentence｜>",),
    head=rf"\s*(?:function\s*<｜tool▁sep｜>\s*)?{_NAME}\s*(?:<｜tool▁sep｜>)?{_FENCE}",
    layout=Layout(
        "<｜tool▁call▁begin｜>$name<｜tool▁sep｜>$arguments<｜tool▁call▁end｜>",
        before="<｜tool▁calls▁begin｜>",
        after="<｜tool▁calls▁end｜>",
    ),
    names=("deepseekv31",),
)
KIMI_K2 = Header(
    name="kimi_k2",
    declaration=declarations.KIMI_K2,
    opens=("<|tool_call_begin|>",),
    closes=("<|tool_call_end|>",),
    wraps=(("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),),
    drops=("<|im_end|>",),
    head=rf"\s*(?P<id>{_NAME[:-1]}?)(?::\d+)?)\s*<\|tool_call_argument_begin\|>{_FENCE}",
    layout=Layout(
        "<|tool_call_begin|>functions.$name:$index<|tool_call_argument_begin|>$arguments<|tool_call_end|>",
        before="<|tool_calls_section_begin|>",
        after="<|tool_calls_section_end|>",
    ),
)
MISTRAL = Header(
    name="mistral",
    declaration=declarations.MISTRAL,
    opens=("[TOOL_CALLS]",),
    starts=LETTER,
    reasoning=("[THINK]", "[/THINK]"),
    drops=("</s>",),
    head=rf"\s*{_NAME}\s*(?:\[CALL_ID\]\s*(?P<id>\w+)\s*)?(?:\[ARGS\])?{_FENCE}",
    layout=Layout("[TOOL_CALLS]$name[ARGS]$arguments"),
)
MISTRAL_BARE = Header(
    name="mistral_bare",
    declaration=declarations.MISTRAL,
    opens=("[TOOL_CALLS]",),
    starts=LETTER,
    reasoning=("[THINK]", "[/THINK]"),
    drops=("</s>",),
    head=rf"\s*{_NAME}\s*(?:\[CALL_ID\]\s*(?P<id>\w+)\s*)?(?:\[ARGS\])?{_FENCE}",
    layout=Layout("[TOOL_CALLS]$name$arguments"),
)
_PLAMO = "<|plamo:{}:plamo|>".format
PLAMO3 = Header(
    name="plamo3",
    opens=(_PLAMO("begin_tool_request"),),
    closes=(_PLAMO("end_tool_arguments") + _PLAMO("end_tool_request"), _PLAMO("end_tool_request")),
    wraps=((_PLAMO("begin_tool_requests"), _PLAMO("end_tool_requests")),),
    reasoning=(_PLAMO("begin_think"), _PLAMO("end_think")),
    head=r"\s*<\|plamo:begin_tool_name:plamo\|>\s*(?P<name>[^\s<]+)\s*<\|plamo:end_tool_name:plamo\|>\s*"
    r"(?:<\|plamo:begin_tool_arguments:plamo\|>)?\s*(?:<\|plamo:constrain\|>\w*)?\s*(?:<\|plamo:msg\|>)?\s*",
    layout=Layout(
        _PLAMO("begin_tool_request")
        + _PLAMO("begin_tool_name")
        + "$name"
        + _PLAMO("end_tool_name")
        + _PLAMO("begin_tool_arguments")
        + "<|plamo:constrain|>json<|plamo:msg|>$arguments"
        + _PLAMO("end_tool_arguments")
        + _PLAMO("end_tool_request"),
        before=_PLAMO("begin_tool_requests"),
        after=_PLAMO("end_tool_requests"),
    ),
)
GPT_OSS = Channels(
    name="gpt_oss",
    declaration=declarations.HARMONY,
    opens=("<|channel|>", "<|start|>"),
    reasoning=("<|channel|>analysis<|message|>", "<|end|>"),
    drops=("<|end|>", "<|return|>", "<|call|>", "<|message|>"),
    layout=Layout(
        "<|channel|>commentary to=functions.$name <|constrain|>json<|message|>$arguments<|call|>",
        between="<|start|>assistant",
    ),
    names=("gpt-oss", "harmony", "openai"),
)
FUNCTIONARY_V31 = Header(
    name="functionary_v31",
    opens=("<function=",),
    closes=("</function>",),
    head=rf"\s*\"?{_NAME}\"?\s*>{_FENCE}",
    layout=Layout("<function=$name>$arguments</function>"),
)
FUNCTIONARY_V32 = Header(
    name="functionary_v32",
    opens=("", ">>>"),
    starts=LETTER,
    head=_NAME,
    ends=("\n",),
    prose_name="all",
    layout=Layout("$name\n$arguments", between=">>>"),
)
REACT = Header(
    name="react",
    opens=("Action:",),
    starts=LETTER,
    head=rf"\s*{_NAME}\s*\n\s*Action Input:{_FENCE}",
    layout=Layout("Action: $name\nAction Input: $arguments", between="\n"),
)
