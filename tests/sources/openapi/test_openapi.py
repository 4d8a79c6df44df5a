"""An OpenAPI document as tools, against a real server on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib import PermissionDecision, PermissionRequest, Toolcrib
from toolcrib.sources.openapi.document import read_document
from toolcrib.sources.openapi.schema import Definitions
from toolcrib.sources.openapi.servers import chosen_base
from toolcrib.values.refusal import ConfigError, Reason

pytestmark = pytest.mark.anyio


@pytest.fixture
def address(echo: str) -> str:
    return f"{echo}/v1"


def document(address: str) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"$ref": "#/components/schemas/Parts"}},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "7"},
        "servers": [{"url": address}],
        "paths": {
            "/items/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "get": {
                    "operationId": "get-item",
                    "summary": "Get one item.",
                    "parameters": [
                        {"name": "tag", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    ],
                },
                "delete": {"summary": "Delete an item."},
            },
            "/items": {
                "post": {
                    "operationId": "add_item",
                    "description": "Add an item.",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
                    },
                }
            },
        },
        "components": {"schemas": {"Item": item, "Parts": {"type": "array", "items": {"type": "integer"}}}},
    }


async def allow(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")


def prepare(home: Path, address: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "shop.json").write_text(json.dumps(document(address)))


async def called(home: Path, address: str, name: str, arguments: dict[str, Any], **entry: Any) -> Any:
    prepare(home, address)
    config: dict[str, Any] = {"toolsets": [], "apis": {"shop": {"document": "shop.json", **entry}}}
    async with Toolcrib.open(home=home, config=config, asker=allow) as crib, crib.run() as run:
        return await run.call(name, arguments)


async def test_operations_are_called_with_parameters_where_they_belong(tmp_path: Path, address: str) -> None:
    arguments = {"id": "a/b c", "tag": ["x", "y&z"], "X-Trace": "t1"}
    result = await called(tmp_path / "home", address, "api.shop.get-item", arguments)
    assert result.data["path"] == "/v1/items/a%2Fb%20c?tag=x&tag=y%26z"
    assert (result.data["method"], result.data["headers"]["X-Trace"]) == ("GET", "t1")


async def test_a_body_follows_its_schema_or_is_refused(tmp_path: Path, address: str) -> None:
    item = {"name": "lamp", "parts": [1, 2]}
    sent = await called(tmp_path / "home", address, "api.shop.add_item", {"body": item})
    assert json.loads(sent.data["body"]) == item
    wrong = await called(tmp_path / "home", address, "api.shop.add_item", {"body": {"parts": ["one"]}})
    assert wrong.reason is Reason.VALIDATION_ERROR
    assert "body.parts" in wrong.text


async def test_secrets_come_from_the_environment(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"Authorization": "Bearer ${SHOP_TOKEN}"}
    missing = await called(tmp_path / "home", address, "api.shop.get-item", {"id": "1"}, headers=headers)
    assert missing.reason is Reason.CONFIG_ERROR
    assert "SHOP_TOKEN" in missing.text
    monkeypatch.setenv("SHOP_TOKEN", "t0ken-of-the-shop")
    done = await called(tmp_path / "home", address, "api.shop.get-item", {"id": "1"}, headers=headers)
    assert done.ok


@pytest.mark.parametrize("id", ["..", ".", "@evil.example", "//evil.example", "\\evil.example", "%2e%2e", "a?x=1#y"])
async def test_no_argument_leads_to_another_place(tmp_path: Path, address: str, id: str) -> None:
    result = await called(tmp_path / "home", address, "api.shop.get-item", {"id": id})
    if result.ok:
        assert result.data["path"].startswith("/v1/items/")
        assert result.data["path"].count("/") == 3
    else:
        assert result.reason is Reason.VALIDATION_ERROR


async def test_an_error_of_the_server_is_an_error(tmp_path: Path, address: str) -> None:
    result = await called(tmp_path / "home", address, "api.shop.get-item", {"id": "missing"})
    assert (result.reason, result.metadata["status"]) == (Reason.PROVIDER_ERROR, 404)


async def test_reads_and_writes_are_told_apart_and_all_reach_the_network(tmp_path: Path, address: str) -> None:
    prepare(tmp_path, address)
    config: dict[str, Any] = {"toolsets": [], "apis": {"shop": {"document": "shop.json"}}}
    async with Toolcrib.open(home=tmp_path, config=config) as crib, crib.run() as run:
        effects = {spec.name: spec.effect.value for spec in run.tools.specs}
        assert effects == {
            "api.shop.get-item": "read",
            "api.shop.delete_items_id": "write",
            "api.shop.add_item": "write",
        }
        assert all(spec.network for spec in run.tools.specs)
        assert (await run.call("api.shop.get-item", {"id": "1"})).reason is Reason.PERMISSION_DENIED


BOMB = "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"swagger": "2.0"}', "no OpenAPI 3 document"),
        ("[]", "is an object"),
        ("a: [", "neither JSON nor YAML"),
        ('{"openapi": "3.1.0", "info": {"version": NaN}}', "is not JSON"),
        ("a: &a [1, 1, 1, 1]\nb: &b [*a, *a]\nopenapi: 3.0.0\nc: &c {d: *c}", "recursive"),
        (BOMB, "stand for"),
    ],
)
def test_a_document_that_cannot_be_used_says_why(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_document(text.encode(), "shop.json")


def test_a_server_outside_the_document_is_refused() -> None:
    found = read_document(json.dumps(document("https://shop.example/v1")).encode(), "shop.json").servers
    assert chosen_base(found, "https://shop.example/v2", "shop") == "https://shop.example/v2"
    with pytest.raises(ConfigError, match="none of the document's servers"):
        chosen_base(found, "https://evil.example/v1", "shop")


def test_schemas_of_3_0_become_json_schema() -> None:
    old = {"type": "number", "minimum": 1, "exclusiveMinimum": True, "nullable": True, "example": 2}
    assert Definitions({}).plain(old) == {"type": ["number", "null"], "exclusiveMinimum": 1}
