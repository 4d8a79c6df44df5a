"""Adding, removing, saving: the index always equals one built anew."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.catalog.index.catalog import CATALOG

from toolcrib.catalog.index import Entry, SnapshotError, ToolIndex

QUERIES = ("read a file", "FileRead", "create_issue", "weather in the city", "sned mail", "erase", "new pull request")
WORDS = ("file", "read", "write", "mail", "send", "issue", "create", "weather", "city", "FileRead", "erase", "日本語")
entries = st.builds(
    Entry,
    name=st.sampled_from(["a.one", "a.two", "b.one", "b.file_read", "mail"]),
    description=st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    aliases=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), entries), max_size=15))
def test_an_index_that_was_changed_equals_one_built_anew(changes: list[tuple[bool, Entry]]) -> None:
    index = ToolIndex.build(CATALOG)
    current = {entry.name: entry for entry in CATALOG}
    for adds, entry in changes:
        if adds:
            index.add(entry)
            current[entry.name] = entry
        elif entry.name in current:
            index.remove(entry.name)
            del current[entry.name]
    fresh = ToolIndex.build(current.values())
    assert len(index) == len(current)
    for query in QUERIES:
        assert index.search(query) == fresh.search(query)


def test_a_definition_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="without a name"):
        ToolIndex.build([Entry("", "Nameless.")])


def test_names_without_letters_are_kept_apart_and_can_be_removed() -> None:
    index = ToolIndex.build([Entry("---", "Draw a line."), Entry("+++", "Add a line.", aliases=("***",))])
    index = ToolIndex.from_snapshot(index.snapshot())
    index.remove("+++")
    assert [hit.name for hit in index.search("line")] == ["---"]


def test_removing_what_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        ToolIndex.build(CATALOG).remove("no.such_tool")


def test_a_changed_tool_is_found_by_its_new_words_only() -> None:
    index = ToolIndex.build(CATALOG)
    index.add(Entry("calc.add", "Sum of pebbles.", aliases=("totals",)))
    assert [hit.name for hit in index.search("totals", limit=1)] == ["calc.add"]
    assert "calc.add" not in {hit.name for hit in index.search("numbers")}


def test_a_snapshot_comes_back_whole_and_can_be_changed() -> None:
    index = ToolIndex.build(CATALOG)
    index.remove("mail.send")
    loaded = ToolIndex.from_snapshot(index.snapshot())
    assert all(loaded.search(query) == index.search(query) for query in QUERIES)
    for one in (index, loaded):
        one.remove("code.read_file")
        one.add(Entry("code.peek", "Read the first lines of a file.", aliases=("head",)))
    assert all(loaded.search(query) == index.search(query) for query in (*QUERIES, "head"))
    assert ToolIndex.from_snapshot(loaded.snapshot()).search("head") == index.search("head")


@pytest.mark.parametrize(
    "spoil", [lambda data: b"", lambda data: data[:-1], lambda data: b"x" + data[1:], lambda data: data[:200]]
)
def test_a_damaged_snapshot_is_refused(spoil) -> None:
    with pytest.raises(SnapshotError):
        ToolIndex.from_snapshot(spoil(ToolIndex.build(CATALOG).snapshot()))
