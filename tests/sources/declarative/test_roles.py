"""No value is a program, code, or what a program runs; and every ordinary command can be a tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib
from toolcrib.sources.declarative import read_definition
from toolcrib.sources.declarative.guards import is_guarded
from toolcrib.sources.declarative.template import fill_words, read_word
from toolcrib.testing import ScriptedAsker
from toolcrib.values.refusal import ConfigError, Refusal

Q = "{{args.q}}"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def defined(command: str, *args: str, **further: Any) -> None:
    """Read a definition of this command."""
    given = {"name": "user.x", "description": "x", "input_schema": SCHEMA, "permission": "readonly", **further}
    read_definition(json.dumps({**given, "command": command, "args": list(args)}), "x.json")


@pytest.mark.parametrize(
    "line",
    [
        f"awk {Q} f", f"awk -F : {Q} f", f"awk -f {Q}", f"gawk -i {Q} x", f"sed -f {Q}", f"jq -f {Q}",
        f"python3 {Q}", f"python3 -I {Q}", f"python3 -W ignore {Q}", f"python3 -m {Q}", f"python3 -Ic {Q}",
        f"python3 -c{Q}", f"perl -ne {Q}", f"perl -lane {Q} f", f"perl -M{Q} x", f"ruby -rjson -e {Q}", f"php -r {Q}",
        f"node -p {Q}", f"node --print {Q}", f"node --require={Q} s.js", f"deno eval {Q}", f"julia -E {Q}",
        f"bash {Q}", f"bash -lc {Q}", f"bash -o pipefail {Q}", f"bash --rcfile {Q} s.sh", f"bash -- {Q}",
        f"java -jar {Q}", f"gdb -ex {Q}", f"vim +{Q} f", f"sqlite3 db {Q}", f"sqlite3 db .tables {Q}", f"psql -c {Q}",
        f"find . -exec {Q} ;", f"find . -exec sh -c {Q} ;", f"fd -x bash -c {Q}", f"rg --pre {Q} x", f"rg --pre={Q}",
        f"git -c {Q} log", f"git -c{Q} log", f"git submodule foreach {Q}", f"git bisect run {Q}", f"git {Q}",
        f"git -C x {Q}", f"tar --to-command={Q} -xf a", f"tar -I {Q} -xf a", f"tar {Q} f", f"rsync -e {Q} a b",
        f"sort --compress-program={Q} f", f"curl -K {Q}", f"man -P {Q} x", f"ssh host {Q}", f"ssh host cat {Q}",
        f"watch ls {Q}", f"env -S {Q}", f"env -S{Q}", f"env LD_PRELOAD={Q} ls", f"env PATH={Q} ls", f"env X=1 {Q}",
        f"flock f -c {Q}", f"su -c {Q}", f"xargs -I x sh -c {Q}", f"timeout 5 python3 {Q}", f"busybox sh -c {Q}",
        f"docker run {Q}", f"docker exec c {Q}", f"docker exec c sh -c {Q}", f"kubectl exec p -- {Q}",
        f"kubectl exec p -- sh -c {Q}", f"make -f {Q}", f"make CC={Q}", f"uv run python {Q}",
        f"docker run -v a:b {Q}", f"docker run -v a:b alpine {Q}", f"docker run --name n -v a:b {Q}",
        f"docker exec -u root c {Q}", f"docker exec --privileged c {Q}", f"docker run -it --rm alpine {Q}",
        f"ls -la{Q}", f"grep --col{Q} x", f"grep --{Q}=x", f"grep -{Q}",
    ],
)  # fmt: skip
def test_a_definition_whose_value_would_be_run_is_refused(line: str) -> None:
    command, *args = line.split()
    with pytest.raises(ConfigError, match="q"):
        defined(command, *args)


@pytest.mark.parametrize("line", [f"sort -o {Q} f", f"find . -fprint {Q}", f"curl -o {Q} x", f"iconv -o {Q} f"])
def test_a_value_that_says_where_to_write_needs_a_command_that_writes(line: str) -> None:
    command, *args = line.split()
    with pytest.raises(ConfigError, match="only reads"):
        defined(command, *args)
    defined(command, *args, permission="write")


@pytest.mark.parametrize("line", ["sh", "bash -s", "bash -x", "python3", "python3 -", "node /dev/stdin", "env bash"])
def test_a_program_that_would_run_its_input_is_refused_since_arguments_come_there(line: str) -> None:
    command, *args = line.split()
    with pytest.raises(ConfigError, match="run what comes on its input"):
        defined(command, *args, permission="write")
    shell = {"command_type": "shell", "permission": "write"}
    for further in (line, f"cat | {line}", f"echo {Q} | {line}", f"grep {Q} f | sort | {line}"):
        with pytest.raises(ConfigError, match="run what comes on its input"):
            defined(further, **shell)


@pytest.mark.parametrize(
    "line",
    [
        f"bash script.sh {Q}", f"bash -o pipefail -c x {Q}", f"python3 script.py {Q}", f"python3 -m json.tool {Q}",
        f"perl -ne print {Q}", f"node s.js -e {Q}", f"awk -F : x {Q}", f"awk -F {Q} x f", f"awk -v x={Q} x",
        f"sed -n {Q} f", f"sed -n {Q}p f", f"jq -r {Q} f", f"find . -name {Q}", f"find {Q} -type f",
        f"find . -exec grep -e {Q} x ;", f"git log {Q}", f"git log -n{Q}", f"git -C x log {Q}", f"tar -tf {Q}",
        f"head -n {Q} f", f"head -n{Q}", f"grep -A{Q} x", f"cut -d{Q} -f1", f"xargs -a f grep {Q}", f"env X={Q} ls",
        f"make {Q}", f"make -j {Q}", f"docker logs {Q}", f"docker exec {Q} ls", f"docker run --rm alpine cat {Q}",
        f"docker run -it -v a:b alpine cat {Q}", f"docker exec -it -u root c cat {Q}",
        f"kubectl exec p -- cat {Q}", f"kubectl get {Q}", f"sqlite3 {Q} .tables", f"psql -d {Q} -c x", "bash --version",
        f"curl -s {Q}", f"gh issue view {Q}", f"rg -e {Q} -- .", f"npm view {Q}", f"ffmpeg -i {Q} -f null x",
    ],
)  # fmt: skip
def test_ordinary_commands_can_be_tools(line: str) -> None:
    command, *args = line.split()
    defined(command, *args)


@pytest.mark.parametrize(
    ("line", "guarded"),
    [
        (f"grep -- {Q}", True), (f"git log -- {Q}", True), (f"env grep -- {Q}", True), (f"env -- grep {Q}", False),
        (f"timeout 5 -- grep {Q}", False), (f"kubectl exec p -- grep {Q}", False),
        (f"kubectl exec p -- grep -- {Q}", True), (f"npm run x -- {Q}", False), (f"cargo test -- {Q}", False),
        (f"find . -- {Q}", False), (f"find . -exec grep -- {Q}", True), (f"xargs -- rm {Q}", False),
    ],
)  # fmt: skip
def test_options_end_only_for_the_program_that_gets_the_value(line: str, guarded: bool) -> None:
    words = line.split()
    assert is_guarded(["" if word == Q else word for word in words], words.index(Q)) is guarded
    made = [read_word(word) for word in words[1:]]
    if guarded:
        assert fill_words(made, {"q": "-x"}, {}, words[0])[words.index(Q) - 1] == "-x"
    else:
        with pytest.raises(Refusal, match="must not begin with '-'"):
            fill_words(made, {"q": "-x"}, {}, words[0])


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        (f"make {Q}", True),
        (f"make -- {Q}", True),
        (f"nice make {Q}", True),
        (f"env X=1 gmake -s {Q}", True),
        (f"dd if=a {Q}", True),
        (f"dd if={Q}", False),
        (f"ls -- {Q}", False),
        (f"grep make {Q}", False),
    ],
)
def test_no_value_becomes_a_setting_of_the_program_that_gets_it(line: str, refused: bool) -> None:
    program, *words = line.split()
    made = [read_word(word) for word in words]
    assert fill_words(made, {"q": "all"}, {}, program)
    if refused:
        with pytest.raises(Refusal, match="must not hold '='"):
            fill_words(made, {"q": "SHELL=./evil"}, {}, program)
    else:
        assert fill_words(made, {"q": "SHELL=./evil"}, {}, program)[-1].endswith("SHELL=./evil")


@pytest.mark.parametrize(
    ("line", "harmless", "harmful"),
    [
        (f"sed -n {Q} a.txt", "1p", "1w marker"),
        (f"sed s/o/{Q}/ a.txt", "0", "x/w marker"),
        (f"jq -n {Q}", "1", "env"),
    ],
)
@pytest.mark.anyio
async def test_the_operators_word_for_a_command_ends_where_a_value_makes_it_do_more(
    line: str, harmless: str, harmful: str, tmp_path: Path
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (home / "tools").mkdir(parents=True)
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    command, *args = line.split()
    given = {"name": "user.x", "description": "x", "input_schema": SCHEMA, "permission": "readonly", "output": "text"}
    (home / "tools" / "x.json").write_text(json.dumps({**given, "command": command, "args": args}))
    asker = ScriptedAsker.always("deny")
    async with Toolcrib.open(home=home, project=project, asker=asker) as crib, crib.run() as run:
        await run.call("user.x", {"q": harmless})
        assert asker.requests == []
        assert (await run.call("user.x", {"q": harmful})).reason == "permission_denied"
    assert [path.name for path in project.iterdir()] == ["a.txt"]
