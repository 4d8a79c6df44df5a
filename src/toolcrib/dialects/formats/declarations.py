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
KIMI_K2 = Declaration("# Tools\n\n[$tools]\n\nTo call tools, write:\n$call", between=",")
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
    """DeepSeek's and Anthropic's blocks of `invoke` elements, which differ in `mark` and `flag`."""
    parameter = f'<{mark}parameter name="$PARAMETER_NAME"{flag}>$PARAMETER_VALUE</{mark}parameter>'
    return Declaration(
        ("## Tools\n\nYou have" if mark else "In this environment you have") + " access to a set of tools you can use "
        "to answer the user's question.\n"
        f'You can invoke functions by writing a "{opening or f"<{mark}invoke>"}" block like the following as part of '
        "your reply to the user:\n"
        f'{opening}\n<{mark}invoke name="$FUNCTION_NAME">\n{parameter}\n...\n</{mark}invoke>\n'
        f'<{mark}invoke name="$FUNCTION_NAME2">\n...\n</{mark}invoke>\n{closing}\n\n'
        f"String and scalar parameters should be specified as is{' without any escaping or quotes' if flag else ''}, "
        "while lists and objects should use JSON format."
        + (' The "string" attribute is "true" for string parameters and "false" for all others.' if flag else "")
        + "\n\nHere are the functions available in JSONSchema format:\n<functions>\n$tools\n</functions>",
        each="$function" if mark else "<function>$function</function>",
    )
