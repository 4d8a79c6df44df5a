"""Bounding: a result that fits is left alone; one that does not keeps head and tail and says where the whole is."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.engine.bound import Cut, Limits, cut
from toolcrib.engine.preview import preview
from toolcrib.engine.shorten import Room, shorten
from toolcrib.values.json import Json, canonical
from toolcrib.values.result import ArtifactRef, Block, Image, JsonBlock, Text, block_text

CORPUS = [json.loads(line) for line in (Path(__file__).parents[1] / "corpus/huge_or_hostile_output.jsonl").open()]
LIMITS = Limits()
ID = "art_" + "0123456789abcdef" * 4
PROBLEM = "[Errno 28] No space left on device"
FAMILY = "👨‍👩‍👧‍👦"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=120), inner, max_size=30),
    max_leaves=60,
)


def whole(bounded: Cut) -> str:
    return b"".join(bounded.overflow or ()).decode()


def read(content: tuple[Block, ...]) -> str:
    return "\n".join(map(block_text, content))


@pytest.mark.parametrize(
    "content",
    [
        (),
        (Text("short"),),
        (Text("x" * 10_000),),
        (Text("😀" * 10_000),),
        (JsonBlock({"a": [1, 2, 3]}), Text("and text")),
        (Image("image/png", "A" * 100_000), Text("a picture")),
        (ArtifactRef("art_1", "a log"),),
    ],
)
def test_a_result_that_fits_is_the_same_object(content: tuple[Block, ...]) -> None:
    bounded = cut(content, LIMITS)
    assert bounded.content is content
    assert bounded.overflow is None


def test_a_long_text_keeps_head_and_tail_and_says_how_much_is_missing_and_where_it_is() -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    bounded = cut((Text(text),), LIMITS)
    assert whole(bounded) == text
    assert bounded.mime_type == "text/plain"
    shown, reference = bounded.with_artifact(ID)
    assert isinstance(shown, Text)
    head, note, tail = shown.text.partition("[… ")[0], shown.text, shown.text.rpartition("…]\n")[2]
    assert text.startswith(head)
    assert head.endswith("\n")
    assert text.endswith(tail)
    assert tail.startswith("line ")
    assert (
        f"{len(text) - len(head) - len(tail):,} of {len(text):,} characters left out; the whole is artifact {ID} …]"
        in note
    )
    assert reference == ArtifactRef(ID, f"[shortened; whole result, {len(text):,} characters]")
    assert len(read(bounded.with_artifact(ID))) <= LIMITS.characters


def test_when_the_whole_cannot_be_stored_the_result_says_truncated_and_unavailable() -> None:
    content = cut((Text("x" * 50_000),), LIMITS).without_artifact(PROBLEM)
    assert "truncated" in read(content)
    assert f"artifact unavailable: {PROBLEM}" in read(content)
    assert not [block for block in content if isinstance(block, ArtifactRef)]
    assert len(read(content)) <= LIMITS.characters


def test_long_json_is_cut_to_json_and_its_whole_goes_to_the_artifact() -> None:
    data: Json = {
        "rows": [{"id": number, "name": f"row {number}"} for number in range(5000)],
        "log": "z" * 50_000,
        "total": 5000,
    }
    bounded = cut((JsonBlock(data),), LIMITS)
    assert json.loads(whole(bounded)) == data
    assert bounded.mime_type == "application/json"
    shown, _ = bounded.with_artifact(ID)
    assert isinstance(shown, JsonBlock)
    assert shown.artifact_id == ID
    assert isinstance(shown.data, dict)
    assert shown.data["total"] == 5000
    rows, log = shown.data["rows"], shown.data["log"]
    assert isinstance(rows, list)
    assert isinstance(log, str)
    assert rows[0] == {"id": 0, "name": "row 0"}
    assert rows[-1] == {"id": 4999, "name": "row 4999"}
    assert any(isinstance(row, str) and row.endswith("more items …") for row in rows)
    assert "more characters …" in log
    assert len(read(bounded.with_artifact(ID))) <= LIMITS.characters


def test_small_blocks_stay_whole_beside_a_long_one() -> None:
    content = (Text("exit code 1"), Text("y" * 100_000), JsonBlock({"code": 1}))
    shown = cut(content, LIMITS).with_artifact(ID)
    assert shown[0] is content[0]
    assert shown[2] == JsonBlock({"code": 1}, artifact_id=ID)
    assert len(read(shown)) <= LIMITS.characters


def test_of_very_many_blocks_the_middle_is_left_out() -> None:
    content = tuple(Text(f"block {number}") for number in range(5000))
    bounded = cut(content, LIMITS)
    shown = read(bounded.with_artifact(ID))
    assert shown.startswith("block 0\nblock 1\n")
    assert "block 4999" in shown
    assert "left out; the whole is artifact" in shown
    assert len(shown) <= LIMITS.characters
    assert whole(bounded) == read(content)


@pytest.mark.parametrize("case", [case for case in CORPUS if case["setup"]], ids=lambda case: case["id"])
@pytest.mark.parametrize("more", ["", "y" * 20_000])
def test_corpus_texts_are_never_cut_inside_a_character(
    case: dict[str, list[dict[str, dict[str, str]]]], more: str
) -> None:
    text = case["setup"][0]["result"]["text"] + more
    bounded = cut((Text(text),), LIMITS)
    shown = read(bounded.with_artifact(ID) if bounded.overflow else bounded.content)
    assert shown.encode().decode() == shown
    assert len(shown) <= LIMITS.characters


@pytest.mark.parametrize(
    "cluster", ["e\u0301\u0323", FAMILY, "🇩🇪", "👍🏽", "각", "\r\n", "क्षि", "\ud83d\ude00", "❤\ufe0f"]
)
@pytest.mark.parametrize("shift", range(12))
def test_what_is_read_as_one_character_is_not_parted(cluster: str, shift: int) -> None:
    text = "x" * shift + cluster * 400
    short = shorten(text, Room(100, 10_000, 50))
    assert (len(short.head) - shift) % len(cluster) == 0
    assert len(short.tail) % len(cluster) == 0
    assert short.head or short.tail


def test_a_text_of_nothing_but_marks_is_cut_all_the_same() -> None:
    short = shorten("a" + "\u0301" * 5000, Room(300, 10_000, 50))
    assert len(short.head) + len(short.tail) <= 302


def test_a_redaction_marker_is_not_parted() -> None:
    for shift in range(40):
        text = "x" * shift + "[REDACTED:github_token]" * 60
        short = shorten(text, Room(200, 10_000, 50))
        assert (len(short.head) - shift) % 23 == 0
        assert len(short.tail) % 23 == 0


def test_a_text_of_few_characters_and_too_many_lines_is_cut() -> None:
    bounded = cut((Text("\n" * 5000),), LIMITS)
    shown = bounded.with_artifact(ID)
    assert read(shown).count("\n") < LIMITS.lines


def test_a_text_of_few_characters_and_too_many_bytes_is_cut() -> None:
    limits = Limits(characters=10_000, bytes=20_000)
    bounded = cut((Text("漢" * 9_000),), limits)
    assert whole(bounded) == "漢" * 9_000
    assert len(read(bounded.with_artifact(ID)).encode()) <= limits.bytes


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=300),
    st.integers(1, 60),
    st.integers(0, 400),
    st.integers(0, 1600),
    st.integers(2, 40),
)
def test_a_shortened_text_is_a_prefix_and_a_suffix_within_its_room(
    piece: str, times: int, characters: int, size: int, lines: int
) -> None:
    text = piece * times
    room = Room(characters, size, lines)
    short = shorten(text, room)
    assert text.startswith(short.head)
    assert text.endswith(short.tail)
    assert len(short.head) + short.characters + len(short.tail) == len(text) == short.total
    assert len(short.head) + len(short.tail) <= characters
    assert len((short.head + short.tail).encode("utf-8", "replace")) <= size
    assert (short.head + short.tail).count("\n") <= lines


@settings(max_examples=200, deadline=None)
@given(JSON, st.integers(60, 4000))
def test_a_preview_is_json_within_its_room_and_the_value_itself_where_that_fits(value: Json, room: int) -> None:
    shown = preview(value, room)
    text = canonical(shown)
    assert json.loads(text) == shown
    assert len(text) <= room
    if len(canonical(value)) * 8 <= room:
        assert shown == value


def test_a_preview_of_deeply_nested_json_ends() -> None:
    value: Json = "bottom"
    for _ in range(190):
        value = [value, "x" * 200]
    assert len(canonical(preview(value, 3000))) <= 3000


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.builds(lambda piece, times: Text(piece * times), st.text(max_size=60), st.integers(1, 400)),
            st.builds(JsonBlock, JSON),
        ),
        max_size=12,
    ),
    st.integers(1_500, 12_000),
)
def test_whatever_a_result_holds_it_ends_within_its_limits_and_nothing_is_lost(blocks: list[Block], most: int) -> None:
    content = tuple(blocks)
    limits = Limits(characters=most)
    bounded = cut(content, limits)
    if bounded.overflow is None:
        assert bounded.content is content
        assert len(read(content)) <= most
        return
    for shown in (bounded.with_artifact(ID), bounded.without_artifact(PROBLEM)):
        assert len(read(shown)) <= most
        assert len(read(shown).encode()) <= limits.bytes
        assert read(shown).count("\n") < limits.lines
        for block in shown:
            if isinstance(block, JsonBlock):
                json.loads(canonical(block.data))
    assert unicodedata.normalize("NFC", whole(bounded)) == unicodedata.normalize("NFC", read(content))
