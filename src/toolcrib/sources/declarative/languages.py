"""Which words of a shell or an interpreter it runs: code itself, a file or module of code, what is loaded before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolcrib.policy.commands.command import INTERPRETERS, SHELLS, program_name
from toolcrib.values.noun import frozen

_TELLS = frozenset({"--version", "-version", "--help", "-V"})
"""Flags with which a program runs nothing."""
_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


@frozen
class Language:
    """How a program is told what to run.

    `code` are flags whose value it runs, `loads` those whose value it reads as code besides, `takes` further flags with
    a value of their own. `script` is the first operand that it runs where no flag said what; 0 = none.
    """

    code: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    script: int = 1


def _language(code: str = "", loads: str = "", takes: str = "", script: int = 1) -> Language:
    return Language(frozenset(code.split()), frozenset(loads.split()), frozenset(takes.split()), script)


_SHELL = _language(loads="--rcfile --init-file", takes="-o +o -O +O")
_PYTHON = _language("-c -m", takes="-W -X --check-hash-based-pycs")
_NODE = _language("-e --eval -p --print", "-r --require --import --loader --experimental-loader", "-C --conditions")
_AWK = _language("-f --file -e --source -E --exec", "-i --include -l --load", "-F --field-separator -v --assign")
_EDITOR = _language("-c -S -s --cmd", "-u", script=0)
_BUILD = _language("-f --file --makefile --eval", "-C --directory -I", script=0)
_SQL = _language("-cmd", "-init", "-separator -newline -nullvalue", script=2)
_OTHER = _language("-c -e -E -f -p -r -x --eval --command --execute --file --print --require", "-l -L --load")
_TOOL = _language("-c -e -x --eval --command --execute", script=0)
_LANGUAGES: Mapping[str, Language] = {
    **dict.fromkeys(SHELLS, _SHELL),
    **dict.fromkeys(("python", "pypy"), _PYTHON),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node"), _NODE),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    **dict.fromkeys(("vi", "vim", "nvim", "view", "ex"), _EDITOR),
    **dict.fromkeys(("make", "gmake", "just", "ninja", "cmake", "ant", "mvn", "gradle", "rake"), _BUILD),
    **dict.fromkeys(("docker", "podman", "kubectl", "uv", "poetry", "npx", "uvx", "pipx", "nano", "ed"), _TOOL),
    "perl": _language("-e -E", "-M -m -I", "-F"),
    "ruby": _language("-e", "-r -I", "-C -E -F"),
    "php": _language("-r -B -R -E -f -F", "-d -c -z"),
    "lua": _language("-e", "-l"),
    "luajit": _language("-e", "-l -j"),
    "java": _language("-jar", "-cp -classpath --class-path -javaagent -agentpath --module-path -m --module"),
    "sqlite3": _SQL,
    "psql": _language("-c --command -f --file", takes="-h -p -U -d -v", script=0),
    "mysql": _language("-e --execute", "--init-command", "-h -P -u -D", script=0),
    "gdb": _language("-ex -iex -x -ix --command -eval-command --eval-command", script=0),
    "lldb": _language("-o -O -s -S --one-line --source", script=0),
    "emacs": _language("--eval --execute --script -l --load -f --funcall", script=0),
    **dict.fromkeys(("ghc", "ghci", "runghc"), _language("-e")),
    **dict.fromkeys(("mongosh", "mongo"), _language("--eval -f --file", script=0)),
    "erl": _language("-eval -s -run", "-pa -pz -config", script=0),
    "swipl": _language("-g -t -s -l", "-f -p"),
    "octave": _language("--eval", "-p --path"),
    "gnuplot": _language("-e -c", "-d"),
    "duckdb": _language("-c -s -cmd -f", "-init", script=2),
    "cmake": _language("-P -E", "-C -B -S --preset", script=0),
    "ansible": _language("-a --args -m --module-name", "-i -M --module-path", script=0),
    "ansible-playbook": _language("-i", "-M --module-path -e --extra-vars"),
    "deno": _language("-e --eval", "-r --reload --import-map", script=2),
    "eval": _language(),
    "source": _language(),
}


def runs_word(words: Sequence[str], position: int) -> bool:
    """Whether a program runs, or reads as code, what stands at this position; a word of which only the beginning is
    written down stands there with that."""
    return _walked(words, position) is True


def runs_input(words: Sequence[str]) -> bool:
    """Whether a shell or interpreter, as it is called here, runs what comes on its input."""
    language = language_of(words[0])
    if language is None or language.script != 1:
        return False
    return _walked(words, None) is None


def language_of(program: str) -> Language | None:
    name = program_name(program)
    return _LANGUAGES.get(name, _OTHER if name in INTERPRETERS else None)


def _walked(words: Sequence[str], position: int | None) -> bool | None:
    """True when the word at the position is run, False when what is run is settled elsewhere, None when nothing is."""
    language = language_of(words[0])
    if language is None:
        return False
    settled, operands, index, ended = False, 0, 1, False
    while index < len(words):
        word = words[index]
        if word == "--" and not ended:
            ended = True
        elif _is_option(word, language) and not ended:
            flag, glued = _flag(word, (*language.code, *language.loads, *language.takes))
            if index == position:
                return flag in language.code | language.loads or (language is _EDITOR and word.startswith("+"))
            valued = flag in language.code | language.loads | language.takes and not glued
            if valued and index + 1 == position:
                return flag in language.code | language.loads
            settled = settled or flag in language.code or word in _TELLS
            index += valued
        else:
            operands += 1
            if index == position:
                return not settled and 0 < language.script <= operands
            if operands == language.script and language is not _SQL:
                return None if word in _INPUT and not settled else False
        index += 1
    return False if settled else None


def _is_option(word: str, language: Language) -> bool:
    return (word.startswith("-") and word != "-") or (word.startswith("+") and language in (_SHELL, _EDITOR))


def _flag(word: str, known: Iterable[str]) -> tuple[str, bool]:
    """The flag of a word that may take a value, and whether the value is in the word already.

    Letters may stand together (`-lane`): the first of them that takes a value takes what follows.
    """
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, bool(equals and value)
    flags = frozenset(known)
    if word in flags:
        return word, False
    name, equals, value = word.partition("=")
    if equals and name in flags:
        return name, bool(value)
    for index, letter in enumerate(word[1:], 1):
        if f"{word[0]}{letter}" in flags:
            return f"{word[0]}{letter}", index < len(word) - 1
    return word, False
