"""What the prompt says about tools is composed from what is there, and from nothing else."""

import pytest

from toolcrib.catalog.guidance import Advice, Prompting, merged
from toolcrib.catalog.toolkit import Choice, Focus, Member, Situation, Toolkit, members
from toolcrib.values.refusal import InvalidName, RegistrationError


def guide(situation: Situation) -> str:
    return "\n".join(f"Use {name} wisely." for name in situation.available)


def aim(situation: Situation) -> Focus | None:
    return Focus(("notes.add", "notes.find"), Choice.REQUIRED) if "note" in situation.said else None


NOTES = Toolkit(
    key="notes", label="Notes", description="Notes.", members=members(["notes.find", "notes.add"]), guide=guide, aim=aim
)
MAIL = Toolkit(key="mail", label="Mail", description="Mail.", members=members(["mail.send"]), guide=guide)


class Roster:
    def __init__(self, *off: str, nowhere: tuple[str, ...] = ()) -> None:
        self.out = dict.fromkeys(off, "it is off")
        self.nowhere = nowhere

    def __contains__(self, name: object) -> bool:
        return name not in self.out and name not in self.nowhere


without = Roster


def test_guidance_speaks_of_available_members_only():
    text = Prompting((NOTES, MAIL)).guidance(without("notes.add", "mail.send"), "default")
    assert text == (
        "## Notes\nUse notes.find wisely.\n\n"
        "## Not available\n"
        "- Notes, in part: notes.add. Do not call these, and do not claim to have done what only they can do.\n"
        "- Mail: mail.send. Do not call these, and do not claim to have done what only they can do."
    )


def test_guidance_with_everything_there_has_no_negative_section():
    text = Prompting((NOTES,)).guidance(without(), "default")
    assert text == "## Notes\nUse notes.find wisely.\nUse notes.add wisely."


def test_a_toolkit_of_which_nothing_exists_is_not_mentioned():
    assert Prompting((MAIL,)).guidance(Roster(nowhere=("mail.send",)), "default") == ""


def test_nothing_is_said_where_nothing_is_known():
    assert Prompting().guidance(without(), "default") == ""


def test_a_toolset_speaks_while_one_of_its_tools_is_there():
    prompting = Prompting(advice=(Advice("shelf", ("shelf.look", "shelf.put"), "Look before you put."),))
    assert prompting.guidance(without("shelf.put"), "default") == "## shelf\nLook before you put."
    assert prompting.guidance(without("shelf.put", "shelf.look"), "default") == ""


def test_focus_is_what_the_situation_calls_for():
    prompting = Prompting((NOTES, MAIL))
    assert prompting.focus(without(), "default", "hello") == Focus()
    assert prompting.focus(without("notes.add"), "default", "take a note") == Focus(("notes.find",), Choice.REQUIRED)
    assert prompting.focus(without("notes.add", "notes.find"), "default", "take a note") == Focus()


MERGES = [
    ("nothing", [], Focus()),
    ("the union in order", [Focus(("b", "a")), Focus(("a", "c"))], Focus(("b", "a", "c"))),
    ("only what is available", [Focus(("a", "gone"))], Focus(("a",))),
    ("any required wins", [Focus(("a",), Choice.REQUIRED), Focus(("b",))], Focus(("a", "b"), Choice.REQUIRED)),
    ("required without names", [Focus((), Choice.REQUIRED)], Focus((), Choice.REQUIRED)),
    ("nobody can be made to call what is not there", [Focus(("gone",), Choice.REQUIRED)], Focus()),
]


@pytest.mark.parametrize(("directives", "expected"), [case[1:] for case in MERGES], ids=[case[0] for case in MERGES])
def test_directives_merge(directives, expected):
    assert merged(directives, without("gone")) == expected


def test_a_focus_as_clients_take_it():
    assert Focus(("a",), Choice.REQUIRED).json() == {"active_tools": ["a"], "tool_choice": "required"}
    assert Focus().json() == {"active_tools": None, "tool_choice": "auto"}


@pytest.mark.parametrize(
    ("key", "names", "error", "told"),
    [
        ("Notes", ["notes.add"], InvalidName, "'Notes' is not a toolkit key"),
        ("notes", [], RegistrationError, "has no members"),
        ("notes", ["a.b", "a.b"], RegistrationError, "names a.b twice"),
        ("notes", ["a b"], InvalidName, "'a b' is not a tool name"),
    ],
)
def test_a_toolkit_that_makes_no_sense_is_refused(key, names, error, told):
    with pytest.raises(error, match=told):
        Toolkit(key=key, label="", description="", members=tuple(Member(name) for name in names))
