"""Windows of lines: the same lines whatever the size of the file, in bounded memory, in every encoding."""

import os
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace import lines
from toolcrib.workspace.lines import LINE_BYTES, LineIndexes, Span, Window, window_of
from toolcrib.workspace.text import HASHED, LineEnd, Text

WIDE = 10**9


def window(path: Path, start: int, count: int, characters: int = WIDE, indexes: LineIndexes | None = None) -> Window:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return (indexes or LineIndexes()).window(descriptor, Span(start, count, characters), path.name)
    finally:
        os.close(descriptor)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[bytes]]:
    """A file above the size that is read whole: short, long, empty and very long lines, the last without an end."""
    chance = random.Random(7)
    body = [bytes(chance.choices(b"abcdef \xc3\xa9"[:7], k=chance.choice((0, 1, 9, 90, 500)))) for _ in range(90_000)]
    body[40] = b"x" * 700_000
    body[41] = "é".encode() * 5_000
    body[60_000] = b"y" * (2 * lines.BLOCK)
    path = tmp_path_factory.mktemp("large") / "large.txt"
    path.write_bytes(b"\n".join(body))
    assert path.stat().st_size > HASHED
    return path, body


PLACES = [
    (1, 200),
    (39, 5),
    (41, 1),
    (42, 3),
    (59_999, 4),
    (60_001, 1),
    (60_002, 10),
    (89_950, 50),
    (89_950, 51),
    (90_000, 9),
]


@pytest.mark.parametrize(("start", "count"), PLACES)
def test_a_window_of_a_large_file_holds_exactly_its_lines(
    large: tuple[Path, list[bytes]], start: int, count: int
) -> None:
    path, body = large
    found = window(path, start, count)
    wanted = body[start - 1 : start - 1 + count]
    assert len(found.lines) == len(wanted)
    for number, (shown, line) in enumerate(zip(found.lines, wanted, strict=True), start):
        assert line.decode().startswith(shown)
        assert (number in found.cut) == (len(line) > LINE_BYTES)
        assert len(shown.encode()) >= min(len(line), LINE_BYTES - 3)
    assert found.more == (start - 1 + count < len(body))
    assert found.next == (start + count if found.more else None)


def test_a_second_window_of_the_same_file_uses_what_the_first_learned(large: tuple[Path, list[bytes]]) -> None:
    path, body = large
    indexes = LineIndexes()
    first = window(path, 90_000, 10, indexes=indexes)
    assert (first.total, first.lines) == (90_000, (body[-1].decode(),))
    assert window(path, 45_000, 2, indexes=indexes).lines == tuple(line.decode() for line in body[44_999:45_001])


def test_a_window_of_a_large_file_takes_little_memory(large: tuple[Path, list[bytes]]) -> None:
    tracemalloc.start()
    window(large[0], 89_000, 200)
    assert tracemalloc.get_traced_memory()[1] < 6_000_000
    tracemalloc.stop()


def test_beyond_the_end_there_is_nothing_and_no_error(large: tuple[Path, list[bytes]]) -> None:
    found = window(large[0], 95_000, 10)
    assert (found.lines, found.more, found.total) == ((), False, 90_000)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=5), max_size=12),
    st.integers(1, 14),
    st.integers(1, 14),
)
def test_a_window_of_a_small_text_holds_exactly_its_lines(parts: list[str], start: int, count: int) -> None:
    text = "".join(part + "\r\n" for part in parts)
    found = window_of(Text(text, "utf-8"), Span(start, count, WIDE), len(text), "h")
    assert list(found.lines) == parts[start - 1 : start - 1 + count]
    assert found.total == len(parts)


def test_a_window_ends_at_a_line_when_its_characters_run_out(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("".join(f"{number:09}\n" for number in range(1, 100)))
    found = window(path, 1, 100, characters=100)
    assert (len(found.lines), found.next) == (10, 11)
    assert len(window(path, 1, 100, characters=3).lines) == 1


ENCODINGS = [
    (b"plain\n", "utf-8", LineEnd.LF, ("plain",)),
    (b"a\r\nb\r\n", "utf-8", LineEnd.CRLF, ("a", "b")),
    (b"a\r\nb\n", "utf-8", LineEnd.MIXED, ("a", "b")),
    (b"", "utf-8", LineEnd.NONE, ()),
    (b"\xef\xbb\xbf\xc3\xbc\n", "utf-8-bom", LineEnd.LF, ("ü",)),
    ("ü\n".encode("utf-16"), "utf-16-le", LineEnd.LF, ("ü",)),
    (b"\xfe\xff" + "ü\n".encode("utf-16-be"), "utf-16-be", LineEnd.LF, ("ü",)),
    (b"caf\xe9\n", "latin-1", LineEnd.LF, ("café",)),
]


@pytest.mark.parametrize(("body", "encoding", "end", "expected"), ENCODINGS)
def test_the_encoding_is_found_and_writing_the_same_text_gives_the_same_bytes(
    tmp_path: Path, body: bytes, encoding: str, end: LineEnd, expected: tuple[str, ...]
) -> None:
    path = tmp_path / "f"
    path.write_bytes(body)
    found = window(path, 1, 10)
    assert (found.encoding, found.line_end, found.lines) == (encoding, end, expected)
    text = Text.decode(body, "f")
    assert text.encode(text.text, "f") == body


@pytest.mark.parametrize("body", [b"a\0b", b"\x7fELF\x02\x01", bytes(range(1, 32)) * 20, b"\xff\xfea"])
def test_what_is_no_text_is_refused_as_binary(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(body)
    with pytest.raises(Refusal) as refused:
        window(path, 1, 10)
    assert refused.value.reason is Reason.BINARY_FILE
