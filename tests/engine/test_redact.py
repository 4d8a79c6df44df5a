"""Redaction: whole or in pieces, in texts and in JSON, disguised or not; and no failure lets a text through."""

from __future__ import annotations

import base64
import json
import random
import string
import tracemalloc
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.engine.redact import FAILED, Redactor
from toolcrib.engine.secrets import rules
from toolcrib.values.json import Json
from toolcrib.values.marker import MARKER
from toolcrib.values.refusal import ConfigError
from toolcrib.values.result import ArtifactRef, Block, Image, JsonBlock, Text, ToolCallBlock, ToolResultBlock

CORPUS = [json.loads(line) for line in (Path(__file__).parents[1] / "corpus/secret_redaction.jsonl").open()]
REDACTOR = Redactor()


def fake(length: int) -> str:
    """Letters and digits in no order, the same for a length each time."""
    chosen = random.Random(length)
    return "a7Q" + "".join(chosen.choice(string.ascii_letters + string.digits) for _ in range(length - 3))


GITHUB = "gh" + "p_" + fake(36)
KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + f"{fake(64)}\n" * 30 + "-----END RSA PRIVATE" + " KEY-----"
KNOWN = "correct-horse/battery+staple 9"


@pytest.mark.parametrize("case", [case for case in CORPUS if "output_parts" in case["setup"][0]], ids=lambda c: c["id"])
def test_corpus_texts_are_redacted_or_left_alone_as_the_case_says(case: dict[str, list[dict[str, list[str]]]]) -> None:
    text = "".join(case["setup"][0]["output_parts"])
    clean, count = REDACTOR.text(text)
    assert bool(count) == (case["expected"] == "redacted")
    if count:
        assert not [
            text[i : i + 10] for i in range(5, len(text) - 10) if "FAKE" in (p := text[i : i + 10]) and p in clean
        ]
    else:
        assert clean is text


@pytest.mark.parametrize("case", [case for case in CORPUS if "secret_env" in case["setup"][0]], ids=lambda c: c["id"])
def test_corpus_values_from_the_environment_are_redacted(
    case: dict[str, list[dict[str, dict[str, list[str]]]]],
) -> None:
    (value,) = ("".join(pieces) for pieces in case["setup"][0]["secret_env"].values())
    command = f"curl -H 'X-Thing: {value}' https://api.example/v1/send"
    assert Redactor([value]).text(command)[0] == command.replace(value, "[REDACTED:known_value]")


@pytest.mark.parametrize(
    "form",
    [
        KNOWN,
        quote(KNOWN, safe=""),
        KNOWN.replace(" ", "+").replace("/", "%2F").replace("+staple", "%2Bstaple"),
        json.dumps({"a": KNOWN}),
        base64.b64encode(KNOWN.encode()).decode(),
        base64.b64encode(b"x" + KNOWN.encode()).decode(),
        base64.b64encode(b"xy" + KNOWN.encode() + b"z").decode(),
        base64.urlsafe_b64encode(KNOWN.encode()).decode().rstrip("="),
        KNOWN.encode().hex(),
        KNOWN[:15] + "\n" + KNOWN[15:],
    ],
)
def test_a_known_value_is_found_in_every_form_in_which_it_may_come_back(form: str) -> None:
    clean, count = Redactor([KNOWN]).text(f"before {form} after")
    assert count == 1
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert not any(form[i : i + 10] in clean for i in range(4, len(form) - 12))


def test_a_known_value_that_holds_quotes_and_line_breaks_is_found_escaped_and_not() -> None:
    value = 'pass"word\nwith\\everything'
    redactor = Redactor([value])
    assert redactor.text(f"x {value} y") == ("x [REDACTED:known_value] y", 1)
    assert redactor.text(json.dumps({"k": value})) == ('{"k": "[REDACTED:known_value]"}', 1)
    assert redactor.json({"k": value}) == ({"k": "[REDACTED:known_value]"}, 1)


def test_a_known_value_too_short_to_be_told_from_a_word_is_not_used() -> None:
    assert Redactor(["abc"]).text("abc is the beginning of the alphabet") == ("abc is the beginning of the alphabet", 0)


@pytest.mark.parametrize(
    "disguise",
    [
        GITHUB[:9] + "\u200b" + GITHUB[9:],
        "\u200d".join(GITHUB),
        GITHUB[:2] + "\x1b[01;31m" + GITHUB[2:20] + "\x1b[m" + GITHUB[20:],
        GITHUB[:20] + "\n" + GITHUB[20:],
        GITHUB[:20] + "\\\n    " + GITHUB[20:],
        GITHUB[:20] + '" +\n    "' + GITHUB[20:],
        GITHUB[:12] + "\r\n" + GITHUB[12:30] + "\r\n" + GITHUB[30:],
        base64.b64encode(f"token {GITHUB} end".encode()).decode(),
        base64.b64encode(f"x{GITHUB}".encode() + bytes(range(128, 200))).decode(),
    ],
)
def test_a_disguised_token_is_still_taken_out(disguise: str) -> None:
    clean, count = REDACTOR.text(f"log: {disguise} done")
    assert count == 1
    assert MARKER.sub("", clean).replace("\x1b[m", "") == "log:  done"


def test_terminal_colours_around_a_secret_stay() -> None:
    assert REDACTOR.text(f"\x1b[31m{GITHUB}\x1b[0m ok") == ("\x1b[31m[REDACTED:github_token]\x1b[0m ok", 1)


def test_text_with_colours_and_no_secret_comes_back_as_the_same_object() -> None:
    text = "\x1b[31mred\x1b[0m and zero\u200bwidth"
    assert REDACTOR.text(text)[0] is text


def test_json_is_redacted_in_strings_under_names_in_keys_and_in_pairs() -> None:
    value: Json = {
        "note": f"use {GITHUB}",
        "password": "sword" + "fish",
        "pin": {"password": 123456},
        "headers": {"Authorization": "Token " + fake(24), "X-Api-Key": [fake(24)]},
        "env": [{"name": "DB_PASSWORD", "value": "sword" + "fish"}],
        GITHUB: 1,
        "count": 3,
    }
    assert REDACTOR.json(value) == (
        {
            "note": "use [REDACTED:github_token]",
            "password": "[REDACTED:password]",
            "pin": {"password": "[REDACTED:password]"},
            "headers": {"Authorization": "Token [REDACTED:authorization]", "X-Api-Key": ["[REDACTED:key]"]},
            "env": [{"name": "DB_PASSWORD", "value": "[REDACTED:password]"}],
            "[REDACTED:github_token]": 1,
            "count": 3,
        },
        7,
    )


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "plain text"], "token_count": 12, "nextPageToken": "abc123def456"},
        {"properties": {"password": {"type": "string", "minLength": 8}}},
        [],
        "nothing to see",
        2**80,
    ],
)
def test_json_without_secrets_comes_back_as_the_same_object(value: Json) -> None:
    clean, count = REDACTOR.json(value)
    assert clean is value
    assert count == 0


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter2"},
        {"password": 12345},
        {"password": ["sword" + "fish"]},
        {"api_key": [fake(20)]},
        {"token": "'\"" + fake(20)},
        {"name": "PASSWD", "value": "hunter2"},
        {"Authorization": fake(20)},
        [{"a": {"client_secret": fake(20)}}],
    ],
)
def test_a_secret_that_only_its_name_gives_away_is_found_in_json(value: Json) -> None:
    clean, count = REDACTOR.json(value)
    assert count == 1
    assert MARKER.search(json.dumps(clean))


def test_two_secret_keys_do_not_become_one() -> None:
    clean, _ = REDACTOR.json({GITHUB: 1, "gh" + "o_" + fake(36): 2})
    assert isinstance(clean, dict)
    assert list(clean.values()) == [1, 2]


def test_every_block_of_a_result_is_redacted_and_pictures_are_left_alone() -> None:
    picture = Image("image/png", "iVBORw0KGgo=")
    blocks: tuple[Block, ...] = (
        Text(GITHUB),
        JsonBlock({"a": GITHUB}, summary=f"has {GITHUB}"),
        ArtifactRef("art_1", f"log with {GITHUB}"),
        ToolCallBlock("c1", "x.y", {"token": fake(30)}),
        ToolResultBlock("c1", "x.y", (Text(GITHUB),)),
        picture,
    )
    clean, count = REDACTOR.content(blocks)
    assert count == 6
    assert GITHUB not in repr(clean)
    assert fake(30) not in repr(clean)
    assert clean[-1] is picture
    plain = (Text("ok"), picture)
    assert REDACTOR.content(plain)[0] is plain


def test_an_operators_own_patterns_are_redacted_too() -> None:
    redactor = Redactor(extra_patterns=[r"EMP-\d+", "(?i)project [a-z]+"])
    assert redactor.text("EMP-123 works on Project Bluebird.") == (
        "[REDACTED:own_pattern] works on [REDACTED:own_pattern].",
        2,
    )


def test_a_pattern_that_re2_cannot_run_is_refused_when_the_redactor_is_made() -> None:
    with pytest.raises(ConfigError, match="not an RE2 expression"):
        Redactor(extra_patterns=[r"(a)\1"])


def test_a_rule_that_fails_hides_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: bytes, start: int) -> tuple[()]:
        raise RuntimeError("a rule has a bug")

    monkeypatch.setattr(rules.tokens, "find_token", broken)
    assert REDACTOR.text(f"a {GITHUB}") == (FAILED, 1)
    assert REDACTOR.json([f"a {GITHUB}", "b"]) == ([FAILED, "b"], 1)
    stream = REDACTOR.stream()
    assert stream.feed(f"a {GITHUB}") + stream.feed("more") + stream.finish() == FAILED


def test_lone_surrogates_neither_crash_nor_hide_a_secret() -> None:
    assert REDACTOR.text(f"\ud800 {GITHUB} \udfff") == ("\ud800 [REDACTED:github_token] \udfff", 1)


SAMPLES = st.sampled_from(
    [
        GITHUB,
        KEY,
        KEY[:400],
        KEY.replace("\n", "\\n"),
        "password=" + "hunter" + "22 ",
        '{"secret": "' + fake(30) + '"}',
        "postgres://ann:" + "s3cr3tX" + "@db.example/x",
        "Cookie: sid=" + fake(40) + "; a=b\n",
        "\x1b[31m",
        "\x1b[",
        "\u200b",
        "\u200b" * 40,
        base64.b64encode(f"x {GITHUB}".encode()).decode(),
        "token=" + "x7" * 3000,
        "日本語🔑 ",
        "plain words and ",
        "\n",
        "a" * 700,
        "EMP-12",
        "=",
        "-----END",
        KNOWN,
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    parts=st.lists(SAMPLES | st.text(max_size=20), max_size=8),
    cuts=st.lists(st.integers(1, 3000), min_size=1, max_size=12),
)
def test_a_stream_gives_what_the_whole_text_gives_however_it_is_cut(parts: list[str], cuts: list[int]) -> None:
    redactor = Redactor([KNOWN], [r"EMP-\d+"])
    text = "".join(parts)
    stream = redactor.stream()
    out, at = [], 0
    while at < len(text):
        size = cuts[len(out) % len(cuts)]
        out.append(stream.feed(text[at : at + size]))
        at += size
    out.append(stream.finish())
    assert "".join(out) == redactor.text(text)[0]


def test_a_stream_fed_one_character_at_a_time_never_shows_part_of_a_secret() -> None:
    text = f"start {GITHUB} then\n{KEY}\nend " + "filler " * 600
    stream = REDACTOR.stream()
    shown = [stream.feed(character) for character in text]
    shown.append(stream.finish())
    assert "".join(shown) == REDACTOR.text(text)[0]
    assert not [piece for piece in (GITHUB[i : i + 6] for i in range(4, 34)) if piece in "".join(shown)]


@pytest.mark.parametrize(
    "chunk", ["x7Qa" * 4096, "\u200b" * 4096, "\x1b[31m" * 2048, "a.b " * 4096, "-----BEGIN " * 1500]
)
@pytest.mark.parametrize("start", ["", "token=", "-----BEGIN PRIVATE" + " KEY-----\n" + fake(64)])
def test_a_stream_holds_back_a_bounded_amount_whatever_arrives(start: str, chunk: str) -> None:
    stream = REDACTOR.stream()
    stream.feed(start)
    tracemalloc.start()
    for _ in range(40):
        stream.feed(chunk)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1_000_000
    stream.finish()


WORDS = [
    "token",
    "password",
    "secret",
    "://",
    "-----",
    "BEGIN PRIVATE",
    " KEY",
    "PRIVATE",
    "Private-Lines: 1",
    "eyJ",
    "ghp_",
]
MORE_WORDS = ["sk-", "AKIA", "x7", "%3A", "cookie", "Bearer ", "value", *"=: \"'\\\n@.-[a"]
FRAGMENTS = st.lists(st.sampled_from(WORDS) | st.sampled_from(MORE_WORDS), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None)
@given(FRAGMENTS, st.randoms(use_true_random=False))
def test_no_text_makes_a_rule_try_everything_in_every_way(fragments: list[str], chosen: random.Random) -> None:
    """A rule that backtracks without bound does not fail here; it never comes back."""
    REDACTOR.text("".join(fragments) * 300)
    REDACTOR.text("".join(chosen.choice(fragments) for _ in range(1500)))


@settings(max_examples=100, deadline=None)
@given(st.lists(SAMPLES, max_size=6))
def test_what_was_redacted_once_stays_as_it_is(parts: list[str]) -> None:
    once, _ = REDACTOR.text("\n".join(parts))
    assert REDACTOR.text(once)[0] == once
