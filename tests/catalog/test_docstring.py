"""Docstrings: the three styles give the same answer, and text that only looks like a section stays text."""

from __future__ import annotations

import pytest

from toolcrib.catalog.docstring import read_docstring

GOOGLE = """Copy a file.

    Keeps its mode.

    Args:
        source (str): where it is,
            or was
        target: where it goes: a folder, too
        **options: ignored

    Returns:
        The number of bytes.

    Raises:
        OSError: when it cannot.
    """

NUMPY = """Copy a file.

    Keeps its mode.

    Parameters
    ----------
    source : str
        where it is,
        or was
    target : str, optional
        where it goes: a folder, too
    **options
        ignored

    Returns
    -------
    int
        The number of bytes.
    """

REST = """Copy a file.

    Keeps its mode.

    :param source: where it is,
        or was
    :type source: str
    :param str target: where it goes: a folder, too
    :param options: ignored
    :returns: The number of bytes.
    :raises OSError: when it cannot.
    """


@pytest.mark.parametrize("raw", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_every_style_gives_text_and_parameters(raw: str) -> None:
    doc = read_docstring(raw)
    assert doc.text == "Copy a file.\n\nKeeps its mode."
    assert doc.parameters == {
        "source": "where it is, or was",
        "target": "where it goes: a folder, too",
        "options": "ignored",
    }


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (None, ""),
        ("", ""),
        ("One line.", "One line."),
        ("  Padded.  ", "Padded."),
        ("First.\n\n    Second.", "First.\n\nSecond."),
        ("Lists:\n\n    - a\n    - b", "Lists:\n\n- a\n- b"),
        ("Use it.\n\n    Note:\n        Only on Mondays.", "Use it.\n\nNote:\n    Only on Mondays."),
        ("Use it.\n\n    Examples:\n        f(1)", "Use it.\n\nExamples:\n    f(1)"),
        ("The args are many.\n\n    arguments matter", "The args are many.\n\narguments matter"),
        ("A ratio.\n\n    3:2 is fine, and so is a:b.", "A ratio.\n\n3:2 is fine, and so is a:b."),
    ],
)
def test_text_without_parameters_comes_back_whole(raw: str | None, text: str) -> None:
    doc = read_docstring(raw)
    assert (doc.text, dict(doc.parameters)) == (text, {})


def test_text_after_the_parameters_is_kept() -> None:
    doc = read_docstring("Do.\n\n    Args:\n        a: one\n\n    Warning: slow.\n    ")
    assert doc.text == "Do.\n\nWarning: slow."
    assert doc.parameters == {"a": "one"}


def test_names_that_share_a_numpy_entry_share_its_words() -> None:
    doc = read_docstring("Do.\n\n    Parameters\n    ----------\n    a, b : int\n        both\n    ")
    assert doc.parameters == {"a": "both", "b": "both"}


def test_a_cut_docstring_is_no_fault() -> None:
    assert read_docstring("Do.\n\n    Args:").parameters == {}
    assert read_docstring("Do.\n\n    Parameters\n    ----------").parameters == {}
    assert read_docstring(":param").text == ":param"
