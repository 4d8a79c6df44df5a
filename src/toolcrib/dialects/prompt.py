"""Tools for models without a tool interface: declared in the system prompt, results as text in the same dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolcrib.dialects.formats.spec import ANY, LETTER, Declaration, Format
from toolcrib.dialects.grammar import Alternative, chosen, grammar
from toolcrib.dialects.listing import list_tool
from toolcrib.dialects.native.shared import called_name, result_text
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.render import render_calls
from toolcrib.values.name import NameTable
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

_BREAK = "\u200b"
_CONTROL = r"<[|｜][^<>|｜\n]{1,64}[|｜]>|<[|][a-z_]{1,32}>|<[a-z_]{1,32}[|]>|\[/?[A-Z_]{3,24}\]"
_EXAMPLE = ParsedCall("function_name", {"first_parameter": "value 1", "second_parameter": "value 2"})


@dataclass(frozen=True, slots=True)
class Form:
    """How results stand in a prompt: `each` with `$name`, `$id` and `$text`."""

    each: str = "<tool_response>\n$text\n</tool_response>"
    before: str = ""
    between: str = "\n"
    after: str = ""


_DEEPSEEK = Form(
    "<｜tool▁output▁begin｜>$text<｜tool▁output▁end｜>", "<｜tool▁outputs▁begin｜>", "", "<｜tool▁outputs▁end｜>"
)
_TOOL_RESULT = Form("<tool_result>$text</tool_result>", between="\n\n")
_DSML = Form("<result>$text</result>", "<function_results>\n", "\n", "\n</function_results>")
_NAMED = Form(
    "<result>\n<tool_name>$name</tool_name>\n<output>$text</output>\n</result>", _DSML.before, "\n", _DSML.after
)
FORMS: dict[str, Form] = {
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v31": _DEEPSEEK,
    "deepseek_v32": _DSML,
    "deepseek_v4": _TOOL_RESULT,
    "deepseek_v41": _TOOL_RESULT,
    "anthropic_xml": _NAMED,
    "anthropic_xml_bare": _NAMED,
    "minimax_m2": Form("<response>$text</response>"),
    "minimax_m3": Form("<response>$text</response>"),
    "kimi_k2": Form("## Return of $id\n$text"),
    "mistral": Form("[TOOL_RESULTS]$text[/TOOL_RESULTS]", between=""),
    "mistral_pre_v11": Form("[TOOL_RESULTS]$text[/TOOL_RESULTS]", between=""),
    "gemma4": Form('<|tool_response>response:$name{value:<|"|>$text<|"|>}<tool_response|>', between=""),
    "gpt_oss": Form("<|start|>functions.$name to=assistant<|channel|>commentary<|message|>$text<|end|>", between=""),
    "react": Form("Observation: $text"),
}


def declare(specs: Iterable[ToolSpec], dialect: str | Format, names: NameTable | None = None) -> str:
    """The section of a system prompt that lists the tools and says how to call one, as this dialect's models expect.

    Markup in descriptions and schemas is broken up: no tool can end its own declaration or show a call.
    """
    spec = chosen(dialect)[0]
    declaration = spec.declaration
    sent = {names.outward[tool.name] if names else tool.name: tool for tool in specs}
    frame, known = _frame(declaration), frozenset(sent)

    def clean(text: str) -> str:
        return frame.sub(_broken, defang(text, spec, known))

    words = {
        "tools": declaration.between.join(list_tool(tool, name, declaration, clean) for name, tool in sent.items()),
        "call": render_calls([_EXAMPLE], spec) if "$call" in declaration.text else "",
    }
    return re.sub(r"\$(tools|call)", lambda match: words[match[1]], declaration.text) if sent else ""


def render_results(results: Sequence[ToolResult], dialect: str | Format, names: NameTable | None = None) -> str:
    """Results as text, in the order given. Markup inside them is broken up, so that no result can forge a call."""
    spec = chosen(dialect)[0]
    form = FORMS.get(spec.name, Form())
    known = frozenset(names.inward) if names else frozenset[str]()

    def written(result: ToolResult) -> str:
        words = {
            "name": called_name(result, names),
            "id": result.call_id,
            "text": defang(result_text(result), spec, known),
        }
        return re.sub(r"\$(name|id|text)", lambda match: words[match[1]], form.each)

    return form.before + form.between.join(map(written, results)) + form.after if results else ""


def defang(text: str, dialect: str | Format | None, tool_names: frozenset[str] = frozenset()) -> str:
    """Text with a zero-width space inside everything that would be markup; to a reader it looks the same."""
    return _markup(dialect, tool_names).sub(_broken, text)


def _broken(match: re.Match[str]) -> str:
    return match[0][0] + _BREAK + match[0][1:]


@lru_cache(maxsize=64)
def _markup(dialect: str | Format | None, tool_names: frozenset[str]) -> re.Pattern[str]:
    rules = grammar(dialect, tool_names)
    tokens = {*rules.reasoning, *rules.reasoning.values(), *rules.drops, *rules.frames}
    tokens.update(close for options in rules.openings.values() for option in options for close in _closes(option))
    tokens.update(f"</{name}>" for name in tool_names)
    name = dialect.name if isinstance(dialect, Format) else dialect
    forms = [FORMS.get(name, Form())] if name else [*FORMS.values(), Form()]
    tokens.update(token for form in forms for token in _tokens(form))
    patterns = {re.escape(token) for token in tokens}
    patterns.update(_opening(opening, options) for opening, options in rules.openings.items())
    if dialect and not tool_names and any("<>" in spec.opens for spec in chosen(dialect)):
        patterns.add(r"</?[^\W\d][\w.\-]*>")  # any tag may be the name of a tool
    if rules.at_start:
        patterns.add(r"(?:^|(?<=>>>))[\w.\-]+(?=\n\s*\{)")
    return re.compile("|".join(sorted(patterns, key=len, reverse=True)) + "|" + _CONTROL, re.MULTILINE)


def _closes(option: Alternative) -> tuple[str, ...]:
    return tuple(token for token in (*option.format.closes, option.close) if token and token != "```")


def _opening(opening: str, options: tuple[Alternative, ...]) -> str:
    """An opening where it could open something; elsewhere, a word like any other, it is left alone."""
    literal = re.escape(opening)
    if opening == "```":
        return rf"{literal}(?=\w{{0,12}}\s{{0,40}}[\[{{])"
    if all(option.ahead for option in options):
        return f"{literal}(?={'|'.join({option.ahead.pattern for option in options if option.ahead})})"
    if opening[0] in "<[]" or any(option.starts == ANY for option in options):
        return literal
    starts = {char for option in options for char in option.starts}
    return rf"{literal}(?=\s{{0,40}}[{re.escape(''.join(starts - {LETTER}))}{'A-Za-z_' if LETTER in starts else ''}])"


def _tokens(form: Form) -> set[str]:
    return set(re.findall(r"<[^<>]+>|\[/?[A-Z_]+\]", "\n".join((form.before, form.each, form.after))))


@lru_cache(maxsize=64)
def _frame(declaration: Declaration) -> re.Pattern[str]:
    """What ends a tool's place in the list: the tags of the declaration and of the elements in it."""
    tokens: list[tuple[str, str]] = re.findall(
        r"</?([a-zA-Z_:]+)>|(\[/?[A-Z_]+\])", f"{declaration.text}{declaration.each}"
    )
    tags = sorted({"parameter", *(name for name, _ in tokens if name)})
    literals = (re.escape(token) for _, token in tokens if token)
    return re.compile("|".join((rf"</?(?:{'|'.join(tags)})\s*>", *literals)))
