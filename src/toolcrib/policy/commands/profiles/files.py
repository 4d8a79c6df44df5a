"""Programs that look at files and at the machine, and the plain ones that make or move files."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Depth, Operands, Parsed, Profile, Tier, flags, named, reader

_HELP = "--help --version"


def _sets_nothing(parsed: Parsed) -> str | None:
    return f"{parsed.operands[0]!r} would set it" if parsed.operands else None


def _only_formats(parsed: Parsed) -> str | None:
    wrong = next((operand for operand in parsed.operands if not operand.startswith("+")), None)
    return None if wrong is None else f"{wrong!r} would set the clock"


_LS = reader(
    "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z"
    " -1 -w= -T= -I=",
    "--all --almost-all --author --escape --block-size= --ignore-backups --color=? --directory --classify=?"
    " --file-type",
    "--format= --full-time --group-directories-first --no-group --human-readable --si --dereference --hide="
    " --hyperlink=?",
    "--indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars --quote-name",
    "--quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero",
    _HELP,
)
_HEAD = reader("-# -n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated", _HELP)
_SUMS = reader(
    "-b -c -t -z --binary --check --tag --text --zero --ignore-missing --quiet --status --strict -w --warn", _HELP
)
_PRINT_NAME = reader("-a -s= -z --multiple --suffix= --zero", _HELP, operands=Operands.TEXT)
_MAKE = "-v --verbose"

PROFILES: Mapping[str, Profile] = {
    "ls": _LS,
    "dir": _LS,
    "vdir": _LS,
    "cat": reader(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs",
        "--show-nonprinting",
        _HELP,
    ),
    "tac": reader("-b -r -s= --before --regex --separator=", _HELP),
    "head": _HEAD,
    "tail": reader(
        "-# -n= -c= -f -F -q -v -z -s= --lines= --bytes= --follow=? --retry --pid= --quiet --silent --verbose",
        "--sleep-interval= --zero-terminated --max-unchanged-stats=",
        _HELP,
    ),
    "wc": reader("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=", _HELP),
    "nl": reader(
        "-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-width=", _HELP
    ),
    "stat": reader("-L -f -t -c= --dereference --file-system --format= --printf= --terse --cached=", _HELP),
    "file": Profile(
        flags(
            "-b -i -k -L -h -N -n -p -r -s -z -0 -E -d --brief --mime --mime-type --mime-encoding --keep-going"
            " --dereference --no-dereference --print0 --raw --extension",
            _HELP,
        ),
        Operands.READS,
        hazards={"-f": "prints the lines of a file of names", "-C": "writes a compiled magic file"},
    ),
    "du": reader(
        "-0 -a -b -c -D -H -d= -h -k -L -l -m -P -S -s -t= -x -B= --all --apparent-size --block-size= --bytes --total",
        "--dereference --max-depth= --human-readable --inodes --count-links --separate-dirs --si --summarize"
        " --threshold=",
        "--time=? --one-file-system --exclude=",
        _HELP,
    ),
    "df": reader(
        "-a -B= -h -H -i -k -l -P -t= -T -x= --all --block-size= --human-readable --inodes --local --output=?"
        " --portability",
        "--type= --print-type --exclude-type= --total",
        _HELP,
    ),
    "tree": Profile(
        flags(
            "-a -d -f -l -x -L= -R -P= -I= -q -N -Q -p -u -g -s -h -D -F -v -t -c -r -U -n -C -A -S -i -J -X"
            " --noreport --charset= --filelimit= --dirsfirst --prune --gitignore --du --si --inodes --matchdirs"
            " --ignore-case",
            _HELP,
        ),
        Operands.READS,
        hazards={"-o": "writes a file", "--output": "writes a file"},
    ),
    "pwd": reader("-L -P --logical --physical", _HELP, operands=Operands.NOTHING),
    "basename": _PRINT_NAME,
    "dirname": _PRINT_NAME,
    "realpath": reader("-e -m -L -P -q -s -z --relative-to=< --relative-base=< --no-symlinks --quiet", _HELP),
    "readlink": reader("-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --no-newline", _HELP),
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha224sum": _SUMS,
    "sha256sum": _SUMS,
    "sha384sum": _SUMS,
    "sha512sum": _SUMS,
    "b2sum": _SUMS,
    "cksum": reader("-a= --algorithm= --untagged", _HELP),
    "shasum": reader("-a= -b -t -c", _HELP),
    "cmp": reader("-b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent", _HELP),
    "strings": reader("-a -f -n= -t= -e= -# --all --bytes= --radix= --encoding=", _HELP),
    "od": reader(
        "-A= -j= -N= -t= -v -w=? -a -b -c -d -o -x -s --address-radix= --skip-bytes= --read-bytes= --format=", _HELP
    ),
    "hexdump": reader("-b -c -C -d -n= -o -s= -v -x", _HELP),
    "which": reader("-a -s --all", _HELP, operands=Operands.TEXT),
    "whereis": reader("-b -m -s", operands=Operands.TEXT),
    "type": reader("-a -t -p", operands=Operands.TEXT),
    "whoami": reader(_HELP, operands=Operands.NOTHING),
    "id": reader("-u -g -G -n -r -z --user --group --groups --name --real", _HELP, operands=Operands.TEXT),
    "groups": reader(_HELP, operands=Operands.TEXT),
    "uname": reader("-a -s -n -r -v -m -p -i -o --all --kernel-name --machine", _HELP, operands=Operands.NOTHING),
    "arch": reader(_HELP, operands=Operands.NOTHING),
    "nproc": reader("--all --ignore=", _HELP, operands=Operands.NOTHING),
    "uptime": reader("-p -s", _HELP, operands=Operands.NOTHING),
    "free": reader(
        "-b -k -m -g -h -t -w --bytes --kilo --mega --giga --human --total", _HELP, operands=Operands.NOTHING
    ),
    "hostname": Profile(flags("-f -s -d -i -I -A --fqdn --short", _HELP), Operands.TEXT, check=_sets_nothing),
    "date": Profile(
        flags(
            "-d= -u -R -I=? -r=< --date= --utc --universal --iso-8601=? --rfc-3339= --rfc-email --reference=<", _HELP
        ),
        Operands.TEXT,
        hazards={"-f": "prints the lines of a file in its messages", "-s": "sets the clock"},
        check=_only_formats,
    ),
    "cal": reader("-1 -3 -y -m -s", operands=Operands.TEXT),
    "true": reader(operands=Operands.TEXT),
    "false": reader(operands=Operands.TEXT),
    "sleep": reader(_HELP, operands=Operands.TEXT),
    "mkdir": Profile(flags("-p", _MAKE, "--parents", _HELP), Operands.WRITES),
    "touch": Profile(flags("-a -c -m -d= -t= -h --no-create --date= --time=", _HELP), Operands.WRITES),
    "tee": Profile(flags("-a -i --append --ignore-interrupts", _HELP), Operands.WRITES),
    "cp": Profile(
        flags("-a -p -r -R -u -n -i -L -P -d --archive --recursive --no-clobber --update", _MAKE),
        Operands.READS_THEN_WRITE,
        tier=Tier.NAMED,
        depth=Depth(frozenset({"-L"}), links=None),
    ),
    "mv": named("-n -i -u --no-clobber --update", _MAKE, operands=Operands.WRITES),
    "rm": named("-i -I --interactive=?", _MAKE, operands=Operands.WRITES),
    "rmdir": named("-p --parents", _MAKE, operands=Operands.WRITES),
}
