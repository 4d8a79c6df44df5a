"""Splitting and stemming: spellings of one word meet, different words stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.index.stem import stem
from toolcrib.catalog.index.words import Analyzer, key_of


@pytest.mark.parametrize(
    "family",
    [
        "create creates creating created creation creator",
        "calculate calculates calculation calculator calculating",
        "convert converting converted conversion converter",
        "notify notifies notified notification",
        "query queries querying queried",
        "stop stops stopping stopped",
        "add adds adding added",
        "analyze analyse analysis analyses analyzer",
        "address addresses",
        "compress compression compressing",
        "send sends sending sent",
        "index indexes indices indexing",
        "recommend recommendation recommendations",
        "optimize optimise optimization",
    ],
)
def test_words_of_one_family_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("form", "format"),
        ("string", "stray"),
        ("process", "proceed"),
        ("status", "state"),
        ("news", "new"),
        ("use", "user"),
    ],
)
def test_words_of_different_meaning_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    "spelling", ["FileRead", "file_read", "file-read", "file.read", "fileRead", "FILE_READ", "file read"]
)
def test_spellings_of_a_name_share_their_key_and_their_terms(spelling: str) -> None:
    assert key_of(spelling) == "fileread"
    assert set(Analyzer().name_terms(spelling)) - {"fileread"} == {"fil", "read"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("GitHub", ["git", "hub", "github"]),
        ("parseHTTPResponse", ["pars", "http", "respons"]),
        ("s3 ec2 sha256", ["s3", "ec2", "sha256", "sha"]),
        ("Crème brûlée", ["creme", "brulee"]),
        ("读取文件", ["读取", "取文", "文件"]),
        ("please use the tool to", []),
        ("🦄 ✨", []),
        ("𝕊elect ﬁle", ["select", "file"]),
    ],
)
def test_text_becomes_these_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@given(st.text(max_size=200))
def test_any_text_has_the_same_terms_each_time(text: str) -> None:
    analyzer = Analyzer()
    assert analyzer.terms(text) == analyzer.terms(text) == Analyzer().terms(text)
    assert all(term and not any(letter.isspace() for letter in term) for term in analyzer.name_terms(text))
    assert not any(letter.isspace() for letter in key_of(text))
