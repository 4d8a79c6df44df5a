"""Runs inside a peer's own environment: ranks every request with the search that the peer ships.

Usage: python peer_engines.py PEER JOBS.json RANKINGS.json. A job is a pool with its requests.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

LIMIT = 10
Engine = Callable[[str], list[str]]


def main(peer: str, jobs_path: str, rankings_path: str) -> None:
    label, make = PEERS[peer]
    jobs = json.loads(Path(jobs_path).read_text())
    engines = {name: make(tools) for name, tools in jobs["pools"].items()}
    started = time.process_time()
    rankings = {name: [engines[run["pool"]](text) for text in run["texts"]] for name, run in jobs["runs"].items()}
    answer = {"label": label(), "rankings": rankings, "seconds": time.process_time() - started}
    Path(rankings_path).write_text(json.dumps(answer))


def fastmcp_bm25(tools: list[dict]) -> Engine:
    from fastmcp.server.transforms.search.base import _extract_searchable_text
    from fastmcp.server.transforms.search.bm25 import _BM25Index

    index = _BM25Index()
    index.build([_extract_searchable_text(Text(tool)) for tool in tools])
    names = [tool["name"] for tool in tools]
    return lambda text: [names[number] for number in index.query(text, LIMIT)]


def pydantic_ai_keywords(tools: list[dict]) -> Engine:
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets._tool_search import keywords_search_fn

    definitions = [
        ToolDefinition(name=tool["name"], description=tool["description"], parameters_json_schema=tool["input_schema"])
        for tool in tools
    ]
    return lambda text: keywords_search_fn(None, [text], definitions)[:LIMIT]


class Text:
    """The three attributes that fastmcp's text extraction reads of its own `Tool`."""

    def __init__(self, tool: dict) -> None:
        self.name, self.description, self.parameters = tool["name"], tool["description"], tool["input_schema"]


PEERS = {
    "fastmcp": (lambda: f"fastmcp {version('fastmcp')} BM25", fastmcp_bm25),
    "pydantic_ai": (lambda: f"pydantic-ai {version('pydantic-ai-slim')} keywords", pydantic_ai_keywords),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
