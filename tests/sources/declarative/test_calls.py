"""Declared commands through the counter: what they are given, what they may say, and what asks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio
ECHO = "import json,sys,os; print(json.dumps({'content': [{'type': 'json', 'data': %s}]}))"


class Place:
    """A home to declare commands in, and a project to run them in."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        (self.home / "tools").mkdir(parents=True)
        (self.project / "sub").mkdir(parents=True)
        self.asker = ScriptedAsker.always("allow_once")

    def declare(self, name: str, **fields: Any) -> None:
        given = {"name": name, "description": name, **fields}
        (self.home / "tools" / f"{name}.json").write_text(json.dumps(given))

    def python(self, name: str, code: str, **fields: Any) -> None:
        """A command that is a Python program."""
        schema = {"type": "object", "properties": {"x": {"type": "string"}, "n": {"type": "integer"}}}
        fields = {"input_schema": schema, "args": ["-c", code, *fields.pop("args", [])], **fields}
        self.declare(name, command=sys.executable, **fields)

    def open(self, **further: Any):
        """Without the operating system's sandbox: it would hide the interpreter that runs these tests."""
        config: Any = {"tools": {"sandbox": "off"}, **further}
        return Toolcrib.open(home=self.home, project=self.project, asker=self.asker, config=config)

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **further: Any):
        async with self.open(**further) as crib, crib.run() as run:
            return await run.call(name, arguments or {})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_command_gets_its_arguments_as_json_and_answers_with_a_result(place: Place) -> None:
    place.python("user.echo", ECHO % "[json.load(sys.stdin), sys.argv[1:]]", args=["{{args.x}}", "n={{args.n}}"])
    result = await place.call("user.echo", {"x": "a b; $(c)", "n": 3})
    assert result.data == [{"x": "a b; $(c)", "n": 3}, ["a b; $(c)", "n=3"]]
    assert result.metadata["exit_code"] == 0
    assert len(place.asker.requests) == 1


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("", "must write one JSON object to standard output (not JSON: Expecting value at line 2 column 1)"),
        ("hello world", "It wrote: hello world"),
        ("[1]", "must write a JSON object to standard output, not array"),
        ('{"content": "a"} {"content": "b"}', "must write one JSON object"),
        ('{"content": "a", "call_id": "x"}', "wrote the field 'call_id'; known are content, is_error, error, metadata"),
        ('{"content": [{"type": "artifact_ref", "artifact_id": "a"}]}', "a block that is not text, json or image"),
        ('{"content": 3}', "content that is integer"),
        ('{"metadata": {}}', "a result without content"),
        ('{"content": "a", "is_error": 1}', "is_error that is not true or false"),
    ],
)  # fmt: skip
async def test_anything_but_one_result_is_an_error_that_shows_the_head_of_it(
    place: Place, printed: str, said: str
) -> None:
    place.python("user.say", f"print({printed!r})")
    result = await place.call("user.say")
    assert result.reason == "internal_error"
    assert said in (result.error.message if result.error else "")


@pytest.mark.parametrize(
    ("printed", "message", "details"),
    [
        ({"content": "bad", "is_error": True}, "bad", {}),
        ({"error": {"message": "no such thing", "details": {"n": 1}}}, "no such thing", {"n": 1}),
        ({"content": "more", "error": "short"}, "short", {}),
    ],
)
async def test_a_command_reports_its_own_errors(place: Place, printed: Any, message: str, details: Any) -> None:
    place.python("user.fail", f"print({json.dumps(printed)!r})")
    result = await place.call("user.fail")
    assert (result.ok, result.error and result.error.message) == (False, message)
    assert result.error is not None
    assert result.error.details == details


async def test_an_exit_code_is_an_error_with_what_was_said_on_standard_error(place: Place) -> None:
    place.python(
        "user.fail",
        "import sys; print('partial'); print('the disk is full', file=sys.stderr); sys.exit(3)",
        output="text",
    )
    result = await place.call("user.fail")
    assert result.error is not None
    assert result.error.message == "user.fail ended with exit code 3: the disk is full"
    assert "partial" in result.text
    assert result.metadata["log"] == "the disk is full\n"


async def test_the_environment_holds_what_is_listed_and_no_secret(place: Place, monkeypatch: Any) -> None:
    monkeypatch.setenv("SOME_TOKEN", "s3cret")
    monkeypatch.setenv("PLAIN_WORD", "word")
    code = ECHO % "sorted(name for name in os.environ if name in ('PATH', 'HOME', 'SOME_TOKEN', 'PLAIN_WORD'))"
    place.python("user.env", code)
    place.python("user.more", code, env_allowlist=["PLAIN_WORD"])
    assert (await place.call("user.env")).data == ["HOME", "PATH"]
    assert (await place.call("user.more")).data == ["HOME", "PATH", "PLAIN_WORD"]


async def test_it_runs_in_the_project_or_where_its_definition_says_and_nowhere_else(place: Place) -> None:
    place.python("user.here", ECHO % "os.getcwd()")
    place.python("user.below", ECHO % "os.getcwd()", working_dir="sub")
    place.declare("user.outside", command="pwd", permission="readonly", output="text", working_dir="/usr")
    place.declare("user.whole", command="pwd", permission="readonly", output="text", working_dir=str(place.project))
    assert (await place.call("user.here")).data == str(place.project)
    assert (await place.call("user.below")).data == str(place.project / "sub")
    assert (await place.call("user.whole")).text == f"{place.project}\n"
    assert (await place.call("user.outside")).reason == "tool_not_available"
    async with place.open() as crib:
        assert crib.outside is not None
        assert [why.rpartition("working_dir: ")[2] for why in crib.outside.aside.values()] == [
            "/usr lies outside the project; add it to workspace.mounts or tools.allowed_write_roots"
        ]
    wider = {"sandbox": "off", "allowed_write_roots": ["/usr"]}
    assert (await place.call("user.outside", tools=wider)).text == "/usr\n"


async def test_a_command_ends_at_its_time_limit_with_its_tree(place: Place) -> None:
    place.declare("user.slow", command="sleep", args=["30"], timeout_ms=200, output="text")
    result = await place.call("user.slow")
    assert (result.reason, result.error and result.error.message) == (
        "timeout",
        "user.slow was stopped at its time limit of 0.2 s",
    )


async def test_output_beyond_its_limit_is_cut_and_no_result(place: Place) -> None:
    place.python("user.long", "print('x' * 100000)", stdout_limit_bytes=2048)
    result = await place.call("user.long")
    assert "wrote more than its limit" in (result.error.message if result.error else "")
    assert result.metadata["stdout_bytes"] == 100_001


async def test_a_command_that_only_reads_runs_unasked_until_it_names_what_is_sensitive(place: Place) -> None:
    (place.project / "a.txt").write_text("hello\n")
    (place.project / ".env").write_text("KEY=1\n")
    schema = {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
    place.declare(
        "user.show",
        command="cat",
        args=["--", "{{args.file}}"],
        input_schema=schema,
        permission="readonly",
        output="text",
    )
    assert (await place.call("user.show", {"file": "a.txt"})).text == "hello\n"
    assert place.asker.requests == []
    await place.call("user.show", {"file": ".env"})
    assert [request.tool for request in place.asker.requests] == ["user.show"]


async def test_rules_about_commands_hold_for_declared_ones_too(place: Place) -> None:
    place.declare("user.list", command="ls", permission="readonly", output="text")
    assert (await place.call("user.list")).ok
    blocked = [{"pattern": "ls", "verdict": "blocked"}]
    assert (await place.call("user.list", policy={"commands": blocked})).reason == "permission_denied"


async def test_a_program_in_the_workspace_is_never_vouched_for_by_a_definition(place: Place) -> None:
    script = place.project / "run"
    script.write_text("#!/bin/sh\necho hi\n")
    script.chmod(0o755)
    place.declare("user.own", command=str(script), permission="readonly", output="text")
    assert (await place.call("user.own")).text == "hi\n"
    assert len(place.asker.requests) == 1


async def test_a_program_that_is_not_there_is_said_so(place: Place) -> None:
    place.declare("user.gone", command="no-such-program", permission="readonly")
    result = await place.call("user.gone")
    assert (result.reason, "no-such-program" in result.text) == ("file_not_found", True)


async def test_a_broken_definition_is_set_aside_and_the_others_work(place: Place) -> None:
    place.declare("user.good", command="echo", args=["hi"], permission="readonly", output="text")
    place.declare("user.bad", comand="x")
    place.declare("code.read_file", command="cat")
    (place.home / "tools" / "zz.json").write_text((place.home / "tools" / "user.good.json").read_text())
    async with place.open() as crib, crib.run() as run:
        assert (await run.call("user.good")).text == "hi\n"
        assert crib.outside is not None
        told = {Path(file).name: why for file, why in crib.outside.aside.items()}
    assert set(told) == {"user.bad.json", "code.read_file.json", "zz.json"}
    assert "did you mean command?" in told["user.bad.json"]
    assert "already registered" in told["code.read_file.json"]


async def test_a_definition_that_changes_is_another_contract_whatever_its_layout(place: Place) -> None:
    async def fingerprint() -> str:
        async with place.open() as crib:
            return crib.runtime.registry.snapshot["user.e"].fingerprint

    place.declare("user.e", command="echo", args=["a"])
    first = await fingerprint()
    file = place.home / "tools" / "user.e.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=4))
    assert await fingerprint() == first
    place.declare("user.e", command="echo", args=["b"])
    assert await fingerprint() != first


async def test_a_shell_line_can_have_parameters_of_its_own(place: Place) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    place.declare(
        "user.sh", command_type="shell", command='printf "<%s>" "$1" "${2}"', args=["{{args.a}}", "b={{args.b}}"],
        input_schema=schema, output="text",
    )  # fmt: skip
    result = await place.call("user.sh", {"a": "x y", "b": "$(id) *"})
    assert result.text == "<x y><b=$(id) *>"
    assert "$(id) *" in place.asker.requests[0].targets[0].value


async def test_who_is_asked_sees_the_variables_that_this_command_gets_and_no_others(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "LANG", "MINE"):
        monkeypatch.setenv(name, "x")
    place.python("user.names", ECHO % "sorted(os.environ)", env_allowlist=["MINE"])
    seen = set((await place.call("user.names")).data)
    (request,) = place.asker.requests
    told = set(request.environment.split(", "))
    assert "MINE" in told
    assert seen - told <= {"LC_CTYPE"}
    assert told <= seen
