"""How tools are listed in the system prompt, as each family of models was trained to read them.

The words and tags are those of the models' chat templates, down to capitals and blank lines: they are wire text.
"""

from __future__ import annotations

from toolcrib.dialects.formats.spec import Declaration

_SIGNATURES = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n$tools\n</tools>\n\n"
)
HERMES = Declaration(
    _SIGNATURES + "For each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n"
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)
QWEN3_CODER = Declaration(
    "# Tools\n\nYou have access to the following functions:\n\n<tools>\n$tools\n</tools>\n\n"
    "If you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- A function call is an inner <function=...></function> block nested within <tool_call></tool_call> XML tags\n"
    "- Required parameters MUST be specified\n"
    "- Reasoning in natural language may stand BEFORE the function call, but NOT after\n"
    "- If no function fits, answer from your own knowledge and say nothing of function calls\n</IMPORTANT>",
    each="<function>\n<name>$name</name>\n<description>$description</description>\n"
    "<parameters>$elements\n</parameters>\n</function>",
)
LLAMA_JSON = Declaration(
    "Given the following functions, please respond with a JSON for a function call with its proper arguments that "
    'best answers the given prompt.\n\nRespond in the format {"name": function name, "parameters": dictionary of '
    "argument name and its value}. Do not use variables.\n\n$tools",
    each="$indented",
    between="\n\n",
)
_FUNCTION_LIST = "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]"
PYTHONIC = Declaration(
    "Given the following functions, please respond with a python list for function calls with their proper arguments "
    f"to best answer the given prompt.\n\nRespond in the format {_FUNCTION_LIST} Do not use variables.\n\n$tools",
    each="$indented",
    between="\n\n",
)
LLAMA4 = Declaration(
    "Here is a list of functions in JSON format that you can invoke. "
    "Use exact format: <|python_start|>[func_name1(param1=value1, param2=value2), func_name2(...)]<|python_end|>\n"
    "[\n$tools\n]",
    each="$indented",
    between=",\n",
)
MISTRAL = Declaration("[AVAILABLE_TOOLS][$tools][/AVAILABLE_TOOLS]", between=", ")
MISTRAL_PRE_V11 = Declaration("[AVAILABLE_TOOLS] [$tools][/AVAILABLE_TOOLS]", between=", ")
HARMONY = Declaration(
    "# Valid channels: analysis, commentary, final. Channel must be included for every message.\n"
    "Calls to these tools must go to the commentary channel: 'functions'.\n\n"
    "# Tools\n\n## functions\n\nnamespace functions {\n\n$tools\n\n} // namespace functions",
    each="$typed",
    between="\n\n",
)
KIMI_K2 = Declaration("# Tools\n\n[$tools]\n\nTo call tools, write:\n$call", each="$compact", between=",")
_SECTIONS = "### $name\nDescription: $paragraph\n\nParameters: $parameters"
_DEEPSEEK = (
    "## Tools\nYou have access to the following tools:\n\n$tools\n\n"
    "IMPORTANT: ALWAYS adhere to this exact format for tool use:\n"
)
_DEEPSEEK_WHERE = (
    "\n\nWhere:\n- `tool_call_name` must be an exact match to one of the available tools\n"
    "- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema\n"
)
DEEPSEEK_V3 = Declaration(
    _DEEPSEEK + "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>tool_call_name\n```json\n"
    "tool_call_arguments\n```<｜tool▁call▁end｜>{additional_tool_calls}<｜tool▁calls▁end｜>"
    + _DEEPSEEK_WHERE
    + "- For multiple tool calls, put each on a new line",
    each=_SECTIONS,
    between="\n\n",
)
DEEPSEEK_V31 = Declaration(
    _DEEPSEEK + "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments"
    "<｜tool▁call▁end｜>{additional_tool_calls}<｜tool▁calls▁end｜>"
    + _DEEPSEEK_WHERE
    + "- For multiple tool calls, chain them directly without separators or spaces",
    each=_SECTIONS,
    between="\n\n",
)
MINIMAX_M2 = Declaration(
    "# Tools\nYou may call one or more tools to assist with the user query.\n"
    "Here are the tools available in JSONSchema format:\n\n<tools>\n$tools\n</tools>\n\n"
    "When making tool calls, use XML format to invoke tools and pass parameters:\n\n"
    '<minimax:tool_call>\n<invoke name="tool-name-1">\n<parameter name="param-key-1">param-value-1</parameter>\n'
    '<parameter name="param-key-2">param-value-2</parameter>\n...\n</invoke>\n</minimax:tool_call>',
    each="<tool>$function</tool>",
)


def glm(opening: str, pair: str, closing: str) -> Declaration:
    """GLM and the models that write calls as it does: a name, then keys and values."""
    pairs = "".join(pair.replace("$key", f"{{arg-key-{n}}}").replace("$value", f"{{arg-value-{n}}}") for n in (1, 2))
    end = "\n" if pair.endswith("\n") else ""
    return Declaration(
        _SIGNATURES + "For each function call, output the function name and arguments within the following XML "
        f"format:\n{opening.replace('$name', '{function-name}')}{pairs}...{end}{closing}"
    )


def invoke(mark: str, opening: str, closing: str, flag: str) -> Declaration:
    """The blocks of `invoke` elements of Anthropic and of DeepSeek V3.2, which differ in `mark` and `flag`."""
    shown = _invocations(mark, opening, closing, flag, "FUNCTION")
    plain = "String and scalar parameters should be specified as is"
    return Declaration(
        ("## Tools\n\nYou have" if mark else "In this environment you have") + " access to a set of tools you can use "
        "to answer the user's question.\n"
        f'You can invoke functions by writing a "{opening or f"<{mark}invoke>"}" block like the following as part of '
        f"your reply to the user:\n{shown}\n\n"
        + (f"{plain} without any escaping or quotes" if flag else plain)
        + ", while lists and objects should use JSON format."
        + (_FLAGGED if flag else "")
        + (_THOUGHTFUL.replace("$opening", opening).replace("$closing", closing) if "DSML" in mark else "")
        + "\n\nHere are the functions available in JSONSchema format:\n<functions>\n$tools\n</functions>",
        each="$function" if mark else "<function>$described</function>",
    )


_FLAGGED = (
    ' The "string" attribute should be set to "true" for string type parameters and "false" for other types '
    "(numbers, booleans, arrays, objects)."
)
_THOUGHTFUL = (
    "\n\nIf the thinking_mode is enabled, then after function results you should strongly consider outputting a "
    "thinking block. Here is an example:\n\n$opening\n...\n$closing\n\n"
    "<function_results>\n...\n</function_results>\n\n<think>...thinking about results</think>"
)


def invoke_tools(mark: str, opening: str, closing: str) -> Declaration:
    """The same blocks as DeepSeek V4 and its successors are told of them."""
    return Declaration(
        "## Tools\n\nYou have access to a set of tools to help answer the user's question. "
        f'You can invoke tools by writing a "{opening}" block like the following:\n\n'
        + _invocations(mark, opening, closing, ' string="true|false"', "TOOL")
        + '\n\nString parameters should be specified as is and set `string="true"`. For all other types (numbers, '
        'booleans, arrays, objects), pass the value in JSON format and set `string="false"`.\n\n'
        "If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside "
        "<think>...</think> BEFORE any tool calls or final response.\n\n"
        "Otherwise, output directly after </think> with tool calls or final response.\n\n"
        "### Available Tool Schemas\n\n$tools\n\n"
        "You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.",
        each="$function",
    )


def _invocations(mark: str, opening: str, closing: str, flag: str, word: str) -> str:
    """Two calls, the first with a parameter."""
    return (
        f'{opening}\n<{mark}invoke name="${word}_NAME">\n'
        f'<{mark}parameter name="$PARAMETER_NAME"{flag}>$PARAMETER_VALUE</{mark}parameter>\n...\n</{mark}invoke>\n'
        f'<{mark}invoke name="${word}_NAME2">\n...\n</{mark}invoke>\n{closing}'
    )
