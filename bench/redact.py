"""What redaction costs: CPU time per 100 KB of ordinary and hostile text, and per short string.

Run it alone (`python bench/redact.py`); figures are medians of seven, after a first pass that warms re2 up.
"""

from __future__ import annotations

import base64
import json
import random
import statistics
import string
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from toolcrib.engine.redact import Redactor

SIZE = 100_000


def main() -> None:
    redactor = Redactor(["correct-horse-battery-staple"])
    for name, text in texts().items():
        found = redactor.text(text)[1]
        cost = milliseconds(lambda text=text: redactor.text(text), 1) / len(text) * SIZE
        print(f"{name:34} {cost:8.2f} ms/100 KB  {found:6} found")
    short = "a short text without any hint, some 60 characters, as results are"
    arguments = {"title": "today", "limit": 10, "tags": ["a", "b"], "body": short}
    print(f"{'short text':34} {milliseconds(lambda: redactor.text(short), 20_000) * 1000:8.2f} µs")
    print(f"{'small arguments':34} {milliseconds(lambda: redactor.json(arguments), 20_000) * 1000:8.2f} µs")
    log = texts()["log lines"]
    print(f"{'log lines, streamed by 4 KB':34} {milliseconds(lambda: stream(redactor, log), 1):8.2f} ms/100 KB")


def texts() -> dict[str, str]:
    """Ordinary texts, then texts made to be slow."""
    chosen = random.Random(7)
    words = "the quick brown fox jumps over a lazy dog while nobody is looking at the moon".split()  # noqa: SIM905
    letters = string.ascii_letters + string.digits
    library = Path(sysconfig.get_paths()["stdlib"])
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(library.glob("[a-h]*.py")))
    rows = [{"id": n, "name": chosen.choice(words), "score": chosen.random(), "tags": words[:3]} for n in range(2000)]
    secret = "gh" + "p_"
    ordinary = {
        "prose": " ".join(chosen.choices(words, k=30_000)),
        "Python source": code,
        "JSON rows": json.dumps(rows),
        "log lines": "".join(
            f"2026-01-01T00:00:{n % 60:02} INFO worker-{n} GET /api/v1/items/{n} 200\n" for n in range(3000)
        ),
        "hashes": "\n".join(f"{chosen.getrandbits(256):064x}  file-{n}.txt" for n in range(2000)),
        "base64 of random bytes": base64.b64encode(chosen.randbytes(80_000)).decode(),
        "base64 of source": base64.b64encode(code.encode()[:80_000]).decode(),
        "Japanese": "これは普通の文章です。" * 10_000,
    }
    hostile = {
        "one letter": "a" * SIZE,
        "names without values": "token=" * 20_000,
        "names with short values": "password=ab, " * 10_000,
        "names with harmless values": 'token="harmless", ' * 6_000,
        "settings, each a secret": "".join(f"API_TOKEN_{n}=x{chosen.getrandbits(80):x}\n" for n in range(3000)),
        "tokens, one after another": "".join(
            secret + "".join(chosen.choices(letters, k=36)) + "\n" for _ in range(2500)
        ),
        "heads of key blocks": ("-----BEGIN PRIVATE" + " KEY-----\n") * 4000,
        "key block without an end": "-----BEGIN PRIVATE" + " KEY-----\n" + "".join(chosen.choices(letters, k=SIZE)),
        "addresses": "http://a:80/@b " * 7000,
        "one long quoted value": 'password="' + "x7" * 50_000,
        "backslashes and quotes": '\\"' * 50_000,
        "zero-width letters": "\u200b" * 35_000,
        "colours": "\x1b[31ma" * 17_000,
        "dots and dashes": "a.b-c_" * 17_000,
        "heads cut short": "".join(chosen.choices(["ghp_", "sk-", "AKIA", "eyJ", "xoxb-", "://a:b"], k=25_000)),
    }
    return {name: text[:SIZE] for name, text in {**ordinary, **hostile}.items()}


def stream(redactor: Redactor, text: str) -> None:
    pieces = redactor.stream()
    for start in range(0, len(text), 4096):
        pieces.feed(text[start : start + 4096])
    pieces.finish()


def milliseconds(work: Callable[[], object], times: int) -> float:
    """CPU time of one run, the median of seven."""
    work()
    spent: list[float] = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(times):
            work()
        spent.append((time.process_time() - start) / times * 1000)
    return statistics.median(spent)


if __name__ == "__main__":
    main()
