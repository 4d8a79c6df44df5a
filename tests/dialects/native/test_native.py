"""Provider interfaces: tools out, calls in, results out, whole and streamed."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from toolcrib.dialects import ParsedCall, Status, StreamParser
from toolcrib.dialects.advertise import advertise
from toolcrib.dialects.native import anthropic, gemini, openai_chat, openai_responses
from toolcrib.dialects.native.schema import SUBSET, convert, without_nulls
from toolcrib.dialects.native.shared import Choice, Mode, Strict
from toolcrib.dialects.prompt import render_results
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import Reason
from toolcrib.values.result import Image, JsonBlock, Text, ToolError, ToolResult
from toolcrib.values.spec import ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1},
        "filter": {"$ref": "#/$defs/filter"},
    },
    "required": ["path"],
    "$defs": {"filter": {"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}}},
}
SPECS = [
    ToolSpec(name="notes.read", description="Read notes.", input_schema=SCHEMA),
    ToolSpec(name="bell", description="Ring.", input_schema={"type": "object", "properties": {}}),
]
NAMES = NameTable.build(spec.name for spec in SPECS)
DIALECTS = [openai_chat, openai_responses, anthropic, gemini]
CALLS = [ParsedCall("notes.read", {"path": "a"}, "c1"), ParsedCall("bell", {}, "c2")]
RESULTS = [
    ToolResult("c1", "notes.read", (Text("found"), JsonBlock({"n": 1}), Image("image/png", "QUJD"))),
    ToolResult("c2", "bell", (Text("no bell"),), Reason.TIMEOUT, ToolError(Reason.TIMEOUT, "no bell")),
]


def name(dialect: ModuleType) -> str:
    return dialect.NAME


each = pytest.mark.parametrize("dialect", DIALECTS, ids=name)


@each
def test_tools_are_listed_under_names_the_provider_takes(dialect: ModuleType) -> None:
    text = json.dumps(dialect.advertise(SPECS, NAMES).tools)
    assert "notes__read" in text
    assert "notes.read" not in text
    assert advertise(SPECS, NAMES, dialect.NAME) == dialect.advertise(SPECS, NAMES).tools


def test_a_schema_the_interface_can_take_is_sent_as_it_is() -> None:
    listed = openai_chat.advertise(SPECS, NAMES)
    assert listed.tools[0] == {
        "type": "function",
        "function": {"name": "notes__read", "description": "Read notes.", "parameters": SCHEMA},
    }
    assert listed.report == []


def test_what_an_interface_cannot_say_is_left_out_and_reported() -> None:
    listed = gemini.advertise(SPECS, NAMES)
    parameters: Any = listed.tools[0]["parametersJsonSchema"]
    assert parameters["properties"]["filter"] == {"type": "object", "properties": {"name": {"type": "string"}}}
    assert [(change.tool, change.path, change.what.split()[0]) for change in listed.report] == [
        ("notes.read", "$.path", "'minLength'"),
        ("notes.read", "$.filter.name", "'pattern'"),
    ]


def test_a_schema_that_refers_to_itself_ends_where_it_begins_again() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    made, changes = convert(
        "tree",
        {
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/t"}},
            "$defs": {"t": tree | {"properties": {"next": {"$ref": "#/$defs/t"}}}},
        },
        SUBSET,
    )
    assert made["properties"] == {"root": {"type": "object", "properties": {"next": {}}}}
    assert "refers to itself" in changes[0].what


def test_a_strict_schema_requires_everything_and_null_stands_for_left_out() -> None:
    listed = openai_chat.advertise(SPECS, NAMES, Strict.ON)
    function: Any = listed.tools[0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["required"] == ["path", "limit", "filter"]
    assert function["parameters"]["additionalProperties"] is False
    assert function["parameters"]["properties"]["limit"]["type"] == ["integer", "null"]
    assert any("null stands for" in change.what for change in listed.report)
    assert without_nulls({"path": "a", "limit": None, "filter": None}, SCHEMA) == {"path": "a"}


def test_alternatives_on_top_become_one_object_and_are_reported() -> None:
    schema = {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]}
    spec = ToolSpec(name="either", description="", input_schema=schema)
    listed = anthropic.advertise([spec], NameTable.build(["either"]))
    assert listed.tools[0]["input_schema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    assert len(listed.report) == 1


CHOICES: list[tuple[Choice, list[Any]]] = [
    (Choice(), ["auto", "auto", {"type": "auto"}, {"functionCallingConfig": {"mode": "AUTO"}}]),
    (
        Choice(Mode.REQUIRED),
        ["required", "required", {"type": "any"}, {"functionCallingConfig": {"mode": "ANY"}}],
    ),
    (Choice(Mode.NONE), ["none", "none", {"type": "none"}, {"functionCallingConfig": {"mode": "NONE"}}]),
    (
        Choice.only("notes.read"),
        [
            {"type": "function", "function": {"name": "notes__read"}},
            {"type": "function", "name": "notes__read"},
            {"type": "tool", "name": "notes__read"},
            {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["notes__read"]}},
        ],
    ),
    (
        Choice(Mode.AUTO, ("notes.read",)),
        [
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "notes__read"}}]},
            },
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "notes__read"}]},
            {"type": "auto"},
            {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["notes__read"]}},
        ],
    ),
]


@pytest.mark.parametrize(("choice", "expected"), CHOICES, ids=str)
def test_a_choice_is_said_in_each_interface(choice: Choice, expected: list[Any]) -> None:
    assert [dialect.choose(choice, NAMES).value for dialect in DIALECTS] == expected


def test_a_selection_that_cannot_be_said_becomes_guidance() -> None:
    assert "notes__read" in anthropic.choose(Choice(Mode.AUTO, ("notes.read",)), NAMES).guidance


@each
def test_an_answer_that_is_streamed_out_reads_back_the_same(dialect: ModuleType) -> None:
    parser = StreamParser([], None)
    deltas = parser.feed("<think>hm</think>Hello ") + parser.feed("there")
    parser.finish()
    call = openai_chat.Stream(NAMES)
    call.feed(
        {
            "choices": [
                {
                    "delta": {
                        "tool_calls": [{"id": "c1", "function": {"name": "notes__read", "arguments": '{"path":"a"}'}}]
                    }
                }
            ]
        }
    )
    deltas += call.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    stream = dialect.Stream(NAMES)
    for event in dialect.events(deltas, NAMES):
        stream.feed(event)
    parsed = stream.finish()
    assert (parsed.content, parsed.reasoning, parsed.calls) == ("Hello there", "hm", CALLS[:1])


ANSWERS: dict[str, Any] = {
    "openai_chat": {
        "content": "Hi",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "notes__read", "arguments": '{"path": "a"}'}},
            {"id": "c2", "type": "function", "function": {"name": "bell", "arguments": ""}},
        ],
    },
    "openai_responses": {
        "status": "completed",
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "c1", "name": "notes__read", "arguments": '{"path": "a"}'},
            {"type": "function_call", "call_id": "c2", "name": "bell", "arguments": "{}"},
        ],
    },
    "anthropic": {
        "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "c1", "name": "notes__read", "input": {"path": "a"}},
            {"type": "tool_use", "id": "c2", "name": "bell", "input": {}},
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "Hi"},
                        {"functionCall": {"id": "c1", "name": "notes__read", "args": {"path": "a"}}},
                        {"functionCall": {"id": "c2", "name": "bell"}},
                    ]
                }
            }
        ]
    },
}


@each
def test_a_whole_answer_is_read_with_canonical_names(dialect: ModuleType) -> None:
    parsed = dialect.read(ANSWERS[dialect.NAME], NAMES)
    assert (parsed.content, parsed.calls, parsed.dialect) == ("Hi", CALLS, dialect.NAME)


def chunk(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": list(calls)}, **more}]}


SLOPPY: dict[str, tuple[list[dict[str, Any]], list[ParsedCall]]] = {
    "arguments in pieces": (
        [
            chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": ""}}),
            chunk({"index": 0, "function": {"arguments": '{"pa'}}),
            chunk({"index": 0, "function": {"arguments": 'th": "a"}'}}),
            chunk(
                {"index": 1, "id": "c2", "function": {"name": "bell", "arguments": "{}"}}, finish_reason="tool_calls"
            ),
        ],
        CALLS,
    ),
    "no ids and no index": (
        [chunk({"function": {"name": "notes__read", "arguments": '{"path": "a"}'}}, {"function": {"name": "bell"}})],
        [ParsedCall("notes.read", {"path": "a"}), ParsedCall("bell", {})],
    ),
    "arguments as an object": (
        [chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": {"path": "a"}}})],
        CALLS[:1],
    ),
    "two calls under one index": (
        [
            chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": '{"path": "a"}'}}),
            chunk({"index": 0, "id": "c2", "function": {"name": "bell", "arguments": "{}"}}),
        ],
        CALLS,
    ),
    "arguments encoded twice": (
        [chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": '"{\\"path\\": \\"a\\"}"'}})],
        CALLS[:1],
    ),
    "broken arguments are mended and say so": (
        [chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": "{'path': 'a',}"}})],
        [ParsedCall("notes.read", {"path": "a"}, "c1", repaired=True)],
    ),
    "arguments cut by the length limit": (
        [
            chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": '{"path": "rm -rf'}}),
            {"choices": [{"delta": {}, "finish_reason": "length"}]},
        ],
        [ParsedCall("notes.read", {}, "c1", Status.INCOMPLETE)],
    ),
    "arguments cut with the connection": (
        [chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": '{"path": "rm -rf'}})],
        [ParsedCall("notes.read", {}, "c1", Status.INCOMPLETE)],
    ),
    "cut by the length limit before the arguments": (
        [
            chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": ""}}),
            {"choices": [{"delta": {}, "finish_reason": "length"}]},
        ],
        [ParsedCall("notes.read", {}, "c1", Status.INCOMPLETE)],
    ),
    "no ids and no index, one by one": (
        [
            chunk({"function": {"name": "notes__read", "arguments": '{"path": "a"}'}}),
            chunk({"function": {"name": "notes__read", "arguments": '{"path": "b"}'}}),
            chunk({"function": {"name": "bell", "arguments": ""}}, finish_reason="tool_calls"),
        ],
        [ParsedCall("notes.read", {"path": "a"}), ParsedCall("notes.read", {"path": "b"}), ParsedCall("bell", {})],
    ),
    "the name repeated with every piece": (
        [
            chunk({"index": 0, "function": {"name": "notes__read", "arguments": '{"path"'}}),
            chunk({"index": 0, "function": {"name": "notes__read", "arguments": ': "a"}'}}),
            chunk({"index": 0, "function": {"name": "notes__read", "arguments": ""}}, finish_reason="tool_calls"),
        ],
        [ParsedCall("notes.read", {"path": "a"})],
    ),
    "pieces of two calls in turn": (
        [
            chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": '{"pa'}}),
            chunk({"index": 1, "id": "c2", "function": {"name": "bell", "arguments": "{}"}}),
            chunk({"index": 0, "function": {"arguments": 'th": "a"}'}}, finish_reason="tool_calls"),
        ],
        CALLS,
    ),
    "arguments that are no object": (
        [chunk({"index": 0, "id": "c1", "function": {"name": "notes__read", "arguments": "[1]"}})],
        [ParsedCall("notes.read", {}, "c1", Status.MALFORMED)],
    ),
}


@pytest.mark.parametrize("case", SLOPPY)
def test_sloppy_chat_chunks_are_understood(case: str) -> None:
    chunks, expected = SLOPPY[case]
    stream = openai_chat.Stream(NAMES)
    for piece in chunks:
        stream.feed(piece)
    assert stream.finish().calls == expected


STOP: dict[str, Any] = {"type": "content_block_stop", "index": 0}
USE: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "bell", "input": {}}
START: dict[str, Any] = {"type": "content_block_start", "index": 0, "content_block": USE}
PIECE: dict[str, Any] = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "input_json_delta", "partial_json": '{"a": "b'},
}
ADDED: dict[str, Any] = {
    "type": "response.output_item.added",
    "output_index": 0,
    "item": {"type": "function_call", "name": "bell", "call_id": "c1"},
}
GROWN: dict[str, Any] = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"a": "b'}
TOO_LONG: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
INCOMPLETE: dict[str, Any] = {"type": "response.incomplete", "response": {"status": "incomplete"}}


@pytest.mark.parametrize(
    ("dialect", "events"),
    [
        (anthropic, [START, PIECE, TOO_LONG]),
        (anthropic, [START, PIECE, STOP, TOO_LONG]),
        (anthropic, [START, STOP, TOO_LONG]),
        (anthropic, [START, PIECE]),
        (openai_responses, [ADDED, GROWN, INCOMPLETE]),
        (openai_responses, [ADDED, GROWN]),
    ],
)
def test_an_answer_that_was_cut_leaves_an_incomplete_call(dialect: ModuleType, events: list[dict[str, Any]]) -> None:
    stream = dialect.Stream(NAMES)
    for event in events:
        assert stream.feed(event) == []
    assert stream.finish().calls == [ParsedCall("bell", {}, "c1", Status.INCOMPLETE)]


def test_a_whole_chat_response_that_was_cut_leaves_an_incomplete_call() -> None:
    call = {"id": "c1", "function": {"name": "bell", "arguments": '{"a": "b'}}
    response = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "length"}]}
    assert openai_chat.read(response, NAMES).calls == [ParsedCall("bell", {}, "c1", Status.INCOMPLETE)]


def test_arguments_that_are_only_said_at_the_end_count() -> None:
    stream = openai_responses.Stream(NAMES)
    stream.feed(ADDED)
    stream.feed({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a": "b"}'})
    stream.feed({"type": "response.completed", "response": {"status": "completed"}})
    assert stream.finish().calls == [ParsedCall("bell", {"a": "b"}, "c1")]


@each
def test_every_result_is_answered_once_with_its_id_and_its_image(dialect: ModuleType) -> None:
    text = json.dumps(dialect.answer(RESULTS, NAMES))
    assert text.count('"c1"') == 1
    assert text.count('"c2"') == 1
    assert "QUJD" in text
    assert "no bell" in text


def test_results_are_written_as_the_interface_wants_them() -> None:
    assert openai_chat.answer(RESULTS)[1] == {
        "role": "tool",
        "tool_call_id": "c2",
        "content": "Error (timeout): no bell",
    }
    block: Any = anthropic.answer(RESULTS)[0]["content"]
    assert [item["is_error"] for item in block] == [False, True]
    parts: Any = gemini.answer(RESULTS, NAMES)[0]["parts"]
    assert parts[0]["functionResponse"] == {"id": "c1", "name": "notes__read", "response": {"output": {"n": 1}}}
    assert parts[2]["functionResponse"]["response"] == {"error": "no bell"}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, "notes__read"),
        ({"via": "tools.call"}, "tools__call"),
        ({"via": "tools.call", "provider_name": "NotesRead"}, "tools__call"),
        ({"provider_name": "NotesRead"}, "NotesRead"),
        ({"provider_name": "notes__read"}, "notes__read"),
    ],
)
def test_a_result_answers_the_name_that_the_model_called(metadata: dict[str, str], expected: str) -> None:
    result = ToolResult("c1", "notes.read", (Text("found"),), metadata=metadata)
    (content,) = gemini.answer([result], NAMES)
    answered: Any = content["parts"]
    assert answered[0]["functionResponse"]["name"] == expected
    assert f"<tool_name>{expected}</tool_name>" in render_results([result], "anthropic_xml", NAMES)


@each
def test_the_calls_of_an_answer_can_be_sent_back_as_history(dialect: ModuleType) -> None:
    sent: Any = dialect.ask(CALLS, NAMES)
    whole = {"openai_responses": {"output": sent}, "gemini": {"candidates": [{"content": sent}]}}.get(
        dialect.NAME, sent
    )
    assert dialect.read(whole, NAMES).calls == CALLS


def growing(*pieces: dict[str, Any], name: str = "tide_at", last: bool = True) -> list[ParsedCall]:
    """The calls of a response whose arguments come place by place."""
    sent: list[dict[str, Any]] = [{"name": name, "willContinue": True}]
    sent += [{"partialArgs": [piece], "willContinue": True} for piece in pieces]
    stream = gemini.Stream()
    for call in [*sent, *([{}] if last else [])]:
        stream.feed({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]})
    return stream.finish().calls


def test_arguments_that_come_place_by_place_are_put_together() -> None:
    calls = growing(
        {"jsonPath": "$.harbour", "stringValue": "Ob", "willContinue": True},
        {"jsonPath": "$.harbour", "stringValue": "an"},
        {"jsonPath": "$.stops[0].port", "stringValue": "Iona"},
        {"jsonPath": "$.stops[0].nights", "numberValue": 2.0},
        {"jsonPath": "$.stops[1]['odd \"key\"']", "boolValue": True},
        {"jsonPath": "$.note", "nullValue": "NULL_VALUE"},
    )
    arguments = {"harbour": "Oban", "stops": [{"port": "Iona", "nights": 2}, {'odd "key"': True}], "note": None}
    assert calls == [ParsedCall("tide_at", arguments)]


@pytest.mark.parametrize("path", ["harbour", "$", "$..x", "$[0]", "$.a[5]", "$.a[*]", 7])
def test_arguments_for_a_place_that_cannot_be_make_the_call_unrunnable(path: object) -> None:
    for goes_on in (False, True):
        [call] = growing({"jsonPath": path, "stringValue": "x", "willContinue": goes_on})
        assert (call.name, call.arguments, call.status) == ("tide_at", {}, Status.MALFORMED)


def test_a_response_that_ends_while_arguments_arrive_leaves_an_incomplete_call() -> None:
    [call] = growing({"jsonPath": "$.harbour", "stringValue": "Ob", "willContinue": True}, last=False)
    assert (call.arguments, call.status) == ({}, Status.INCOMPLETE)
