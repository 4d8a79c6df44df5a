"""Formats that write a call as a JSON object."""

from __future__ import annotations

from toolcrib.dialects.formats import declarations
from toolcrib.dialects.formats.spec import JsonBlock, Layout, Shape

_NAMED = '{"name": "$name", "arguments": $arguments}'
_PARAMETERS = '{"name": "$name", "parameters": $arguments}'
_COHERE = '{"tool_call_id": "$index", "tool_name": "$name", "parameters": $arguments}'
_DUMP = '{"id": "call_$index", "type": "function", "function": {"name": "$name", "arguments": $quoted}}'
_KEYS = "name|tool_name|tool|function|tool_calls|type|id|tool_call_id|call_id|index|arguments|parameters|args|input"
_IN_OBJECT = rf"""\s{{0,40}}(?:\Z|["'](?:\w{{0,16}}\Z|(?:{_KEYS})["']))"""
_AHEAD = (("{", _IN_OBJECT), ("[", rf"\s{{0,40}}(?:\Z|\{{{_IN_OBJECT})"))
_END_TURN = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>")

HERMES = JsonBlock(
    name="hermes",
    declaration=declarations.HERMES,
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    drops=("<|im_end|>",),
    layout=Layout(f"<tool_call>\n{_NAMED}\n</tool_call>", between="\n"),
    names=("qwen3_json", "nous"),
)
QWEN25 = JsonBlock(
    name="qwen25",
    declaration=declarations.HERMES,
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    drops=("<|im_end|>",),
    layout=Layout(f"<tool_call>\n{_NAMED}\n</tool_call>", between="\n"),
    names=("qwen", "trinity"),
)
LONGCAT = JsonBlock(
    name="longcat",
    opens=("<longcat_tool_call>",),
    closes=("</longcat_tool_call>",),
    layout=Layout(f"<longcat_tool_call>{_NAMED}</longcat_tool_call>", between="\n"),
)
ERNIE45 = JsonBlock(
    name="ernie45",
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    layout=Layout(f"<tool_call>\n{_NAMED}\n</tool_call>\n"),
)
GRANITE4 = JsonBlock(
    name="granite4",
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    layout=Layout(f"<tool_call>{_NAMED}</tool_call>", between="\n"),
)
GRANITE_20B_FC = JsonBlock(
    name="granite_20b_fc",
    opens=("<function_call>",),
    layout=Layout(f"<function_call> {_NAMED}", between="\n"),
    names=("granite-20b-fc",),
)
INTERNLM = JsonBlock(
    name="internlm",
    opens=("<|action_start|>",),
    closes=("<|action_end|>",),
    starts="<{[",
    leads=("<|plugin|>",),
    layout=Layout(f"<|action_start|><|plugin|>{_PARAMETERS}<|action_end|>"),
)
INTERNS1 = JsonBlock(
    name="interns1",
    opens=("<|action_start|>",),
    closes=("<|action_end|>",),
    starts="<{[",
    leads=("<|plugin|>",),
    layout=Layout(f"<|action_start|> <|plugin|>\n{_PARAMETERS}<|action_end|>"),
)
GIGACHAT3 = JsonBlock(
    name="gigachat3",
    opens=("function call<|role_sep|>",),
    drops=("<|message_sep|>",),
    layout=Layout(f"<|message_sep|>\n\nfunction call<|role_sep|>\n{_NAMED}"),
)
INKLING = JsonBlock(
    name="inkling",
    opens=("<|content_invoke_tool_json|>",),
    closes=("<|end_message|>",),
    reasoning=("<|content_thinking|>", "<|end_message|>"),
    drops=("<|message_model|>", "<|content_text|>", "<|end_message|>"),
    layout=Layout('<|message_model|><|content_invoke_tool_json|>{"name": "$name", "args": $arguments}<|end_message|>'),
)
LLAMA3_JSON_TAG = JsonBlock(
    name="llama3_json_tag",
    opens=("<|python_tag|>",),
    drops=_END_TURN,
    layout=Layout(_PARAMETERS, before="<|python_tag|>", between="; "),
)
GRANITE = JsonBlock(
    name="granite",
    opens=("<|tool_call|>",),
    layout=Layout(_NAMED, before="<|tool_call|> [", between=", ", after="]"),
)
GRANITE31 = JsonBlock(
    name="granite31",
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    layout=Layout(_NAMED, before="<tool_call> [", between=", ", after="]"),
)
JAMBA = JsonBlock(
    name="jamba",
    opens=("<tool_calls>",),
    closes=("</tool_calls>",),
    layout=Layout(_NAMED, before=" <tool_calls>[\n    ", between=",\n    ", after="\n]</tool_calls>"),
)
HUNYUAN_A13B = JsonBlock(
    name="hunyuan_a13b",
    opens=("<tool_calls>",),
    closes=("</tool_calls>",),
    layout=Layout(_NAMED, before="<tool_calls>[", between=", ", after="]</tool_calls>"),
)
PHI4_MINI = JsonBlock(
    name="phi4_mini",
    opens=("functools",),
    starts="[{",
    layout=Layout(_NAMED, before="functools[", between=", ", after="]"),
    names=("phi4_mini_json",),
)
MISTRAL_PRE_V11 = JsonBlock(
    name="mistral_pre_v11",
    declaration=declarations.MISTRAL_PRE_V11,
    opens=("[TOOL_CALLS]",),
    drops=("</s>",),
    reasoning=("[THINK]", "[/THINK]"),
    layout=Layout(_NAMED, before="[TOOL_CALLS] [", between=", ", after="]"),
    names=("mistral_old",),
)
APERTUS = JsonBlock(
    name="apertus",
    opens=("<|tools_prefix|>",),
    closes=("<|tools_suffix|>",),
    shape=Shape.KEYED,
    layout=Layout('{"$name": $arguments}', before="<|tools_prefix|>[", between=", ", after="]<|tools_suffix|>"),
    names=("apertus2509",),
)
COHERE_COMMAND3 = JsonBlock(
    name="cohere_command3",
    opens=("<|START_ACTION|>",),
    closes=("<|END_ACTION|>",),
    reasoning=("<|START_THINKING|>", "<|END_THINKING|>"),
    drops=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"),
    layout=Layout(_COHERE, before="<|START_ACTION|>\n[\n    ", between=",\n    ", after="\n]\n<|END_ACTION|>"),
)
COHERE_COMMAND4 = JsonBlock(
    name="cohere_command4",
    opens=("<|START_ACTION|>",),
    closes=("<|END_ACTION|>",),
    reasoning=("<|START_THINKING|>", "<|END_THINKING|>"),
    drops=("<|START_TEXT|>", "<|END_TEXT|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"),
    layout=Layout(_COHERE, before="<|START_ACTION|>\n[\n    ", between=",\n    ", after="\n]\n<|END_ACTION|>"),
)
NEMOTRON_NANO_V2 = JsonBlock(
    name="nemotron_nano_v2",
    opens=("<TOOLCALL>",),
    closes=("</TOOLCALL>",),
    layout=Layout(_NAMED, before="<TOOLCALL>[", between=", ", after="]</TOOLCALL>"),
)
COMMAND_R_PLUS = JsonBlock(
    name="command_r_plus",
    opens=("Action:",),
    closes=("```",),
    starts="`",
    layout=Layout(
        '{"tool_name": "$name", "parameters": $arguments}',
        before="Action:\n```json\n[",
        between=", ",
        after="]\n```",
    ),
)
FENCED_JSON = JsonBlock(
    name="fenced_json",
    opens=("```",),
    closes=("```",),
    starts="{[jJt",
    leads=("json", "JSON", "tool_call", "tool_code", "tool_use"),
    layout=Layout(f"```json\n{_NAMED}\n```", between="\n"),
)
LLAMA3_JSON = JsonBlock(
    name="llama3_json",
    declaration=declarations.LLAMA_JSON,
    opens=("{", "[", "<|python_tag|>"),
    starts="\"'{[",
    drops=_END_TURN,
    bare=True,
    ahead=_AHEAD,
    leads=("<|python_tag|>",),
    layout=Layout(_PARAMETERS, between="; "),
    names=("llama4_json", "llama3"),
)
XLAM = JsonBlock(
    name="xlam",
    opens=("[", "{"),
    starts="\"'{",
    bare=True,
    ahead=_AHEAD,
    layout=Layout(_NAMED, before="[", between=", ", after="]"),
)
OPENAI_JSON_DUMP = JsonBlock(
    name="openai_json_dump",
    opens=("{", "["),
    starts="\"'{",
    bare=True,
    ahead=_AHEAD,
    leads=('{"tool_calls": [', '{"tool_calls":['),
    layout=Layout(_DUMP, before='{"tool_calls": [', between=", ", after="]}"),
)
