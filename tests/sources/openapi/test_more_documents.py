"""Documents as they are found in the world, and documents that mean harm: whole, through the real counter."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from toolcrib import Run, Toolcrib
from toolcrib.cli.program import run as run_program
from toolcrib.sources.openapi.document import read_document
from toolcrib.sources.openapi.schema import Definitions
from toolcrib.sources.openapi.servers import chosen_base
from toolcrib.testing import ScriptedAsker
from toolcrib.values.refusal import ConfigError

pytestmark = pytest.mark.anyio
TEXT = {"type": "string"}


def with_paths(paths: Mapping[str, Any], server: str = "https://shop.example", **more: Any) -> dict[str, Any]:
    info = {"title": "Shop", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "servers": [{"url": server}], "paths": paths, **more}


def parameter(name: str, place: str, schema: Mapping[str, Any] = TEXT, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema, **more}


def write(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "shop.json").write_text(text)


@asynccontextmanager
async def opened(home: Path, document: Mapping[str, Any] | str, **entry: Any) -> AsyncGenerator[tuple[Run, Any]]:
    """A run over a document, and what was set aside of it."""
    write(home, document if isinstance(document, str) else json.dumps(document))
    config: dict[str, Any] = {"toolsets": [], "apis": {"shop": {"document": "shop.json", **entry}}}
    asker = ScriptedAsker.always("allow_once")
    async with Toolcrib.open(home=home, config=config, asker=asker) as crib, crib.run() as run:
        assert crib.outside is not None
        yield run, crib.outside.aside


def properties(run: Run, name: str) -> dict[str, Any]:
    schema: Any = run.tools.require(name).tool.spec.input_schema
    return schema["properties"]


async def names_of(home: Path, document: Mapping[str, Any] | str, **entry: Any) -> tuple[list[str], str]:
    async with opened(home, document, **entry) as (run, aside):
        return sorted(spec.name for spec in run.tools.specs), " | ".join(aside.values())


async def test_one_operation_that_cannot_be_used_leaves_the_others(tmp_path: Path) -> None:
    good = {"get": {"operationId": "good"}}
    bad: dict[str, dict[str, Any]] = {
        "points at nothing": {"get": {"parameters": [{"$ref": "#/components/parameters/Nobody"}]}},
        "leads back to itself": {"get": {"parameters": [{"$ref": "#/components/parameters/Loop"}]}},
        "leaves the document": {"get": {"parameters": [parameter("a", "query", {"$ref": "other.json#/A"})]}},
        "https://evil.example/x": {
            "get": {"parameters": [parameter("a", "query", {"$ref": "https://evil.example/x"})]}
        },
        "cannot be the name of a header": {"get": {"parameters": [parameter("X\r\nHost", "header")]}},
        "path, query, header or cookie": {"get": {"parameters": [parameter("a", "sky")]}},
        "multipart/form-data": {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {}}}}}},
        "is api.shop.good already": {"get": {"operationId": "good"}},
        "API.SHOP.GOOD".lower() + " already": {"get": {"operationId": "GOOD"}},
        "no letter or digit": {"get": {"operationId": "買う"}},
        "style 'matrix'": {"get": {"parameters": [parameter("a", "query", style="matrix")]}},
        "entry of its own": {"get": {"servers": [{"url": "https://evil.example"}]}},
        "regex": {"get": {"operationId": "r", "parameters": [parameter("a", "query", {"pattern": "("})]}},
        "at most 200": {"get": {"operationId": "x" * 300}},
    }
    paths = {"/good": good, **{f"/bad{n}": item for n, item in enumerate(bad.values())}, "no-slash": good}
    loop: dict[str, Any] = {"components": {"parameters": {"Loop": {"$ref": "#/components/parameters/Loop"}}}}
    names, aside = await names_of(tmp_path, with_paths(paths, **loop))
    assert names == ["api.shop.good"]
    assert [says for says in (*bad, "begins with /") if says not in aside] == []


async def test_a_document_that_cannot_be_read_leaves_the_crib_open_and_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names, aside = await names_of(tmp_path, "swagger: '2.0'")
    assert names == []
    assert "no OpenAPI 3 document" in aside
    (tmp_path / "config.toml").write_text('toolsets = []\n[apis.shop]\ndocument = "shop.json"\n')
    for command in (["tools", "list"], ["tools", "validate"], ["doctor"]):
        run_program([*command, "--home", str(tmp_path)])
        told = capsys.readouterr()
        assert "no OpenAPI 3 document" in told.out + told.err, command


async def test_yaml_is_read_as_people_write_it(tmp_path: Path) -> None:
    document = """
openapi: 3.0.3
info: {title: Shop, version: 2024-01-01}
servers: [{url: https://shop.example}]
paths:
  /days/{day}:
    get:
      operationId: day
      parameters:
        - {name: day, in: path, required: true, schema: {type: string, enum: [2024-01-01, no]}}
        - {name: on, in: query, schema: {type: integer, minimum: 0, nullable: true}}
      responses:
        200: {description: fine}
"""
    async with opened(tmp_path, document) as (run, aside):
        assert dict(aside) == {}
        assert properties(run, "api.shop.day") == {
            "day": {"type": "string", "enum": ["2024-01-01", "no"]},
            "on": {"type": ["integer", "null"], "minimum": 0},
        }


async def test_values_go_where_the_document_says_in_the_form_it_says(tmp_path: Path, echo: str) -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    form = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT}
    given = [
        parameter("ids", "path", numbers),
        parameter("id", "query"),
        parameter("flat", "query", numbers, explode=False),
        parameter("piped", "query", numbers, style="pipeDelimited", explode=False),
        parameter("deep", "query", form, style="deepObject"),
        parameter("wide", "query", form),
        {"name": "json", "in": "query", "content": {"application/json": {"schema": form}}},
        parameter("id", "header"),
        parameter("theme", "cookie"),
        parameter("Authorization", "header"),
    ]
    arguments = {
        "ids": [1, 2], "id": "q&x=1", "flat": [1, 2], "piped": [3, 4], "deep": {"a": "1"}, "wide": {"a": "2"},
        "json": {"a": "3"}, "header_id": "h", "theme": "dark; admin=1",
    }  # fmt: skip
    document = with_paths({"/x/{ids}/{undeclared}": {"get": {"operationId": "all", "parameters": given}}}, echo)
    async with opened(tmp_path, document) as (run, _):
        assert "Authorization" not in properties(run, "api.shop.all")
        said: Any = (await run.call("api.shop.all", {**arguments, "undeclared": "u"})).data
    query = "id=q%26x%3D1&flat=1%2C2&piped=3%7C4&deep%5Ba%5D=1&a=2&json=%7B%22a%22%3A%20%223%22%7D"
    assert said["path"] == f"/x/1,2/u?{query}"
    assert (said["headers"]["Id"], said["headers"]["Cookie"]) == ("h", "theme=dark%3B%20admin%3D1")


OUTWARD = ["..", ".", "", "%2e%2e", "a/../../b", "//evil.example", "a\r\nHost: evil", "a\0b", "{b}"]


@pytest.mark.parametrize("value", OUTWARD)
async def test_a_value_in_a_path_stays_one_part_of_it(tmp_path: Path, echo: str, value: str) -> None:
    two, one = {"get": {"operationId": "two"}}, {"get": {"operationId": "one"}}
    document = with_paths({"/x/{a}.{b}/y": two, "/x/{a}/y": one}, echo)
    async with opened(tmp_path, document) as (run, _):
        for name, arguments in (("api.shop.two", {"a": value, "b": value}), ("api.shop.one", {"a": value})):
            result = await run.call(name, arguments)
            if result.ok:
                path = cast("Any", result.data)["path"]
                assert (path.count("/"), "/../" in path, "/./" in path) == (3, False, False), path
            else:
                assert result.reason == "validation_error", result.text


async def test_what_the_operator_says_no_argument_says_again_and_no_answer_shows(
    tmp_path: Path, echo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "kite-of-seven-summers")
    monkeypatch.setenv("SHOP_KEY", "lamp-of-nine-winters")
    given = [parameter("X-Token", "header"), parameter("key", "query", required=True), parameter("q", "query")]
    document = with_paths({"/x": {"get": {"operationId": "get", "parameters": given}}}, echo)
    entry = {"headers": {"x-token": "${SHOP_TOKEN}"}, "query": {"key": "${SHOP_KEY}"}}
    async with opened(tmp_path, document, **entry) as (run, _):
        assert list(properties(run, "api.shop.get")) == ["q"]
        result = await run.call("api.shop.get", {"q": "1"})
    said: Any = result.data
    assert said["path"].startswith("/x?q=1&key=")
    assert "X-Token" in said["headers"]
    assert "summers" not in result.text
    assert "winters" not in result.text


async def test_an_operation_of_another_host_gets_no_secret_of_this_one(tmp_path: Path, echo: str) -> None:
    own = {"get": {"operationId": "own"}}
    elsewhere = {"get": {"operationId": "elsewhere", "servers": [{"url": f"{echo}/deep"}]}}
    document = with_paths({"/own": own, "/elsewhere": elsewhere}, "https://shop.example")
    assert (await names_of(tmp_path, document))[0] == ["api.shop.own"]
    async with opened(tmp_path, document, server=echo) as (run, aside):
        assert [spec.name for spec in run.tools.specs] == ["api.shop.elsewhere"]
        assert "entry of its own" in " ".join(aside.values())
        said: Any = (await run.call("api.shop.elsewhere")).data
        assert said["path"] == "/deep/elsewhere"


async def test_bodies_of_forms_and_of_text_are_sent_as_such(tmp_path: Path, echo: str) -> None:
    form = {"schema": {"type": "object", "additionalProperties": True}}
    both = {"text/plain": {"schema": TEXT}, "application/x-www-form-urlencoded": form}
    paths = {
        "/form": {"post": {"operationId": "form", "requestBody": {"content": both}}},
        "/text": {"put": {"operationId": "text", "requestBody": {"content": {"text/csv": {"schema": TEXT}}}}},
        "/body": {
            "post": {
                "operationId": "body",
                "parameters": [parameter("body", "query")],
                "requestBody": {"content": {"application/merge-patch+json": {"schema": {"type": ["object", "null"]}}}},
            }
        },
    }
    async with opened(tmp_path, with_paths(paths, echo)) as (run, aside):
        assert dict(aside) == {}
        sent: Any = (await run.call("api.shop.form", {"body": {"a": ["1", "2"], "b": "x&y"}})).data
        assert (sent["body"], sent["headers"]["Content-Type"]) == (
            "a=1&a=2&b=x%26y",
            "application/x-www-form-urlencoded",
        )
        sent = (await run.call("api.shop.text", {"body": "a;b"})).data
        assert (sent["body"], sent["headers"]["Content-Type"]) == ("a;b", "text/csv")
        sent = (await run.call("api.shop.body", {"body": "q", "request_body": None})).data
        assert (sent["path"], sent["body"]) == ("/body?body=q", "null")


async def test_bodies_of_many_shapes_are_checked_before_anything_is_sent(tmp_path: Path, echo: str) -> None:
    cat, tree, old = ({"$ref": f"#/components/schemas/{name}"} for name in ("Cat", "Tree", "Old"))
    schemas = {
        "Cat": {"type": "object", "properties": {"cat": TEXT}, "required": ["cat"]},
        "Tree": {"properties": {"kids": {"type": "array", "items": tree}}, "additionalProperties": False},
        "Old": {"allOf": [cat], "nullable": True},
    }
    bodies = {"choice": {"oneOf": [cat, tree], "discriminator": {"propertyName": "x"}}, "old": old}
    paths = {
        f"/{name}": {"post": {"operationId": name, "requestBody": {"content": {"application/json": {"schema": body}}}}}
        for name, body in bodies.items()
    }
    async with opened(tmp_path, with_paths(paths, echo, components={"schemas": schemas})) as (run, aside):
        assert dict(aside) == {}
        cases: list[tuple[str, Any, bool]] = [
            ("choice", {"cat": "x"}, True), ("choice", {"kids": [{"kids": []}]}, True),
            ("choice", {"kids": [{"toys": [1]}]}, False), ("choice", {"dog": 1}, False),
            ("old", None, True), ("old", {"cat": "x"}, True), ("old", {}, False),
        ]  # fmt: skip
        for name, body, fits in cases:
            assert (await run.call(f"api.shop.{name}", {"body": body})).ok is fits, (name, body)


REGION = {"url": "https://{r}.shop.example", "variables": {"r": {"default": "eu", "enum": ["eu", "us"]}}}
VERSION = {
    "url": "https://{r}.shop.example/{v}",
    "variables": {"r": {"default": "eu"}, "v": {"default": "v2"}},
}
TWO = [{"url": "https://a.example"}, {"url": "https://b.example/x/"}]


@pytest.mark.parametrize(
    ("servers", "wanted", "base"),
    [
        ([VERSION], "", "https://eu.shop.example/v2"),
        ([VERSION], "https://evil.example/x.shop.example", "none of"),
        ([REGION], "https://us.shop.example", "https://us.shop.example"),
        ([REGION], "https://evil.shop.example", "none of"),
        ([{"url": "/v1"}], "", "server = "),
        ([{"url": "/v1"}], "https://shop.example", "https://shop.example/v1"),
        ([], "", "server = "),
        (TWO, "", "the document has https://a.example, https://b.example/x/"),
        (TWO, "https://b.example", "https://b.example/x"),
        ([{"url": "https://me:pw@a.example"}], "", "without user"),
        ([{"url": "https://a.example?x=1"}], "", "without user"),
    ],
    ids=str,
)
def test_the_server_is_one_that_the_document_names(servers: list[Any], wanted: str, base: str) -> None:
    read = read_document(json.dumps({"openapi": "3.0.0", "servers": servers}).encode(), "shop.json").servers
    if base.startswith("https://"):
        assert chosen_base(read, wanted, "apis.shop") == base
    else:
        with pytest.raises(ConfigError, match=base):
            chosen_base(read, wanted, "apis.shop")


async def test_what_a_call_would_send_is_part_of_the_contract(tmp_path: Path) -> None:
    seen: set[str] = set()
    for path, place in (("/a", "query"), ("/b", "query"), ("/a", "header")):
        operation = {"operationId": "x", "summary": "X.", "parameters": [parameter("a", place)]}
        async with opened(tmp_path / f"{len(seen)}", with_paths({path: {"get": operation}})) as (run, _):
            seen.add(run.tools.require("api.shop.x").tool.fingerprint)
    assert len(seen) == 3


NAMED = {"properties": {"nullable": {"type": "boolean"}, "example": TEXT}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"oneOf": [TEXT], "nullable": True}, {"anyOf": [{"oneOf": [TEXT]}, {"type": "null"}]}),
        ({"additionalProperties": False, "x-internal": 1}, {"additionalProperties": False}),
        (NAMED, NAMED),
        ({"exclusiveMaximum": 5}, {"exclusiveMaximum": 5}),
        (True, {}),
        (False, {"not": {}}),
    ],
    ids=str,
)
def test_schemas_of_either_version_become_json_schema(old: Any, new: Any) -> None:
    assert Definitions({}).plain(old) == new
