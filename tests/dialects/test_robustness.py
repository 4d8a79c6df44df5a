"""Sloppy, damaged and ambiguous answers: what counts as a call, what stays text, and what is only reported."""

from __future__ import annotations

from typing import Any

import pytest
from samples import INTEGER, NESTED, PARALLEL, STRING, TOOLS, TYPED, function, plain, stream

from toolcrib.dialects import (
    Code,
    Kind,
    Parsed,
    ParsedCall,
    Status,
    StreamParser,
    parse,
    render_calls,
    with_text_calls,
)
from toolcrib.dialects.formats import FORMATS

LUND = [("tide_at", {"harbour": "Lund"})]
AB = [("tide_at", {"harbour": "A"}), ("tide_at", {"harbour": "B"})]
A = '{"name": "tide_at", "arguments": {"harbour": "A"}}'
B = A.replace('"A"', '"B"')
UNQUOTED = A.replace('A"', "A")
CALL = '{"name": "tide_at", "arguments": {"harbour": "Lund"}}'
TAGGED = "<function=tide_at>\n<parameter=harbour>\nLund\n</parameter>\n</function>"

READ: list[tuple[str, str | None, str, list[Any]]] = [
    ("trailing comma", "hermes", f"<tool_call>{CALL[:-1]},}}</tool_call>", LUND),
    ("missing brace", "hermes", f"<tool_call>{CALL[:-1]}</tool_call>", LUND),
    ("extra brace", "hermes", f"<tool_call>{CALL}}}</tool_call>", LUND),
    ("doubled braces", "hermes", f"<tool_call>{{{CALL}}}</tool_call>", LUND),
    ("no close at the end", "hermes", f"<tool_call>{CALL}", LUND),
    ("no close before the next", "hermes", f"<tool_call>{A}\n<tool_call>{B}</tool_call>", AB),
    (
        "missing quote before the next",
        "hermes",
        f"<tool_call>{UNQUOTED}</tool_call><tool_call>{B}</tool_call>",
        AB,
    ),
    ("a list in the tag", "hermes", f"<tool_call>[{A}, {B}]</tool_call>", AB),
    ("two objects in the tag", "hermes", f"<tool_call>{A}\n{B}</tool_call>", AB),
    ("a broken item in a list", "hunyuan_a13b", f"<tool_calls>[{UNQUOTED}, {B}]</tool_calls>", AB),
    (
        "arguments as a string",
        "hermes",
        '<tool_call>{"name": "tide_at", "arguments": "{\\"harbour\\": \\"Lund\\"}"}</tool_call>',
        LUND,
    ),
    (
        "the OpenAI shape in the tag",
        "hermes",
        f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
        LUND,
    ),
    ("bare keys", "hermes", '<tool_call>{name: "tide_at", arguments: {harbour: "Lund"}}</tool_call>', LUND),
    ("no arguments", "hermes", '<tool_call>{"name": "ring_bell", "arguments": null}</tool_call>', [("ring_bell", {})]),
    ("tagged arguments under a JSON dialect", "hermes", f"<tool_call>\n{TAGGED}\n</tool_call>", LUND),
    ("name, then JSON", "glm45", '<tool_call>tide_at\n{"harbour": "Lund"}\n</tool_call>', LUND),
    ("JSON in a foreign wrapper", "minimax_m2", f"<minimax:tool_call>\n{CALL}\n</minimax:tool_call>", LUND),
    ("value without close", "qwen3_coder", TAGGED.replace("\n</parameter>", ""), LUND),
    ("call without close", "qwen3_coder", f"<tool_call>\n{TAGGED[: -len('</function>')]}</tool_call>", LUND),
    ("no wrapper, but its close", "qwen3_coder", f"{TAGGED}\n</tool_call>", LUND),
    ("text before the arguments", "qwen3_coder", TAGGED.replace(">\n<p", ">\nhere\n<p", 1), LUND),
    ("JSON for the arguments", "qwen3_coder", '<function=tide_at>\n{"harbour": "Lund"}\n</function>', LUND),
    (
        "attributes in single quotes",
        "minimax_m2",
        "<invoke name='tide_at'><parameter name='harbour'>Lund</parameter></invoke>",
        LUND,
    ),
    (
        "a value without close before the next call",
        "glm47",
        "<tool_call>tide_at<arg_key>harbour</arg_key><arg_value>A</tool_call><tool_call>tide_at<arg_key>harbour</arg_key><arg_value>B</arg_value></tool_call>",
        AB,
    ),
    (
        "no fence",
        "deepseek_v3",
        '<｜tool▁call▁begin｜>function<｜tool▁sep｜>tide_at\n{"harbour": "Lund"}<｜tool▁call▁end｜>',
        LUND,
    ),
    (
        "no section",
        "kimi_k2",
        '<|tool_call_begin|>functions.tide_at:0<|tool_call_argument_begin|>{"harbour": "Lund"}<|tool_call_end|>',
        LUND,
    ),
    ("the older list", "mistral", f"[TOOL_CALLS] [{A}, {B}]", AB),
    (
        "a damaged call before the next",
        "mistral",
        '[TOOL_CALLS]tide_at[ARGS]{"harbour": "A[TOOL_CALLS]tide_at[ARGS]{"harbour": "B"}',
        AB,
    ),
    ("a Python dictionary", "llama3_json", "{'name': 'tide_at', 'parameters': {'harbour': 'Lund'}}", LUND),
    ("other JSON first", "llama3_json", f'{{"result": [1]}} {CALL}', LUND),
    ("by position", "pythonic", "[tide_at('Lund')]", LUND),
    ("three quotes", "pythonic", '[tide_at(harbour="""Lund""")]', LUND),
    ("the built-in style", "llama3_json", '<|python_tag|>tide_at.call(harbour="Lund")', LUND),
    ("JSON under a pythonic dialect", "lfm2", f"<|tool_call_start|>[{CALL}]<|tool_call_end|>", LUND),
    ("plain quotes", "gemma4", '<|tool_call>call:tide_at{harbour:"Lund"}<tool_call|>', LUND),
    ("no quotes", "gemma4", "<|tool_call>call:tide_at{harbour:Lund}<tool_call|>", LUND),
    (
        "the close in CDATA",
        "minicpm5",
        '<function name="tide_at"><param name="harbour"><![CDATA[a </param> b]]></param></function>',
        [("tide_at", {"harbour": "a </param> b"})],
    ),
    (
        "recipient in the role",
        "gpt_oss",
        '<|start|>assistant to=functions.tide_at<|channel|>commentary json<|message|>{"harbour": "Lund"}<|call|>',
        LUND,
    ),
    (
        "an end token in a string",
        "gpt_oss",
        '<|channel|>commentary to=functions.tide_at<|message|>{"harbour": "a <|call|> b"}<|call|>',
        [("tide_at", {"harbour": "a <|call|> b"})],
    ),
    (
        "a family by its name",
        "glm4",
        "<tool_call>tide_at<arg_key>harbour</arg_key><arg_value>Lund</arg_value></tool_call>",
        LUND,
    ),
    ("reasoning that never closes", "hermes", f"<think>so <tool_call>{CALL}</tool_call>", LUND),
]


@pytest.mark.parametrize(("dialect", "text", "calls"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_a_sloppy_call_is_read_for_what_it_says(dialect: str | None, text: str, calls: list[Any]) -> None:
    parsed = parse(text, TOOLS, dialect)
    assert plain(parsed.calls) == calls
    assert parsed.content is None or parsed.content == '{"result": [1]}'
    assert stream(list(text), dialect) == parsed


TEXT: list[tuple[str, str | None, str]] = [
    ("a marker in prose", "hermes", "Use the <tool_call> tag to call a tool."),
    ("a marker with nothing in it", "hermes", "<tool_call></tool_call>"),
    ("a marker at the end", "hermes", "Then write <tool_call>"),
    ("in a fence", "hermes", f"Like this:\n```\n<tool_call>{CALL}</tool_call>\n```\nDone"),
    ("in inline code", "hermes", f"Write `<tool_call>{CALL}</tool_call>` to call."),
    ("in quotes", "hermes", f'Write "<tool_call>{CALL}</tool_call>" to call.'),
    ("in a fence, found out", None, f"Like this:\n```xml\n<tool_call>{CALL}</tool_call>\n```\nDone"),
    ("in a fence of tildes", None, f"Like this:\n~~~\n<tool_call>{CALL}</tool_call>\n~~~\nDone"),
    ("in a quoted line", None, f"He wrote:\n> so <tool_call>{CALL}</tool_call>\nDone"),
    ("no name", "hermes", '<tool_call>{"arguments": {"harbour": "B"}}</tool_call> after'),
    ("no JSON", "hermes", "<tool_call>not json at all</tool_call>"),
    ("a tool nobody has, found out", None, f"<tool_call>{CALL.replace('tide_at', 'nope')}</tool_call>"),
    ("an object that is no call", "llama3_json", '{"name": "Bob", "age": 3}'),
    ("a link and a call of something else", None, "See [docs](http://x) and [tide_at] or [x(1)]."),
    ("a fenced list", "pythonic", "```python\n[tide_at(harbour='A')]\n```"),
    ("white space kept", "hermes", "  two  \n\n"),
]


@pytest.mark.parametrize(("dialect", "text"), [row[1:] for row in TEXT], ids=[row[0] for row in TEXT])
def test_text_that_calls_nothing_stays_as_it_is(dialect: str | None, text: str) -> None:
    parsed = parse(text, TOOLS, dialect)
    assert (parsed.calls, parsed.content) == ([], text)
    assert stream(list(text), dialect) == parsed


UNCLOSED = {
    "qwen3_coder": "<function=book_ferry>\n<parameter=harbour>\nLund\n<parameter=deck>\nlower\n</parameter>"
    "\n</function>",
    "glm45": "<tool_call>book_ferry\n<arg_key>harbour</arg_key>\n<arg_value>Lund<arg_key>deck</arg_key>\n"
    "<arg_value>lower</arg_value>\n</tool_call>",
    "anthropic_xml": '<invoke name="book_ferry"><parameter name="harbour">Lund<parameter name="deck">lower</parameter>'
    "</invoke>",
}


@pytest.mark.parametrize("dialect", UNCLOSED)
def test_a_value_without_its_close_ends_where_a_missing_argument_begins(dialect: str) -> None:
    text = UNCLOSED[dialect]
    parsed = parse(text, TOOLS, dialect)
    assert parsed.calls == [ParsedCall("book_ferry", {"harbour": "Lund", "deck": "lower"}, repaired=True)]
    assert stream(list(text), dialect) == parsed


def test_a_value_may_quote_the_opening_of_an_argument_that_is_given_or_unknown() -> None:
    body = "Write <parameter=path> or <parameter=other> there."
    text = render_calls([ParsedCall("write_log", {"path": "a", "body": body})], "qwen3_coder")
    assert parse(text, TOOLS).calls == [ParsedCall("write_log", {"path": "a", "body": body})]


def test_an_unknown_tool_behind_calls_in_a_list_stays_in_the_text() -> None:
    nope = CALL.replace("tide_at", "nope")
    text = f"<tool_call>[{CALL}, {nope}]</tool_call>"
    parsed = parse(text, TOOLS)
    assert (plain(parsed.calls), parsed.content) == (LUND, f", {nope}]")
    assert stream(list(text), None) == parsed


MARKS = ['"{}"', "'{}'", "“{}”", "«{}»"]


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_call_in_quotation_marks_is_text(dialect: str) -> None:
    call = render_calls([ParsedCall("tide_at", {"harbour": "Lund"})], dialect).strip()
    for text in (f"Write {marks.format(call)} to call." for marks in MARKS):
        for chosen in (dialect, None):
            parsed = parse(text, TOOLS, chosen)
            assert (parsed.calls, parsed.content) == ([], text)
            assert stream(list(text), chosen) == parsed


@pytest.mark.parametrize(
    "mention", ['The "<tool_call>" tag:', 'The "<tool_call> tag":', "> Use <tool_call>", "``` x ```"]
)
def test_a_call_behind_a_mention_of_its_markup_counts(mention: str) -> None:
    text = f"{mention}\n<tool_call>{CALL}</tool_call>"
    assert plain(parse(text, TOOLS).calls) == LUND
    assert plain(stream(list(text), None).calls) == LUND


def test_a_fence_that_ends_late_hides_no_call() -> None:
    text = f"```json\n{CALL}\nand\n```\n<tool_call>{CALL}</tool_call>"
    assert plain(parse(text, TOOLS).calls) == LUND * 2


def test_code_can_be_searched_for_calls_when_asked() -> None:
    assert plain(parse(f"```\n<tool_call>{CALL}</tool_call>\n```", TOOLS, "hermes", code=Code.CALLS).calls) == LUND


def test_an_unknown_tool_surfaces_when_the_dialect_was_asked_for() -> None:
    assert plain(parse(f"<tool_call>{CALL.replace('tide_at', 'nope')}</tool_call>", TOOLS, "hermes").calls) == [
        ("nope", {"harbour": "Lund"})
    ]


def test_a_call_in_closed_reasoning_is_no_call() -> None:
    parsed = parse(f"<think>maybe <tool_call>{CALL}</tool_call></think>No.", TOOLS, "hermes")
    assert (parsed.calls, parsed.content) == ([], "No.")


def test_an_answer_can_start_in_reasoning() -> None:
    parsed = parse(f"hm</think>Hi <tool_call>{CALL}</tool_call>", TOOLS, "hermes", start_in_reasoning=True)
    assert (parsed.reasoning, parsed.content, plain(parsed.calls)) == ("hm", "Hi", LUND)


@pytest.mark.parametrize(
    "text", [A.replace('"A"', "'A'"), A[:-1] + ",}", '{"name": "tide_at", "arguments": {"harbour": "A}}']
)
def test_mended_json_says_that_it_was_mended(text: str) -> None:
    assert [call.repaired for call in parse(f"<tool_call>{text}</tool_call>", TOOLS, "hermes").calls] == [True]


def test_json_that_runs_out_is_never_completed_by_guessing() -> None:
    parsed = parse('<tool_call>{"name": "write_log", "arguments": {"path": "/", "body": "rm -rf', TOOLS, "hermes")
    assert parsed.calls == [ParsedCall("write_log", {}, status=Status.INCOMPLETE)]


def test_a_duplicate_key_is_noted_and_the_last_counts() -> None:
    parsed = parse('<tool_call>{"name": "tide_at", "arguments": {"harbour": "A", "harbour": "B"}}</tool_call>', TOOLS)
    assert plain(parsed.calls) == [("tide_at", {"harbour": "B"})]
    assert [note.code for note in parsed.notes] == ["duplicate_key"]


def test_text_around_and_between_calls_is_kept_in_order() -> None:
    parsed = parse(f"one <tool_call>{A}</tool_call> two <tool_call>{B}</tool_call> three", TOOLS, "hermes")
    assert (parsed.content, plain(parsed.calls)) == ("one two three", AB)


def test_deltas_and_the_rest_add_up_to_the_answer() -> None:
    text = f"<think>hm</think>one\n<tool_call>{A}</tool_call>\ntwo\n"
    parser = StreamParser(TOOLS)
    deltas = [delta for char in text for delta in parser.feed(char)]
    parsed = parser.finish()
    deltas += parser.rest
    said = {kind: "".join(delta.text for delta in deltas if delta.kind is kind) for kind in Kind}
    assert (said[Kind.CONTENT], said[Kind.REASONING]) == (parsed.content, parsed.reasoning) == ("one\ntwo\n", "hm")
    assert [delta.call for delta in deltas if delta.kind is Kind.CALL] == parsed.calls


VALUES: list[tuple[Any, str, Any]] = [
    (INTEGER, "5", 5),
    (INTEGER, "3.0", 3),
    (INTEGER, "five", "five"),
    (STRING, "5", "5"),
    (STRING, " x\n", " x\n"),
    ({"type": "number"}, "1e-07", 1e-07),
    ({"type": "boolean"}, "True", True),
    ({"type": ["string", "null"]}, "null", None),
    ({"type": ["string", "null"]}, "42", "42"),
    ({"type": ["string", "integer"]}, "42", 42),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "None", None),
    ({"$ref": "#/$defs/n"}, "7", 7),
    ({"enum": [1, 2]}, "2", 2),
    ({"type": "array"}, "['a', 1]", ["a", 1]),
    ({"type": "object"}, '{"a": [true]}', {"a": [True]}),
    ({"type": "object"}, "[1]", "[1]"),
    ({}, "5", "5"),
    (INTEGER, "12345678901234567890", 12345678901234567890),
]


@pytest.mark.parametrize(("schema", "text", "value"), VALUES)
def test_the_schema_types_a_value_that_arrives_as_text(schema: Any, text: str, value: Any) -> None:
    tool = function("f", x=schema)
    tool["function"]["parameters"]["$defs"] = {"n": INTEGER}
    call = f"<tool_call>f<arg_key>x</arg_key><arg_value>{text}</arg_value></tool_call>"
    assert parse(call, [tool], "glm47").calls == [ParsedCall("f", {"x": value})]


def test_text_is_searched_only_when_there_are_no_native_calls() -> None:
    text = f"<tool_call>{CALL}</tool_call>"
    native = Parsed(text, None, [ParsedCall("ring_bell", {})])
    assert with_text_calls(native, TOOLS) is native
    assert plain(with_text_calls(Parsed(text, None, []), TOOLS).calls) == LUND


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", f'<tool_call>{{"name": "tide_at", "arguments": {{"a": {DEEP}}}}}</tool_call>'),
        ("hermes", f'<tool_call>{{"name": "tide_at", "arguments": {{"a": {DEEP[:5000]}</tool_call>'),
        ("kimi_k2", f'<|tool_call_begin|>tide_at:0<|tool_call_argument_begin|>{{"a": {DEEP}}}<|tool_call_end|>'),
        ("lfm2", f"<|tool_call_start|>[tide_at(a={DEEP})]<|tool_call_end|>"),
        ("gemma4", f"<|tool_call>call:tide_at{{a:{DEEP}}}<tool_call|>"),
        ("minimax_m3", ']<]minimax[>[<invoke name="tide_at">' + "]<]minimax[>[<a>" * 500 + "]<]minimax[>[</invoke>"),
    ],
)
def test_arguments_nested_too_deeply_are_malformed_and_nothing_breaks(dialect: str, text: str) -> None:
    parsed = parse(text + "then", TOOLS, dialect)
    assert [(call.name, call.status) for call in parsed.calls] == [("tide_at", Status.MALFORMED)]
    assert parsed.content == "then"
    assert stream(list(text + "then"), dialect) == parsed


def test_a_large_broken_call_is_mended_and_costs_the_next_one_nothing() -> None:
    body = "x y " * 50_000
    broken = f'<tool_call>{{"name": "write_log", "arguments": {{"path": "/", "body": "{body}"}}</tool_call>'
    parsed = parse(f"{broken}\n<tool_call>{CALL}</tool_call>", TOOLS, "hermes")
    assert plain(parsed.calls) == [("write_log", {"path": "/", "body": body}), *LUND]
    assert [call.repaired for call in parsed.calls] == [True, False]


def test_tools_may_be_specs() -> None:
    from toolcrib.values.spec import ToolSpec

    spec = ToolSpec(name="f", description="", input_schema={"type": "object", "properties": {"x": INTEGER}})
    call = "<tool_call>f<arg_key>x</arg_key><arg_value>5</arg_value></tool_call>"
    assert parse(call, [spec]).calls == [ParsedCall("f", {"x": 5})]


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown dialect 'klingon'.*hermes"):
        parse("x", TOOLS, "klingon")


def test_the_parser_loads_without_the_rest_of_the_house() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from toolcrib.dialects import parse; parse('hi'); "
        "print([m for m in sys.modules if m.split('.')[0] in "
        "{'pydantic', 'click', 'anyio', 'json_repair', 'jsonschema_rs'} "
        "or m.startswith(('toolcrib.engine', 'toolcrib.stores'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


FRAMED = '<|message|><atem:function_calls>\n<atem:invoke name="ring_bell">\n</atem:invoke>\n</atem:function_calls>'
CERTAIN_LATE = [
    f"<|start|>assistant to=ring_bell{FRAMED}<|eom|><|start|>assistant to=nobody{FRAMED}<|eot|>",
    'Action Input:"{"harbour": "Lund"}\nAction: tide_at\nAction Input: {"harbour": "Lund"} and "[x]"',
]


@pytest.mark.parametrize("text", CERTAIN_LATE)
@pytest.mark.parametrize("dialect", [None, "muse_glimmer", "react"])
def test_markup_that_is_certain_only_later_reads_the_same_in_pieces(text: str, dialect: str | None) -> None:
    assert stream(list(text), dialect) == parse(text, TOOLS, dialect)


def test_calls_in_an_object_are_handed_out_one_by_one_and_what_else_it_says_is_no_text() -> None:
    whole = render_calls(PARALLEL, "openai_json_dump")
    parser = StreamParser(TOOLS, "openai_json_dump")
    first = parser.feed(whole[: whole.index('{"id": "call_1"')])
    assert [delta.call.name for delta in first if delta.call] == [PARALLEL[0].name]
    for text in (whole, whole[:-1] + ', "role": "assistant", "n": 1}', whole.replace(": [", ":[", 1)):
        parsed = parse(text, TOOLS, "openai_json_dump")
        assert (plain(parsed.calls), parsed.content) == (plain(PARALLEL), None)
        assert stream(list(text), "openai_json_dump") == parsed


ROW = [
    *(
        ParsedCall("write_log", {"path": "/a", "body": body})
        for body in ("x\n  y\n", 'it\'s \\d+ "q"\t', "", "a < b & c: [d], {e}")
    ),
    ParsedCall("ring_bell", {}),
    *TYPED,
    *PARALLEL,
    *NESTED,
    ParsedCall("tide_at", {"harbour": "Åhus 🚢"}),
]


@pytest.mark.parametrize("dialect", FORMATS)
def test_calls_in_a_row_are_those_that_were_written_however_the_text_is_cut(dialect: str) -> None:
    calls = ROW * 2
    text = render_calls(calls, dialect)
    whole = parse(text, TOOLS, dialect)
    assert plain(whole.calls) == plain(calls)
    assert all(stream([text[at : at + size] for at in range(0, len(text), size)], dialect) == whole for size in (1, 97))


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_call_of_no_known_tool_leaves_those_around_it_as_they_are(dialect: str) -> None:
    calls = [ParsedCall("tide_at", {"harbour": name}) for name in ("A", "B", "C")]
    text = render_calls([*calls[:2], ParsedCall("sink_ship", {"harbour": "Lund"}), calls[2]], dialect)
    whole = parse(text, TOOLS, dialect)
    assert [call for call in plain(whole.calls) if call[0] == "tide_at"] == plain(calls)
    assert all(stream([text[at : at + size] for at in range(0, len(text), size)], dialect) == whole for size in (1, 31))


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_follows_a_close_is_not_taken_for_the_arguments_before_it(size: int) -> None:
    begin, argument, end = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
    call = f'{begin}functions.plan_route:0{argument}{end}{{"a": 1}}{end}'
    text = f"<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>"
    parsed = stream([text[at : at + size] for at in range(0, len(text), size)], "kimi_k2")
    assert [(one.name, one.arguments) for one in parsed.calls] == [("plan_route", {})]
    assert parsed.content == '{"a": 1}'
