"""The offline token estimate: near the truth, monotonous, and corrected by what providers report."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.tokens_estimate import TokenEstimator

DEFINITION = (
    '{"name":"create_issue","description":"Create a new issue in a GitHub repository","input_schema":{"type":"object",'
    '"properties":{"owner":{"type":"string"},"repo":{"type":"string"},"title":{"type":"string"}},'
    '"required":["owner","repo","title"]}}'
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("read", 1),
        ("Move the file to another folder, please.", 9),
        ("create_pull_request", 3),
        ("line one\nline two\n", 6),
        (DEFINITION, 57),
    ],
)
def test_an_estimate_is_within_a_fifth_or_two_tokens_of_a_real_tokenizer(text: str, tokens: int) -> None:
    assert abs(TokenEstimator().tokens(text) - tokens) <= max(2, 0.2 * tokens)


def test_calibration_agrees_with_the_provider_in_sum() -> None:
    estimator = TokenEstimator().calibrated([(DEFINITION, 90), (DEFINITION, 96)])
    assert estimator.tokens(DEFINITION) == 93


@pytest.mark.parametrize("observed", [[], [("", 5)], [("word", 0)]])
def test_calibration_without_evidence_changes_nothing(observed: list[tuple[str, int]]) -> None:
    assert TokenEstimator().calibrated(observed) == TokenEstimator()


def test_an_absurd_report_moves_the_scale_only_so_far() -> None:
    assert TokenEstimator().calibrated([("word", 10**9)]).scale == 2.0


@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_never_costs_much_less(one: str, other: str) -> None:
    estimator = TokenEstimator()
    assert estimator.tokens(one + "\n" + other) >= 0.8 * max(estimator.tokens(one), estimator.tokens(other)) - 1
