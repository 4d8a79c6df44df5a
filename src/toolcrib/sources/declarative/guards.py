"""Where options end: `--` counts only for the program that gets the words after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcrib.policy.commands.command import WRAPPERS, program_name

END_OF_OPTIONS = "--"
PASSING = frozenset({"npm", "pnpm", "yarn", "bun", "cargo", "uv", "poetry", "npx", "just"})
"""Programs whose `--` hands the words after it on, options and all, instead of ending options."""
ASSIGNING = frozenset({"make", "gmake", "bmake", "just", "dd"})
"""Programs that take a word with `=` in it for a setting, wherever it stands: of what they run, or of where they write.
"""
_COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ar", "java", "javac", "kotlinc", "rustc")
FILING: Mapping[str, tuple[str, ...]] = {
    "curl": ("@", "<"),
    **dict.fromkeys(("gh", "http", "https", "xh", *_COMPILERS), ("@",)),
}
"""Programs that take a value that begins with one of these for the name of a file: to send it, or to read options."""
_PLAIN = frozenset({"--data-raw", "--form-string"})
_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_RUNS = frozenset({"run", "exec"})
CARRYING: Mapping[str, frozenset[str]] = {
    "find": _EXECUTES,
    **dict.fromkeys(("fd", "fdfind"), frozenset({"-x", "--exec", "-X", "--exec-batch"})),
    **dict.fromkeys(("docker", "podman", "nerdctl", "kubectl", "oc", "uv", "poetry", "npm", "pnpm"), _RUNS),
    "git": frozenset({"run", "foreach"}),
}
"""Programs that run another one behind one of these words."""


def is_guarded(words: Sequence[str], position: int) -> bool:
    """Whether a command has said, before this word, that no options follow for the program that gets it.

    `words` begin with the program; a word that nobody knows yet is empty.
    """
    program = program_name(words[0]) if words else ""
    ends = [index for index, word in enumerate(words[1:position], start=1) if word == END_OF_OPTIONS]
    if len(ends) <= (program in PASSING):
        return False
    if program in WRAPPERS or carried(words, position) is not None:
        # What ends the options of a wrapper says nothing to the program that it starts.
        return not any(word and not word.startswith("-") for word in words[ends[-1] + 1 : position])
    return program != "find"


def takes_settings(words: Sequence[str], position: int) -> bool:
    """Whether the program that gets the word at this position would take `name=value` for more than a value."""
    names = [program_name(word) for word in words[:position] if word]
    if not names:
        return False
    behind = names[0] in WRAPPERS or carried(words, position) is not None
    return any(name in ASSIGNING for name in (names if behind else names[:1]))


def names_file(words: Sequence[str], position: int, before: str, value: str) -> bool:
    """Whether the program would read a file that this value names; `before` stands in the same word before it."""
    marks = FILING.get(program_name(words[0]) if words else "", ())
    if not value.startswith(marks) or not marks:
        return False
    flag = before.partition("=")[0] if before.startswith("--") else words[position - 1]
    return flag not in _PLAIN and (before in ("", "-d", "-F", "-H") or before.endswith("="))


def carried(words: Sequence[str], position: int) -> int | None:
    """Where the words of another program begin that the first one runs, if they do before this position."""
    starts = CARRYING.get(program_name(words[0]) if words else "", frozenset[str]())
    return next((index + 1 for index, word in enumerate(words[:position]) if index and word in starts), None)
