"""Error messages name the right line, whatever stands above it."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.config.lines import KeyTooLong, positions
from toolcrib.config.problems import KeyPath

DOCUMENT = '''\
# a comment with = and [brackets]
top = 1
"quoted key" = 2
'literal.key' = 3 # comment = no key
a.b . "c.d" = 4

[table]
text = """
fake = 1
[fake]
\\""" still inside
"""
after_text = \'\'\'it's
fake = 2\'\'\'
list = [
  "x = 1", # "
  { y = 2 },
]
after_list = "# not a comment"

[ table . inner ]
key = 1

[[rules]]
name = "one"
[rules.extra]
x = 1
[[rules]]
[[rules.steps]]
[[rules.steps]]
do = 1
'''


def test_every_statement_is_found_on_its_line():
    tomllib.loads(DOCUMENT)
    assert lines_of(DOCUMENT) == {
        ("top",): 2,
        ("quoted key",): 3,
        ("literal.key",): 4,
        ("a",): 5,
        ("a", "b"): 5,
        ("a", "b", "c.d"): 5,
        ("table",): 7,
        ("table", "text"): 8,
        ("table", "after_text"): 13,
        ("table", "list"): 15,
        ("table", "after_list"): 19,
        ("table", "inner"): 21,
        ("table", "inner", "key"): 22,
        ("rules",): 24,
        ("rules", 0): 24,
        ("rules", 0, "name"): 25,
        ("rules", 0, "extra"): 26,
        ("rules", 0, "extra", "x"): 27,
        ("rules", 1): 28,
        ("rules", 1, "steps"): 29,
        ("rules", 1, "steps", 0): 29,
        ("rules", 1, "steps", 1): 30,
        ("rules", 1, "steps", 1, "do"): 31,
    }


STATEMENTS = [
    "{} = 1",
    '{} = "a = 1 # \\" \\\\"',
    "{} = 'a \\'",
    '{} = """\nx = 1\n[y]\n"""',
    '{} = """a\\\n  b""""',
    '{} = """""a"""""',
    "{} = '''\nx = 1'''''",
    '{} = ""',
    "{} = ''",
    "{} = [ # ]\n 1, '}}',\n]",
    "{} = {{ a = [1, {{ b = '[' }}], 'c d' = 2 }}",
    '"{}" = 1979-05-27T07:32:00Z',
    "'{}' = +inf # end",
    '"\\u006b{}" = 1',
    "{} . x = 1",
    "# {} = 1",
    "",
    "\t ",
    "[{}]",
    "[[ {} ]]\nx = 1",
    "[{}.'x.y']",
]


@given(st.lists(st.sampled_from(STATEMENTS), max_size=12))
def test_every_key_that_the_parser_sees_has_a_line(statements):
    text = "\n".join(statement.format(f"n{index}") for index, statement in enumerate(statements))
    lines = lines_of(text)
    assert _names(tomllib.loads(text)) <= {part for path in lines for part in path}
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def _names(content: object) -> set[str]:
    """The numbered names, at whatever depth a header above them has put them."""
    if isinstance(content, list):
        return {name for entry in content for name in _names(entry)}
    if not isinstance(content, dict):
        return set()
    here = {name for name in content if re.fullmatch(r"k?n\d+", name)}
    return here.union(*(_names(entry) for entry in content.values()))


@pytest.mark.parametrize("text", ["a." * 16 + "a = 1", "\n[" + "a." * 16 + "a]"])
def test_a_key_of_very_many_parts_is_refused_before_it_is_parsed(text):
    with pytest.raises(KeyTooLong):
        positions(text)


def lines_of(text: str) -> dict[KeyPath, int]:
    return {path: line for path, (line, _) in positions(text).items()}


def test_a_column_counts_from_one_within_its_line():
    assert positions('a = 1\n  [[rules]]\n  tool = "x"\n') == {
        ("a",): (1, 1),
        ("rules",): (2, 3),
        ("rules", 0): (2, 3),
        ("rules", 0, "tool"): (3, 3),
    }
