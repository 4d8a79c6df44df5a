"""What a word is to the program that gets it: a placeholder never is a program, code, or what a program runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from toolcrib.policy.commands.command import INTERPRETERS, SHELLS, WRAPPERS, program_name
from toolcrib.policy.commands.profile import Operands, Profile, Style, Value
from toolcrib.policy.commands.profiles import PROFILES
from toolcrib.sources.declarative.guards import END_OF_OPTIONS, carried, is_guarded
from toolcrib.sources.declarative.languages import language_of, runs_input, runs_word
from toolcrib.sources.declarative.template import TemplateError

BUILT_IN = frozenset(
    {".", "alias", "bind", "builtin", "cd", "command", "compgen", "complete", "declare", "enable", "eval", "exec"}
    | {"export", "fc", "getopts", "let", "local", "mapfile", "read", "readarray", "readonly", "return", "set", "shift"}
    | {"shopt", "source", "trap", "typeset", "umask", "unalias", "unset"}
)
"""Commands of shells themselves that do more with a word than hand it on."""
JOINING = frozenset({"ssh", "watch", "parallel", "su", "runuser", "script", "at", "batch", "crontab"})
"""Programs that make one line of their words, and give it to a shell."""
_RUNS = SHELLS | INTERPRETERS | WRAPPERS | BUILT_IN
_NO_PROGRAM = re.compile(r"-|\d|\w+=")
"""How the words of a wrapper itself begin: options, numbers, variables that it sets."""
_LINES = frozenset({"-c", "--command", "-S", "--split-string"})
"""Flags of wrappers whose value is a whole line."""
_LOADERS = re.compile(
    r"(PATH|LD_\w*|DYLD_\w*|PYTHON\w*|NODE_\w*|PERL5?\w*|RUBY\w*|LUA_\w*|BASH_ENV|ENV|SHELL|IFS|EDITOR|VISUAL|PAGER"
    r"|BROWSER|GIT_\w*|JAVA_TOOL_OPTIONS|CLASSPATH|GCONV_PATH|LESSOPEN|LESSCLOSE)="
)
"""Variables that say what a program loads or runs."""
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc"})
_SWITCHES = frozenset(
    {"--rm", "--detach", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable", "--privileged"}
    | {"--publish-all", "--quiet", "--read-only", "--sig-proxy", "--tty", "--replace", "--stdin"}
)
_SWITCH_LETTERS = re.compile(r"-[itdPq]+")
"""Flags of containers that take no value of their own."""
_RUN_FLAGS: dict[str, frozenset[str]] = {
    "git": frozenset(
        {"-O", "-c", "--config-env", "--exec-path", "--upload-pack", "--receive-pack", "-x", "--exec", "-u"}
    ),
    "rsync": frozenset({"-e", "--rsh", "--rsync-path"}),
    "scp": frozenset({"-S", "-o", "-F"}),
    "sftp": frozenset({"-S", "-o", "-F", "-b"}),
    "man": frozenset({"-P", "--pager", "-H", "--html"}),
    "curl": frozenset({"-K", "--config"}),
    "wget": frozenset({"--use-askpass", "-e", "--execute", "--config"}),
    "sed": frozenset({"-f", "--file"}),
    "jq": frozenset({"-f", "--from-file", "-L"}),
    "gcc": frozenset({"-B", "-wrapper", "-specs", "-fplugin"}),
    "ncat": frozenset({"-e", "-c"}),
    "split": frozenset({"--filter"}),
    "nmap": frozenset({"--script"}),
    "hg": frozenset({"--config"}),
    "svn": frozenset({"--config-option"}),
    "redis-cli": frozenset({"--eval"}),
    "pandoc": frozenset({"-F", "--filter", "-L", "--lua-filter"}),
    "tcpdump": frozenset({"-z"}),
    "tshark": frozenset({"-X"}),
    "openssl": frozenset({"-engine", "-provider", "-provider-path"}),
    "apt-get": frozenset({"-o", "-c"}),
    "sendmail": frozenset({"-C"}),
    "ld": frozenset({"-dynamic-linker", "-plugin", "-I"}),
    "terraform": frozenset({"-chdir"}),
    "printf": frozenset({"-v"}),
    "test": frozenset({"-v"}),
}

_RUNNING = frozenset(
    {"--exec", "--eval", "-eval", "--execute", "--to-command", "--rsh", "--pager", "--ext-diff"}
    | {"--open-files-in-pager", "--use-compress-program", "--compress-program", "--checkpoint-action"}
)
"""Flags whose value is run, whatever the program."""
_BEHIND: dict[str, tuple[frozenset[str], int]] = {
    **dict.fromkeys(("chroot", "flock", "faketime"), (frozenset[str](), 1)),
    "ip": (frozenset({"exec"}), 1),
    "perf": (frozenset({"stat", "record", "trace"}), 0),
    **dict.fromkeys(("npm", "pnpm", "yarn"), (frozenset({"exec", "x", "dlx", "create", "init"}), 0)),
    **dict.fromkeys(("uv", "poetry", "go", "pipx"), (frozenset({"run"}), 0)),
}
"""Programs that run another one: behind which words, and behind how many operands, its name stands."""
_CONTROLS = frozenset({"socat", "tmux", "screen", "dbus-send", "gsettings", "gpg-connect-agent", "systemd-run"})
"""Programs most of whose words are orders, to themselves or to something that does as it is told."""


def check_role(words: Sequence[str], position: int, name: str) -> None:
    """Refuse a placeholder where its value would be a program, or what a program runs.

    Where only the end of a word is the placeholder, `words` holds what stands before it.
    """
    if position == 0:
        raise TemplateError(f"{{{{args.{name}}}}} must not choose the program")
    program, place = program_name(words[0]), f"{{{{args.{name}}}}}"
    if program in BUILT_IN:
        raise TemplateError(f"{place} must not be given to the shell's own command {program}")
    if program in JOINING:
        raise TemplateError(
            f"{program} makes one line of its words and gives it to a shell, so {place} would not stay one word; let "
            "what it starts read the arguments as JSON from its input"
        )
    if program in WRAPPERS:
        _check_wrapped(words, position, name)
    for start in _started(words, position):
        check_role(words[start:], position - start, name)
    if program in _CONTROLS:
        raise TemplateError(f"{place} would be an order to {program}; write a script that takes it as a value")
    if _is_program(words, position):
        raise TemplateError(f"{place} must not choose the program that {program} runs")
    if program == "git" and "config" in words[1:position]:
        raise TemplateError(f"{place} must not be a setting of git: some of them are programs")
    if program == "git" and carried(words, position) is not None:
        raise TemplateError(f"git gives {place} to a shell; let what it starts read the arguments from its input")
    if language_of(words[0]) is not None and program not in WRAPPERS and runs_word(words, position):
        raise TemplateError(
            f"{place} would be run by {program}; name a script or write the code, and give it the value as an "
            "argument, or let it read its input"
        )
    if _chooses_work(words, position):
        raise TemplateError(f"{place} must not choose what {program} does; write that down, and give it the value")
    _check_flag(words, position, name)


def _is_program(words: Sequence[str], position: int) -> bool:
    """Whether a word would be the program that another one runs."""
    if (found := _BEHIND.get(program_name(words[0]))) is None or words[position]:
        return False
    verbs, before = found
    start = next(
        (index + 1 for index, word in enumerate(words[:position]) if index and word in verbs), 0 if verbs else 1
    )
    inside = words[start:position]
    return bool(start) and sum(not word.startswith("-") for word in inside) <= before


def check_input(words: Sequence[str]) -> None:
    """Refuse a command that runs what comes on its input: that is what a model sends."""
    program = program_name(words[0])
    if runs_input(words):
        raise TemplateError(f"{program} would run what comes on its input, the arguments; name a script for it")
    for start in _started(words, len(words)):
        check_input(words[start:])


def hazard_of(words: Sequence[str], position: int) -> str | None:
    """What the flag does whose value stands at this position, where its profile knows of something."""
    flag = _flag_before(words, position)
    profile = PROFILES.get(program_name(words[0]))
    if flag is None or profile is None:
        return None
    for each in _profiles(profile, words):
        if (found := each.hazards.get(flag)) is not None:
            return f"{flag} {found}"
    return None


def _started(words: Sequence[str], end: int) -> Iterator[int]:
    """Where, behind a program that runs others, one of those may begin that does more with a word than take it."""
    first = 1 if program_name(words[0]) in WRAPPERS else carried(words, end)
    for index in range(first if first is not None else end, end):
        if program_name(words[index]) in _RUNS:
            yield index


def _chooses_work(words: Sequence[str], position: int) -> bool:
    """Whether a word would be the subcommand, a variable of a build, or what is run in a container."""
    program, here = program_name(words[0]), words[position]
    if program in ("make", "gmake"):
        return "=" in here and not here.startswith("-")
    if here:
        return False
    start = carried(words, position)
    if start is not None and program in _CONTAINERS:
        inside = words[start:position]
        if END_OF_OPTIONS in inside:
            return inside[-1] == END_OF_OPTIONS
        counts = (sum(not word.startswith("-") for word in inside), _operands(inside))
        return min(counts) < 2 if words[start - 1] == "run" else 1 in counts
    profile = PROFILES.get(program)
    if profile is None or not profile.subcommands or profile.operands is not Operands.NOTHING or language_of(program):
        return False
    alone = (word for before, word in pairwise(words[:position]) if not before.startswith("-"))
    return len(_profiles(profile, words[:position])) == 1 and all(word.startswith("-") for word in alone)


def _operands(inside: Sequence[str]) -> int:
    """How many words are no flag, nor the value of one; a flag that nobody knows may have one."""
    found, takes = 0, False
    for word in inside:
        if word.startswith("-"):
            takes = "=" not in word and word not in _SWITCHES and not _SWITCH_LETTERS.fullmatch(word)
        else:
            found, takes = found + (not takes), False
    return found


def _check_wrapped(words: Sequence[str], position: int, name: str) -> None:
    """The same behind a program that runs another: which of its words is that other only it knows, so all may be."""
    earlier, glued = words[1:position], words[position]
    wrapper = program_name(words[0])
    flag = glued.partition("=")[0] if glued.startswith("-") else earlier[-1] if earlier else ""
    if flag in _LINES or glued[:2] in _LINES:
        raise TemplateError(f"{{{{args.{name}}}}} would be run by {wrapper}")
    if _LOADERS.match(glued):
        raise TemplateError(f"{{{{args.{name}}}}} would say what the program loads or runs: {glued[:40]}")
    if not _NO_PROGRAM.match(glued) and all(_NO_PROGRAM.match(word) for word in earlier):
        raise TemplateError(f"{{{{args.{name}}}}} must not choose the program that {wrapper} runs")


def _check_flag(words: Sequence[str], position: int, name: str) -> None:
    """Refuse a value of a flag that runs it, and one that would be further flags."""
    program, flag = program_name(words[0]), _flag_before(words, position)
    hazard = hazard_of(words, position)
    if flag in _RUN_FLAGS.get(program, ()) or flag in _RUNNING or (hazard is not None and " runs" in hazard):
        raise TemplateError(f"{{{{args.{name}}}}} would be run: {hazard or f'{program} runs what {flag} names'}")
    glued, profile = words[position], PROFILES.get(program)
    if program in ("less", "more") and glued.startswith("+"):
        raise TemplateError(f"{{{{args.{name}}}}} would be a command of {program}")
    if profile is not None and re.fullmatch(r"-[A-Za-z]+", glued) and not is_guarded(words, position):
        known = [each.flags[f"-{glued[-1]}"] for each in _profiles(profile, words) if f"-{glued[-1]}" in each.flags]
        if known and all(value is Value.NONE for value in known) and profile.style is Style.LETTERS:
            flag = f"-{glued[-1]}"
            raise TemplateError(f"{{{{args.{name}}}}} would be further flags, since {program} {flag} takes no value")


def _flag_before(words: Sequence[str], position: int) -> str | None:
    """The flag whose value stands at this position, in the same word or before it."""
    here = words[position]
    if here.startswith("--"):
        return here.partition("=")[0]
    if here.startswith("-"):
        return here.partition("=")[0] if "=" in here else f"-{here[1:2]}"
    before = words[position - 1] if position > 1 else ""
    if here or not before.startswith("-") or "=" in before:
        return None
    return before


def _profiles(profile: Profile, words: Sequence[str]) -> list[Profile]:
    """The profile of a program, and of the subcommands that these words name."""
    texts = {" ".join(words[start : start + size]) for start in range(1, len(words)) for size in (1, 2, 3)}
    return [profile, *(inner for name, inner in profile.subcommands.items() if name in texts)]
