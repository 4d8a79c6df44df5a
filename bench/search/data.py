"""The benchmark's sets: pools of real tools, and requests with the tools that answer them.

Sources: the `bfcl-eval` package (requests with their right tools, by the Berkeley function-calling leaderboard) and the
tool lists of real MCP servers with the requests in `queries/*.jsonl`, written by hand for this benchmark.
"""

import ast
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.search.servers import PYTHON, harvest

HERE = Path(__file__).parent
HOME = HERE.parents[1] / ".bench" / "search"
BFCL = "bfcl-eval==2026.3.23"

GROUPS: dict[str, tuple[str, ...]] = {
    "bfcl-simple": (
        "simple_python",
        "simple_java",
        "simple_javascript",
        "multiple",
        "parallel",
        "parallel_multiple",
        "irrelevance",
    ),
    "bfcl-live": (
        "live_simple",
        "live_multiple",
        "live_parallel",
        "live_parallel_multiple",
        "live_irrelevance",
        "live_relevance",
    ),
    "bfcl-exec": ("exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple"),
    "bfcl-turns": ("multi_turn_base", "multi_turn_miss_param"),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """What every engine under test is given of a tool."""

    name: str
    description: str
    input_schema: dict[str, object]
    title: str | None = None
    aliases: tuple[str, ...] = ()
    category: str | None = None
    tags: frozenset[str] = frozenset()
    metadata: dict[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Request:
    """One request in words, and the names of the tools that answer it."""

    text: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Set:
    """A pool of tools with its requests."""

    name: str
    tools: tuple[Tool, ...]
    requests: tuple[Request, ...]


def load_sets() -> list[Set]:
    """Every set, built on first use."""
    sets = [_bfcl_set(name, files) for name, files in GROUPS.items()]
    return sets + list(_mcp_sets())


def _bfcl_set(name: str, files: tuple[str, ...]) -> Set:
    pool: dict[str, Tool] = {}
    requests: list[Request] = []
    if name == "bfcl-turns":
        for path in sorted((bfcl_folder() / "multi_turn_func_doc").glob("*.json")):
            for row in _rows(path):
                pool.setdefault(str(row["name"]), _tool(row))
    for file in files:
        answers = {row["id"]: row["ground_truth"] for row in _rows(_bfcl_path(file, "possible_answer"))}
        for row in _rows(_bfcl_path(file, "question")):
            for function in row.get("function") or ():
                pool.setdefault(str(function["name"]), _tool(function))
            requests.extend(_requests(row, answers.get(row["id"])))
    kept = tuple(request for request in dict.fromkeys(requests) if request.right and request.right <= pool.keys())
    return Set(name, tuple(pool.values()), kept)


def _requests(row: dict, answer: list | None) -> Iterator[Request]:
    """A row's turns with the function names that answer each."""
    if answer is None:
        return
    turns = row["question"]
    per_turn = answer if len(turns) > 1 or isinstance(answer[0], list) else [answer]
    for turn, calls in zip(turns, per_turn, strict=False):
        said = [message["content"] for message in turn if message["role"] == "user"]
        right = frozenset(_called(call) for call in calls)
        if said and said[-1].strip():
            yield Request(said[-1], right)


def _called(call: object) -> str:
    """The function's name in either notation: `{name: arguments}` or a Python call."""
    if isinstance(call, dict):
        return next(iter(call))
    expression = ast.parse(str(call), mode="eval").body
    assert isinstance(expression, ast.Call)
    return ast.unparse(expression.func)


def _tool(function: dict) -> Tool:
    return Tool(
        str(function["name"]), str(function.get("description") or ""), _objects(function.get("parameters") or {})
    )


def _objects(schema: object) -> dict[str, object]:
    """BFCL writes the type "object" as "dict"."""
    if isinstance(schema, dict):
        return {
            key: ("object" if key == "type" and value == "dict" else _objects(value)) for key, value in schema.items()
        }
    return schema  # type: ignore[return-value]


def _mcp_sets() -> Iterator[Set]:
    """One pool of every server's tools, prefixed with the server as a gateway would; one set per file of queries."""
    pool: dict[str, Tool] = {}
    for package, tools in harvest(HOME).items():
        server = short(package)
        for tool in tools:
            name = f"{server}.{tool['name']}"
            pool[name] = Tool(
                name, str(tool.get("description") or ""), tool.get("inputSchema") or {}, tool.get("title")
            )  # type: ignore[arg-type]
    for path in sorted((HERE / "queries").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        requests = [Request(row["query"], frozenset(row["tools"])) for row in rows]
        kept = tuple(request for request in requests if request.right <= pool.keys())
        if len(kept) < len(requests):
            print(
                f"{path.name}: {len(requests) - len(kept)} requests name tools that are not installed", file=sys.stderr
            )
        yield Set(f"mcp-{path.stem}", tuple(pool.values()), kept)


def short(package: str) -> str:
    """The server's name as a user would write it in a configuration."""
    words = package.split("/")[-1].removeprefix("awslabs.").removeprefix("mcp-server-").removeprefix("server-")
    words = words.removesuffix("-mcp-server").removesuffix("-mcp").removeprefix("mcp-")
    return package.split("/")[0].removeprefix("@") if words in ("mcp", "server") else words


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []


def _bfcl_path(file: str, kind: str) -> Path:
    folder = bfcl_folder()
    if file.startswith("exec_"):
        return folder / "unused_datasets" / kind / f"BFCL_v4_{file}.json"
    return (folder / kind if kind == "possible_answer" else folder) / f"BFCL_v4_{file}.json"


def bfcl_folder() -> Path:
    folder = HOME / "bfcl" / "bfcl_eval" / "data"
    if not folder.exists():
        wheels = HOME / "wheels"
        subprocess.run([PYTHON, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), BFCL], check=True)
        with zipfile.ZipFile(next(wheels.glob("bfcl_eval*.whl"))) as wheel:
            wheel.extractall(HOME / "bfcl")
    return folder
