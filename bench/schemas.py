"""`python -m bench.schemas`: how many real tool definitions can be registered, and why the others cannot.

All function documents of the `bfcl-eval` package, and all tools of the six servers that the tests talk to, each taken
in as a tool that an MCP server lists. The package spells types as the languages it asks about do; they are put into
JSON Schema's words first, as its own evaluation does before a model sees them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp_types import Tool as Listed
from pydantic import ValidationError

from bench.search.data import bfcl_folder
from toolcrib import Toolcrib
from toolcrib.catalog.registry import Registry
from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.entry import Entry
from toolcrib.sources.mcp.translate import spec_of
from toolcrib.values.refusal import ToolcribError
from toolcrib.values.tool import Tool

ROOT = Path(__file__).parents[1]
NODE, PYTHON = ROOT / ".tools/npm/node_modules/@modelcontextprotocol", ROOT / ".tools/servers/bin"
LEAST = 0.99
TYPES = {
    "object": "dict HashMap Hashtable Map",
    "array": "list tuple Array ArrayList Queue Stack Set",
    "number": "float double Number Float Double",
    "integer": "int long short byte Bigint Integer Long",
    "boolean": "bool Boolean",
    "string": "char String Char any Any",
}
SPELLINGS = {spelling: word for word, spellings in TYPES.items() for spelling in spellings.split()}


def main() -> int:
    documents = list(bfcl_documents())
    problems = Counter(why for document in documents if (why := problem(document)))
    registered = len(documents) - problems.total()
    aside, real = asyncio.run(real_servers())
    share = (registered + real) / (len(documents) + real + len(aside))
    print(f"function documents of bfcl-eval registered: {registered:,} of {len(documents):,}")
    print(f"tools of six real servers registered: {real} of {real + len(aside)}")
    missed = "" if share >= LEAST else "  MISSED"
    print(f"{'real definitions that can be registered':72}{share:>10.4f}{f'≥ {LEAST}':>12}{missed}")
    for why, count in [*problems.most_common(8), *((why, 1) for why in aside)]:
        print(f"  {count} × {why[:150]}")
    return 1 if missed else 0


def problem(document: dict[str, Any]) -> str:
    """Why a definition cannot be registered; nothing when it can."""
    cleaner = Cleaner(lambda kind, words: None)
    result = {"tools": [document]}
    cleaner.clean("tools/list", result)
    if not result["tools"]:
        return " ".join(cleaner.set_aside.values())
    try:
        listed = Listed.model_validate(result["tools"][0])
        Registry().add([Tool(spec_of(listed, Entry("real", command="x"), "1"), print)])
    except (ToolcribError, ValidationError) as error:
        return str(error).replace(str(document["name"]), "NAME")
    return ""


def bfcl_documents() -> Iterator[dict[str, Any]]:
    """Every function document of the package, once."""
    seen: set[str] = set()
    for path in sorted(bfcl_folder().rglob("*.json")):
        for line in path.read_text().splitlines():
            for function in _functions(line):
                document = {
                    "name": function["name"],
                    "description": function.get("description", ""),
                    "inputSchema": _spelled(function.get("parameters") or {"type": "object"}),
                }
                if (key := json.dumps(document, sort_keys=True)) not in seen:
                    seen.add(key)
                    yield document


def _functions(line: str) -> list[dict[str, Any]]:
    try:
        row = json.loads(line)
    except ValueError:
        return []
    if not isinstance(row, dict):
        return []
    found = row["function"] if isinstance(row.get("function"), list) else [row]
    return [each for each in found if isinstance(each, dict) and "name" in each and "parameters" in each]


def _spelled(schema: Any, *, names: bool = False) -> Any:
    """The same with JSON Schema's words for types; the names of properties are left as they are."""
    if isinstance(schema, list):
        return [_spelled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: SPELLINGS.get(value, value)
        if key == "type" and isinstance(value, str) and not names
        else _spelled(value, names=key == "properties" and not names)
        for key, value in schema.items()
    }


async def real_servers() -> tuple[list[str], int]:
    with tempfile.TemporaryDirectory() as folder:
        servers = {
            "everything": {"command": "node", "args": [str(NODE / "server-everything/dist/index.js"), "stdio"]},
            "files": {"command": "node", "args": [str(NODE / "server-filesystem/dist/index.js"), folder]},
            "memory": {"command": "node", "args": [str(NODE / "server-memory/dist/index.js")]},
            **{name: {"command": str(PYTHON / f"mcp-server-{name}")} for name in ("git", "fetch", "time")},
        }
        (Path(folder) / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        async with Toolcrib.open(home=folder, config={"toolsets": []}) as crib, crib.run() as run:
            source = crib.servers
            assert source is not None
            missing = [name for name in servers if source.absence(f"mcp.{name}.x")]
            assert not missing, f"{missing} cannot be reached; run: make servers"
            aside = [f"{name}: {why}" for server in source.set_aside.values() for name, why in server.items()]
            return aside, sum(name.startswith("mcp.") for name in run.tools)


if __name__ == "__main__":
    sys.exit(main())
