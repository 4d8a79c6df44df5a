"""Usage memory: past queries lift the tools they led to, within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.index.catalog import CATALOG

from toolcrib.catalog.index import Arithmetic, Entry, ToolIndex, UsageMemory

INDEX = ToolIndex.build(CATALOG)


def first(query: str, usage: UsageMemory | None = None) -> str:
    return INDEX.search(query, limit=1, usage=usage)[0].name


def test_a_query_like_one_that_worked_finds_that_tool() -> None:
    memory = UsageMemory().remember("clock.now", "is it teatime yet")
    assert INDEX.search("teatime") == []
    assert first("teatime already?", memory) == "clock.now"
    assert INDEX.search("teatime", usage=memory)[0].why == "used for a similar request"


def test_words_of_several_past_queries_together_find_the_tool() -> None:
    twins = ToolIndex.build([Entry("alpha.report", "Make a report."), Entry("beta.report", "Make a report.")])
    memory = UsageMemory()
    for query in ("report on the harvest", "quarterly report for orchards", "how did the pears do"):
        memory = memory.remember("beta.report", query)
    assert twins.search("report")[0].name == "alpha.report"
    assert twins.search("report on the pears of all orchards", usage=memory)[0].name == "beta.report"


def test_a_tool_that_was_never_asked_for_keeps_its_place_beside_a_remembered_one() -> None:
    others = [Entry(f"crops.report_{number}", "Report on the harvest of one crop.") for number in range(6)]
    index = ToolIndex.build([*others, Entry("barn.doors", "Open or close the doors of a barn.")])
    memory = UsageMemory()
    for number in range(6):
        memory = memory.remember(
            f"crops.report_{number}", f"when the barn was full, how much of crop {number} was in it"
        )
    assert index.search("close the barn doors", usage=memory)[0].name == "barn.doors"
    found = index.search("how full was the barn", limit=7, usage=memory)
    assert "barn.doors" in [hit.name for hit in found[:2]]


def test_a_past_query_that_led_to_several_tools_says_less_of_each() -> None:
    bell = Entry("party.jingle", "Ring a bell.")
    sounds = [Entry(f"audio.{verb}", f"{verb.title()} a sound.") for verb in ("cut", "mix", "plot")]
    index = ToolIndex.build([bell, *sounds])
    query = "cut the interview, mix it with the jingle and plot the result"
    alone = UsageMemory().remember("audio.cut", query)
    shared = alone.remember("audio.mix", query).remember("audio.plot", query)

    def score(memory: UsageMemory) -> float:
        return next(hit.score for hit in index.search("ring the jingle", usage=memory) if hit.name == "audio.cut")

    assert 0.0 < score(shared) < score(alone)


def test_a_past_query_that_shares_little_changes_nothing() -> None:
    memory = UsageMemory().remember("mail.send", "read the minutes to everybody")
    for query in ("read a file", "delete the file", "add two numbers", "what time is it"):
        assert first(query, memory) == first(query)


def test_a_memory_of_tools_that_are_gone_changes_nothing() -> None:
    memory = UsageMemory().remember("gone.tool", "read a file")
    for query in ("read a file", "send mail", "add two numbers"):
        assert INDEX.search(query, usage=memory) == INDEX.search(query)


def test_a_memory_counts_the_same_in_either_arithmetic() -> None:
    memory = UsageMemory().remember("clock.now", "is it teatime yet").remember("calc.add", "tally the teatime biscuits")
    plain = ToolIndex.build(CATALOG, arithmetic=Arithmetic.PLAIN)
    for query in ("teatime", "tally biscuits", "read the teatime file", "add numbers"):
        assert plain.search(query, usage=memory) == INDEX.search(query, usage=memory)


def test_a_memory_follows_a_catalog_that_changes() -> None:
    memory = UsageMemory().remember("late.comer", "is it teatime yet")
    grown = ToolIndex.build(CATALOG)
    assert grown.search("teatime", usage=memory) == []
    grown.add(Entry("late.comer", "Arrives after the others."))
    assert grown.search("teatime", usage=memory)[0].name == "late.comer"


def test_many_past_queries_never_lift_a_tool_over_an_exact_match() -> None:
    memory = UsageMemory()
    for query in ("code.read_file", "FileRead", "read_file", "cat", "code read file"):
        memory = memory.remember("code.delete_file", query)
    for query in ("code.read_file", "FileRead", "read_file", "cat", "please use code.read_file now"):
        assert first(query, memory) == "code.read_file"


TWINS = [
    ("create_invoice", "Create an invoice for a customer.", "create an invoice for Bob", "create an invoice for ACME"),
    ("create_invoice", "Create an invoice for a customer.", "create invoice", "make an invoice"),
    ("send_email", "Send an email to somebody.", "send an email to ann about lunch", "send an email to bob"),
    ("get_weather", "Current weather of a city.", "what is the weather in Paris", "weather in Rome tomorrow"),
    ("list_files", "List the files of a folder.", "list my files", "list files in /tmp"),
]


@pytest.mark.parametrize(("name", "description", "query", "past"), TWINS)
def test_of_tools_that_are_alike_the_one_that_was_used_comes_first(
    name: str, description: str, query: str, past: str
) -> None:
    alike = [Entry(f"server{number}.{name}", description) for number in range(4)]
    index = ToolIndex.build([*CATALOG, *alike])
    memory = UsageMemory().remember(f"server2.{name}", past)
    assert index.search(query)[0].name == f"server0.{name}"
    assert index.search(query, usage=memory)[0].name == f"server2.{name}"


def test_a_memory_never_shows_what_the_caller_may_not_use() -> None:
    memory = UsageMemory().remember("code.delete_file", "tidy up").remember("gone.tool", "tidy up")
    assert INDEX.search("tidy up", usage=memory, allowed={"calc.add"}) == []


def test_forgetting_a_tool_leaves_the_others() -> None:
    memory = UsageMemory().remember("calc.add", "tally").remember("mail.send", "ping bob")
    assert dict(memory.forget("calc.add").past) == {"mail.send": ("ping bob",)}


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.text(max_size=600)), max_size=40))
def test_a_memory_is_bounded_and_keeps_the_newest(steps: list[tuple[str, str]]) -> None:
    memory = UsageMemory()
    for name, query in steps:
        before = dict(memory.past)
        memory.remember(name, query)
        assert dict(memory.past) == before
        memory = memory.remember(name, query)
    assert all(
        0 < len(queries) <= 10 and all(0 < len(query) <= 400 for query in queries) for queries in memory.past.values()
    )
    said = [" ".join(query.split())[:400] for _, query in steps]
    if steps and said[-1]:
        assert memory.past[steps[-1][0]][-1] == said[-1]


def test_a_memory_made_ready_again_for_a_changed_catalog_answers_as_one_made_anew() -> None:
    memory = UsageMemory().remember("clock.now", "is it teatime yet").remember("calc.add", "tally the biscuits")
    grown = ToolIndex.build(CATALOG)
    grown.search("teatime", usage=memory)
    grown.add(Entry("late.comer", "Arrives after teatime."))
    longer = memory.remember("late.comer", "who came after teatime")
    anew = ToolIndex.build([*CATALOG, Entry("late.comer", "Arrives after teatime.")])
    for query in ("teatime", "tally biscuits", "who came late"):
        assert grown.search(query, usage=longer) == anew.search(query, usage=longer)
