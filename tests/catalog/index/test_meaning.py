"""Nearness in meaning: fused with words, cached per fingerprint, never over an exact name."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.catalog.index.catalog import CATALOG

from toolcrib.catalog.index import Entry, ToolIndex
from toolcrib.catalog.index.embed import Vectors
from toolcrib.catalog.index.minilm import Floats, gelu, read_safetensors, split_words, word_pieces

TOPICS = (("wet", "rain", "galoshes"), ("file", "folder"), ("time", "zone", "late"), ("email", "postman"))


class TopicEncoder:
    """A real, if very small, encoder: one axis per topic. Counts the texts it was asked for."""

    identity = "topics"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.encoded += texts
        rows = np.array(
            [[sum(word in text.lower() for word in topic) for topic in TOPICS] for text in texts], np.single
        )
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def test_a_query_without_a_common_word_finds_the_tool_of_its_meaning() -> None:
    index = ToolIndex.build(CATALOG, meaning=Vectors(TopicEncoder()))
    hit = index.search("galoshes?", limit=1)[0]
    assert (hit.name, hit.why) == ("weather.forecast", "similar meaning")
    assert index.search("galoshes?", allowed={"calc.add"}) == []


def test_meaning_never_passes_an_exact_name() -> None:
    index = ToolIndex.build(CATALOG, meaning=Vectors(TopicEncoder()))
    index.add(Entry("galoshes", "Counts things."))
    assert index.search("galoshes", limit=1)[0].name == "galoshes"
    index.remove("galoshes")
    assert index.search("galoshes", limit=1)[0].name == "weather.forecast"


def test_a_text_is_encoded_once_and_then_read_from_the_cache(tmp_path: Path) -> None:
    first, second = TopicEncoder(), TopicEncoder()
    built = ToolIndex.build(CATALOG, meaning=Vectors(first, tmp_path))
    again = ToolIndex.build(CATALOG, meaning=Vectors(second, tmp_path))
    assert (len(first.encoded), len(second.encoded)) == (len(CATALOG), 0)
    assert again.search("galoshes") == built.search("galoshes")


def test_words_are_split_as_the_encoder_was_trained() -> None:
    assert list(split_words("Hello, Wörld! get_file 読む")) == [
        "hello",
        ",",
        "world",
        "!",
        "get",
        "_",
        "file",
        "読",
        "む",
    ]


@pytest.mark.parametrize(("word", "numbers"), [("unhappy", [1, 2]), ("happy", [3]), ("unx", [0]), ("x" * 200, [0])])
def test_a_word_becomes_its_longest_known_pieces(word: str, numbers: list[int]) -> None:
    assert word_pieces(word, {"[UNK]": 0, "un": 1, "##happy": 2, "happy": 3, "u": 4}) == numbers


def test_gelu_follows_the_error_function() -> None:
    points = np.linspace(-6, 6, 200, dtype=np.single)
    exact = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in points.tolist()]
    assert np.allclose(gelu(points), exact, atol=1e-5)


def test_weights_are_read_from_a_safetensors_file(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.single).reshape(2, 3)
    head = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + values.tobytes())
    assert np.array_equal(read_safetensors(path)["w"], values)
