"""Runs inside the peers' own environment: ranks every request with the search that fastmcp and pydantic-ai ship.

Usage: python peer_engines.py JOBS.json RANKINGS.json. A job is a pool with its requests; both files stay under `.bench`.
"""

import json
import sys
import time
from importlib.metadata import version

from fastmcp.server.transforms.search.base import _extract_searchable_text
from fastmcp.server.transforms.search.bm25 import _BM25Index
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets._tool_search import keywords_search_fn

LIMIT = 10


class Text:
    """The three attributes that fastmcp's text extraction reads of its own `Tool`."""

    def __init__(self, tool: dict) -> None:
        self.name, self.description, self.parameters = tool["name"], tool["description"], tool["input_schema"]


def fastmcp_bm25(tools: list[dict]):
    index = _BM25Index()
    index.build([_extract_searchable_text(Text(tool)) for tool in tools])
    names = [tool["name"] for tool in tools]
    return lambda text: [names[number] for number in index.query(text, LIMIT)]


def pydantic_ai_keywords(tools: list[dict]):
    definitions = [
        ToolDefinition(name=tool["name"], description=tool["description"], parameters_json_schema=tool["input_schema"]) for tool in tools
    ]
    return lambda text: keywords_search_fn(None, [text], definitions)[:LIMIT]


def main(jobs_path: str, rankings_path: str) -> None:
    jobs = json.load(open(jobs_path))
    answers: dict[str, dict] = {}
    for label, make in (
        (f"fastmcp {version('fastmcp')} BM25", fastmcp_bm25),
        (f"pydantic-ai {version('pydantic-ai-slim')} keywords", pydantic_ai_keywords),
    ):
        engines: dict[str, object] = {}
        rankings: dict[str, list[list[str]]] = {}
        started = time.process_time()
        for name, job in jobs["runs"].items():
            engine = engines.setdefault(job["pool"], None) or make(jobs["pools"][job["pool"]])
            engines[job["pool"]] = engine
            rankings[name] = [engine(text) for text in job["texts"]]
        answers[label] = {"rankings": rankings, "seconds": time.process_time() - started}
    json.dump(answers, open(rankings_path, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
