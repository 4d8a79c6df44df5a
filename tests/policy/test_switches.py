"""Which tools are on: every case of the resolution, and what holds for all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.policy.switches import Membership, State, Switch, Switches, resolve
from toolcrib.values.start import Start

ONE = (Membership("kit"),)
OFF = (Membership("kit", Start.OFF),)
LOCKED = (Membership("kit", Start.LOCKED),)
BOTH = (Membership("kit"), Membership("other"))

CASES = [
    ("a tool of no toolkit is on", (), {}, True, "nothing switches it off"),
    ("its own switch turns it off", (), {"t": False}, False, "it is switched off for agent main in config.toml:3"),
    ("its own switch turns it on", (), {"t": True}, True, "it is switched on for agent main in config.toml:3"),
    ("a member is on by default", ONE, {}, True, "nothing switches it off"),
    ("a toolkit that is on has its members on", ONE, {"kit": True}, True, "toolkit kit is switched on for agent main"),
    ("a toolkit that is off has its members off", ONE, {"kit": False}, False, "toolkit kit is switched off for agent"),
    ("a member can be left out of a toolkit that is on", ONE, {"kit": True, "t": False}, False, "it is switched off"),
    ("a member that is on does not beat a toolkit that is off", ONE, {"kit": False, "t": True}, False, "toolkit kit"),
    ("without the toolkit's switch the tool's own counts", ONE, {"t": False}, False, "it is switched off"),
    ("one toolkit that is off beats another that is on", BOTH, {"kit": True, "other": False}, False, "toolkit other"),
    ("one toolkit that is on is enough", BOTH, {"other": True}, True, "toolkit other is switched on"),
    ("a toolkit can leave members off", OFF, {}, False, "toolkit kit leaves it off by default"),
    ("its switch turns them on", OFF, {"kit": True}, True, "toolkit kit is switched on"),
    ("and so does their own", OFF, {"t": True}, True, "it is switched on"),
    ("a locked member is off", LOCKED, {}, False, "toolkit kit has to be switched on for agent main first"),
    ("a locked member has no switch of its own", LOCKED, {"t": True}, False, "toolkit kit has to be switched on"),
    ("a locked member comes with its toolkit", LOCKED, {"kit": True}, True, "toolkit kit is switched on"),
    ("and can still be left out", LOCKED, {"kit": True, "t": False}, False, "it is switched off"),
    (
        "another toolkit does not unlock it",
        (*LOCKED, Membership("other")),
        {"other": True},
        False,
        "toolkit kit has to",
    ),
    ("a switch for another tool means nothing", ONE, {"u": False}, True, "nothing switches it off"),
]


@pytest.mark.parametrize(
    ("memberships", "switches", "on", "because"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_resolution(memberships, switches, on, because):
    held = Switches("main", {name: Switch(value, "config.toml:3") for name, value in switches.items()})
    state = resolve("t", memberships, held)
    assert state.on is on
    assert state.because.startswith(because)


STARTS = st.lists(st.sampled_from(Start), max_size=3)
GIVEN = st.dictionaries(st.sampled_from(["t", "k0", "k1", "k2", "u"]), st.booleans())


def state_of(starts: list[Start], given: dict[str, bool]) -> State:
    memberships = [Membership(f"k{index}", start) for index, start in enumerate(starts)]
    return resolve("t", memberships, Switches("main", {name: Switch(on) for name, on in given.items()}))


@given(STARTS, GIVEN)
def test_the_result_is_that_of_the_rule_in_words(starts: list[Start], given: dict[str, bool]):
    kits = [given.get(f"k{index}") for index in range(len(starts))]
    locked = any(start is Start.LOCKED and not on for start, on in zip(starts, kits, strict=True))
    if False in kits or locked:
        expected = False
    elif True in kits:
        expected = given.get("t", True)
    else:
        expected = given.get("t", Start.OFF not in starts)
    assert state_of(starts, given).on is expected


@given(STARTS, GIVEN, st.sampled_from(["t", "k0", "k1", "k2"]))
def test_switching_anything_off_never_turns_a_tool_on(starts: list[Start], given: dict[str, bool], name: str):
    if state_of(starts, {**given, name: False}).on:
        assert state_of(starts, given).on


@given(STARTS, GIVEN)
def test_every_state_has_a_reason(starts: list[Start], given: dict[str, bool]):
    assert state_of(starts, given).because
