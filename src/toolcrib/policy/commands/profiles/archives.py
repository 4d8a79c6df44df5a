"""Archives: a rule for the program covers listing what is in one; packing and unpacking are named by a rule or asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Operands, Parsed, Profile, flags

_RUNS = "runs a program"


def _stays_here(parsed: Parsed) -> str | None:
    names = [*parsed.of("-f", "--file"), *parsed.operands]
    if any(":" in name for name in names):
        return "a name with a colon is an archive on another machine"
    return None


_TAR_HAZARDS = {
    **dict.fromkeys(("-I", "--use-compress-program", "--to-command", "--checkpoint-action", "--rmt-command"), _RUNS),
    **dict.fromkeys(("--rsh-command", "-F", "--info-script", "--new-volume-script"), _RUNS),
    "-c": "writes an archive",
    "--create": "writes an archive",
    "-x": "writes every file that the archive names",
    "--extract": "writes every file that the archive names",
    "-C": "works in another folder",
    "-P": "keeps absolute names",
    "-T": "reads a file of names",
}
_TAR_LIST = Profile(
    flags(
        "-v -f=< -z -j -J --verbose --file=< --gzip --bzip2 --xz --zstd --wildcards --no-wildcards --force-local",
        "--exclude= --full-time --numeric-owner",
    ),
    Operands.READS,
    hazards=_TAR_HAZARDS,
    check=_stays_here,
)
# Which word says what tar does depends on its place: only forms whose first word is known to list are harmless.
_LISTING = [f"{verbose}{packed}" for verbose in ("", "v") for packed in ("", "z", "j", "J")]
_TAR = Profile(
    flags("--help --version"),
    subcommands={
        **{f"{dash}t{how}f": _TAR_LIST for dash in ("-", "") for how in (*_LISTING, "zv", "jv", "Jv")},
        **dict.fromkeys(("-t", "-tv", "--list"), _TAR_LIST),
    },
    hazards=_TAR_HAZARDS,
)
_GZIP_LOOK = Profile(flags("-l -t -v -q --list --test --verbose --quiet"), Operands.READS)
_UNZIP_LIST = Profile(
    flags("-l -v -t -Z -1 -q -h -z -C --help"),
    Operands.READS,
    hazards={"-d": "unpacks elsewhere", "-p": "prints files"},
)

PROFILES: Mapping[str, Profile] = {
    "tar": _TAR,
    "bsdtar": _TAR,
    "gtar": _TAR,
    "zip": Profile(
        flags("-h -h2 -L --help --version"),
        subcommands={"-sf": Profile(flags("-sf"), Operands.READS)},
        hazards={
            "-T": _RUNS,
            "-TT": _RUNS,
            "--unzip-command": _RUNS,
            "-O": "writes a file",
            "-m": "deletes what it packs",
        },
    ),
    "unzip": Profile(
        flags("-h --help"),
        subcommands={"-l": _UNZIP_LIST, "-v": _UNZIP_LIST, "-t": _UNZIP_LIST, "-Z1": _UNZIP_LIST, "-Z": _UNZIP_LIST},
        hazards={"-o": "overwrites files", "-d": "unpacks elsewhere"},
    ),
    "zipinfo": Profile(flags("-1 -2 -s -m -l -v -h -t -T -z"), Operands.READS),
    "gzip": Profile(flags("--help --version"), subcommands={"-l": _GZIP_LOOK, "-t": _GZIP_LOOK, "--list": _GZIP_LOOK}),
    "zcat": Profile(flags("-f --help --version"), Operands.READS),
    "lsar": Profile(flags("-l -L -v"), Operands.READS),
}
