"""Which rules are proposed from what people answered."""

from __future__ import annotations

from toolcrib.policy.suggest import Answered, suggest


def answered(tool: str, *targets: list[object], answer: str = "allow_once", session: str = "s1", scope: object = "x"):
    request = {"request_id": "ask_1", "tool": tool, "targets": list(targets), "grant_scope": scope}
    return Answered(request, answer, session, 100.0)


def rules(*history: Answered) -> list[str]:
    return [each.rule for each in suggest(history)]


def test_what_was_allowed_three_times_and_never_refused_becomes_a_narrow_rule():
    host = ["host", "api.example.com:443", "api.example.com"]
    found = suggest([answered("web.fetch", host, session=name) for name in ("a", "b", "b")])
    assert [each.rule for each in found] == [
        '[[rules]]\ntool = "web.fetch"\nhost = "api.example.com:443"\nverdict = "allow"\n'
        'because = "approved 3 times in 2 sessions, never refused"'
    ]
    assert (found[0].habit.allowed, found[0].habit.sessions) == (3, {"a", "b"})


def test_a_single_refusal_or_too_few_answers_propose_nothing():
    path = ["path", "/p/docs/a.md", "/p"]
    assert rules(*[answered("code.write_file", path)] * 2) == []
    assert rules(*[answered("code.write_file", path)] * 5, answered("code.write_file", path, answer="deny")) == []


def test_files_of_one_folder_become_a_rule_for_the_folder():
    paths = [["path", f"/home/me/docs/{name}.md", "/home/me"] for name in "abc"]
    found = rules(*[answered("code.write_file", path) for path in paths])
    assert len(found) == 1
    assert 'path = "/home/me/docs/*"' in found[0]


def test_a_command_becomes_a_rule_for_exactly_that_command():
    found = rules(*[answered("code.run_command", ["command", "git fetch --all", "exe=/usr/bin/git"])] * 3)
    assert found == [
        '[[commands]]\npattern = "git fetch --all"\nverdict = "allow"\n'
        'because = "approved 3 times in 1 session, never refused"'
    ]


def test_shells_interpreters_marked_things_and_calls_without_targets_are_never_proposed():
    for command in ("bash -c ls", "python x.py", "sudo ls", "git status && rm x", "toolcrib approvals approve x"):
        assert rules(*[answered("shell.run", ["command", command, "x"])] * 5) == []
    assert rules(*[answered("code.read_file", ["path", "/p/.env", "x", ["sensitive"]])] * 5) == []
    assert rules(*[answered("disk.wipe")] * 5) == []
    assert rules(*[answered("disk.wipe", ["path", "/p/x", ""], scope=None)] * 5) == []
