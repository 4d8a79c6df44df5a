"""Small words that messages are put together from."""

from __future__ import annotations

import pytest

from toolcrib.values.words import sentence


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nobody can be asked here", "nobody can be asked here."),
        ("it is Friday.", "it is Friday."),
        ("are you sure?", "are you sure?"),
        ("never!", "never!"),
        ("and so on…", "and so on…"),
        ("he said 'why?'", "he said 'why?'"),
        ("(see the guide.)", "(see the guide.)"),
        ("the file is 'a.txt'", "the file is 'a.txt'."),
        ("not this: ", "not this."),
        ("trailing blanks \n", "trailing blanks."),
    ],
)
def test_a_sentence_ends_once(text: str, told: str) -> None:
    assert sentence(text) == told
