"""Formats that write one tag per argument."""

from __future__ import annotations

from toolcrib.dialects.formats import declarations
from toolcrib.dialects.formats.spec import LETTER, Layout, Nested, Tagged, Text

_GLM_HEAD = r"\s*(?P<name>[^\W\d][^\s<>]*)\s*"
_GLM_KEY = r"\s*(?P<key>[^<]*?)\s*</arg_key>\s*"
_GLM_PAIR = "<arg_key>$key</arg_key>\n<arg_value>$value</arg_value>\n"
_GLM_PAIR_FLAT = "<arg_key>$key</arg_key><arg_value>$value</arg_value>"

QWEN3_CODER = Tagged(
    name="qwen3_coder",
    declaration=declarations.QWEN3_CODER,
    opens=("<function=", "<function name="),
    closes=("</function>",),
    wraps=(("<tool_call>", "</tool_call>"),),
    drops=("<|im_end|>",),
    parameter_opens=("<parameter=", "<parameter name="),
    value_close="</parameter>",
    text=Text.LINES,
    layout=Layout(
        "<tool_call>\n<function=$name>\n$pairs</function>\n</tool_call>",
        between="\n",
        pair="<parameter=$key>\n$value\n</parameter>\n",
    ),
    names=("qwen3_xml", "nanbeige"),
)
MIMO = Tagged(
    name="mimo",
    opens=("<function=", "<function name="),
    closes=("</function>",),
    wraps=(("<tool_call>", "</tool_call>"),),
    parameter_opens=("<parameter=", "<parameter name="),
    value_close="</parameter>",
    layout=Layout(
        "<tool_call><function=$name>$pairs</function></tool_call>", pair="<parameter=$key>$value</parameter>"
    ),
)
SEED_OSS = Tagged(
    name="seed_oss",
    opens=("<function=", "<function name="),
    closes=("</function>",),
    wraps=(("<seed:tool_call>", "</seed:tool_call>"),),
    reasoning=("<seed:think>", "</seed:think>"),
    parameter_opens=("<parameter=", "<parameter name="),
    value_close="</parameter>",
    text=Text.LINES,
    layout=Layout(
        "<seed:tool_call>\n<function=$name>\n$pairs</function>\n</seed:tool_call>",
        between="\n",
        pair="<parameter=$key>\n$value\n</parameter>\n",
    ),
)
STEP3P5 = Tagged(
    name="step3p5",
    opens=("<function=", "<function name="),
    closes=("</function>",),
    wraps=(("<tool_call>", "</tool_call>"),),
    parameter_opens=("<parameter=", "<parameter name="),
    value_close="</parameter>",
    text=Text.LINES,
    layout=Layout(
        "<tool_call>\n<function=$name>\n$pairs</function>\n</tool_call>",
        between="\n",
        pair="<parameter=$key>\n$value\n</parameter>\n",
    ),
)


def _invoke(name: str, mark: str, section: str, *names: str, flagged: bool = True) -> Tagged:
    """The `invoke` / `parameter` formats differ in what stands before each tag's name and in the section's tag."""
    flag = ' string="$is_string"' if flagged else ""
    opening = section if section.startswith("<") else f"<{mark}{section}>"
    closing = f"</{opening[1:]}"
    around = (opening, closing) if section else ("", "")
    declaration = declarations.invoke(mark, *around, ' string="true|false"' * flagged)
    if name in ("deepseek_v4", "deepseek_v41"):
        declaration = declarations.invoke_tools(mark, *around)
    return Tagged(
        name=name,
        declaration=declarations.MINIMAX_M2 if name == "minimax_m2" else declaration,
        opens=(f"<{mark}invoke name=",),
        closes=(f"</{mark}invoke>",),
        wraps=((opening, closing),) if section else (),
        drops=("<｜end▁of▁sentence｜>",) if "DSML" in mark else (),
        parameter_opens=(f"<{mark}parameter name=",),
        value_close=f"</{mark}parameter>",
        layout=Layout(
            f'<{mark}invoke name="$name">\n$pairs</{mark}invoke>\n',
            before=f"{opening}\n" if section else "",
            after=closing if section else "",
            pair=f'<{mark}parameter name="$key"{flag}>$value</{mark}parameter>\n',
        ),
        names=names,
    )


MINIMAX_M2 = _invoke("minimax_m2", "", "<minimax:tool_call>", "minimax-m2", flagged=False)
DEEPSEEK_V32 = _invoke("deepseek_v32", "｜DSML｜", "function_calls", "deepseekv32", "dsml")
DEEPSEEK_V4 = _invoke("deepseek_v4", "｜DSML｜", "tool_calls", "deepseekv4")
DEEPSEEK_V41 = _invoke("deepseek_v41", "｜DSML｜ ", "calls", "deepseekv41")
GIGACHAT35 = _invoke("gigachat35", "｜GCML｜", "tool_calls")
DOTS = _invoke("dots", "", "<dots_function_call>", flagged=False)
ANTHROPIC_XML = _invoke("anthropic_xml", "", "<function_calls>", flagged=False)
ANTHROPIC_XML_BARE = _invoke("anthropic_xml_bare", "", "", flagged=False)
STEP3 = Tagged(
    name="step3",
    opens=("<steptml:invoke name=",),
    closes=("</steptml:invoke>",),
    drops=(
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        "<｜tool_call_begin｜>",
        "function<｜tool_sep｜>",
        "<｜tool_call_end｜>",
    ),
    parameter_opens=("<steptml:parameter name=",),
    value_close="</steptml:parameter>",
    layout=Layout(
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="$name">\n$pairs'
        "</steptml:invoke><｜tool_call_end｜>\n",
        before="<｜tool_calls_begin｜>\n",
        after="<｜tool_calls_end｜>",
        pair='<steptml:parameter name="$key">$value</steptml:parameter>\n',
    ),
)
MINICPM5 = Tagged(
    name="minicpm5",
    opens=("<function name=", "<function="),
    closes=("</function>",),
    parameter_opens=("<param name=", "<parameter name="),
    value_close="</param>",
    text=Text.XML,
    layout=Layout('<function name="$name">$pairs</function>', between="\n", pair='<param name="$key">$value</param>'),
)
MUSE_GLIMMER = Tagged(
    name="muse_glimmer",
    opens=("<atem:invoke name=",),
    closes=("</atem:invoke>",),
    wraps=(("<atem:function_calls>", "</atem:function_calls>"),),
    drops=("<|eot|>", "<|eom|>"),
    frames=(("<|start|>", "<|message|>"),),
    parameter_opens=("<atem:parameter name=",),
    value_close="</atem:parameter>",
    layout=Layout(
        '<|start|>assistant to=$name<|message|><atem:function_calls>\n<atem:invoke name="$name">\n$pairs'
        "</atem:invoke>\n</atem:function_calls>",
        between="<|eom|>",
        after="<|eot|>",
        pair='<atem:parameter name="$key">$value</atem:parameter>\n',
    ),
    names=("muse",),
)


def _glm(name: str, layout: Layout, *names: str, mark: str = "", section: str = "", tag: str = "tool_call") -> Tagged:
    """Name first, then `arg_key` and `arg_value` pairs; `mark` stands before each tag's name."""
    before, _, after = layout.each.partition("$pairs")
    return Tagged(
        name=name,
        declaration=declarations.glm(before, layout.pair, after),
        opens=(f"<{mark}{tag}>",),
        closes=(f"</{mark}{tag}>",),
        starts=LETTER,
        wraps=((f"<{mark}{section}>", f"</{mark}{section}>"),) if section else (),
        drops=("<|observation|>", "<|user|>"),
        head=_GLM_HEAD,
        head_ends=("<tool_sep>",),
        parameter_opens=(f"<{mark}arg_key>",),
        parameter_ends=(f"<{mark}arg_value>",),
        key=_GLM_KEY.replace("</", f"</{mark.replace('|', '[|]')}"),
        value_close=f"</{mark}arg_value>",
        layout=layout,
        names=names,
    )


_GLM_FLAT = Layout("<tool_call>$name$pairs</tool_call>", pair=_GLM_PAIR_FLAT)
_GLM_LINES = Layout("<tool_call>$name\n$pairs</tool_call>", between="\n", pair=_GLM_PAIR)
GLM45 = _glm("glm45", _GLM_LINES, "glm")
GLM47 = _glm("glm47", _GLM_FLAT)
LING3 = _glm("ling3", _GLM_FLAT)
POOLSIDE_V1 = _glm("poolside_v1", _GLM_LINES)
SPARK25 = _glm("spark25", Layout("<tool_call>$name\n$pairs\n</tool_call>", between="\n", pair=_GLM_PAIR_FLAT))
HY_V3 = _glm(
    "hy_v3",
    Layout(
        "<tool_call>$name<tool_sep>\n$pairs</tool_call>\n",
        before="<tool_calls>\n",
        after="</tool_calls>",
        pair=_GLM_PAIR,
    ),
    "hunyuan",
    section="tool_calls",
)
HY_V4 = _glm(
    "hy_v4",
    Layout(_GLM_FLAT.each, before="<tool_calls>", after="</tool_calls>", pair=_GLM_PAIR_FLAT),
    section="tool_calls",
)
IQUEST_Q1 = _glm(
    "iquest_q1",
    Layout("<iquest_tool_call>$name$pairs</iquest_tool_call>", pair=_GLM_PAIR_FLAT),
    tag="iquest_tool_call",
)
K2_HORIZON = _glm(
    "k2_horizon",
    Layout(
        "<ifm|tool_call>$name$pairs</ifm|tool_call>",
        before="<ifm|tool_calls>",
        between="\n",
        after="</ifm|tool_calls>",
        pair="<ifm|arg_key>$key</ifm|arg_key><ifm|arg_value>$value</ifm|arg_value>",
    ),
    mark="ifm|",
    section="tool_calls",
)
KIMI_K3 = Tagged(
    name="kimi_k3",
    opens=("<|open|>call tool=",),
    closes=("<|close|>call<|sep|>",),
    wraps=(("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),),
    head_ends=("<|sep|>",),
    parameter_opens=("<|open|>argument key=",),
    parameter_ends=("<|sep|>",),
    value_close="<|close|>argument<|sep|>",
    layout=Layout(
        '<|open|>call tool="$name" index="$number"<|sep|>$pairs<|close|>call<|sep|>',
        before="<|open|>tools<|sep|>",
        after="<|close|>tools<|sep|>",
        pair='<|open|>argument key="$key" type="$type"<|sep|>$value<|close|>argument<|sep|>',
    ),
)
TOOL_NAMED_XML = Tagged(
    name="tool_named_xml",
    opens=("<>",),
    bare=True,
    head=r"<(?P<name>[^<>]+)",
    parameter_opens=("<",),
    key=r"(?P<key>[^<>/\s]+)",
    value_close="",
    layout=Layout("<$name>\n$pairs</$name>", between="\n", pair="<$key>$value</$key>\n"),
)
_MM = "]<]minimax[>["
MINIMAX_M3 = Nested(
    name="minimax_m3",
    opens=(f"{_MM}<invoke name=",),
    closes=(),
    wraps=((f"{_MM}<tool_call>", f"{_MM}</tool_call>"),),
    reasoning=("<mm:think>", "</mm:think>"),
    prefix=_MM,
    element="invoke",
    layout=Layout(
        f'{_MM}<invoke name="$name">$pairs{_MM}</invoke>\n',
        before=f"{_MM}<tool_call>\n",
        after=f"{_MM}</tool_call>",
        pair=f"{_MM}<$key>$value{_MM}</$key>",
    ),
    names=("minimax-m3",),
)
