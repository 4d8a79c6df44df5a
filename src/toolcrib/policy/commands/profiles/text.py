"""Programs that cut, sort and compare text, and the small languages among them (sed, awk, jq)."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Depth, Operands, Parsed, Profile, flags, reader
from toolcrib.policy.commands.profiles.scripts import awk_harm, jq_harm, sed_harm

_HELP = "--help --version"


def _sed(parsed: Parsed) -> str | None:
    scripts = parsed.of("-e", "--expression") or list(parsed.operands[:1])
    return next((harm for harm in map(sed_harm, scripts) if harm), None)


def _awk(parsed: Parsed) -> str | None:
    return awk_harm(parsed.operands[0]) if parsed.operands else None


def _jq(parsed: Parsed) -> str | None:
    return jq_harm(parsed.operands[0]) if parsed.operands else None


def _one_input(parsed: Parsed) -> str | None:
    return f"a second file name ({parsed.operands[1]}) is written to" if len(parsed.operands) > 1 else None


_AWK = Profile(
    flags("-F= -v= --field-separator= --assign= -P --posix --re-interval --characters-as-bytes", "-V --version"),
    Operands.TEXT_THEN_READS,
    hazards={"-f": "runs a program from a file", "-i": "loads a library", "-l": "loads a library", "-E": "runs a file"},
    check=_awk,
)
_DIFF = reader(
    "-# -q -s -c -C= -u -U= -e -n -y -W= -p -t -T -l -r -N -x= -X=< -i -E -Z -b -w -B -I= -a -d -F= -L= -S=",
    "--normal --brief --report-identical-files --context=? --unified=? --ed --rcs --side-by-side --width="
    " --left-column",
    "--suppress-common-lines --show-c-function --show-function-line= --label= --expand-tabs --initial-tab --tabsize=",
    "--recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --exclude="
    " --exclude-from=<",
    "--starting-file= --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change",
    "--ignore-all-space --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --minimal"
    " --horizon-lines=",
    "--speed-large-files --color=? --palette=",
    _HELP,
    depth=Depth(frozenset({"-r", "--recursive"}), links=None),
)

PROFILES: Mapping[str, Profile] = {
    "echo": reader("-n -e -E", operands=Operands.TEXT),
    "printf": Profile(flags(), Operands.TEXT, hazards={"-v": "assigns a variable, and evaluates its subscript"}),
    "seq": reader("-f= -s= -w --format= --separator= --equal-width", _HELP, operands=Operands.TEXT),
    "expr": reader(_HELP, operands=Operands.TEXT),
    "cut": reader(
        "-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited"
        " --output-delimiter= --zero-terminated",
        _HELP,
    ),
    "paste": reader("-d= -s -z --delimiters= --serial --zero-terminated", _HELP),
    "tr": reader(
        "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", _HELP, operands=Operands.TEXT
    ),
    "fold": reader("-b -s -w= --bytes --spaces --width=", _HELP),
    "fmt": reader("-c -p= -s -t -u -w= -g= --width= --split-only --uniform-spacing", _HELP),
    "column": reader("-c= -t -s= -o= -n -x -N= -R= -e --table --separator= --output-separator= --columns=", _HELP),
    "expand": reader("-i -t= --initial --tabs=", _HELP),
    "unexpand": reader("-a -t= --all --first-only --tabs=", _HELP),
    "rev": reader(_HELP),
    "comm": reader("-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated", _HELP),
    "join": reader("-a= -e= -i -j= -o= -t= -v= -1= -2= -z --check-order --nocheck-order --header", _HELP),
    "base64": Profile(flags("-d -D -i -w= --decode --ignore-garbage --wrap=", _HELP), Operands.READS),
    "base32": Profile(flags("-d -i -w= --decode --ignore-garbage --wrap=", _HELP), Operands.READS),
    "iconv": Profile(
        flags("-f= -t= -l -c -s --from-code= --to-code= --list --silent"),
        Operands.READS,
        hazards={"-o": "writes a file", "--output": "writes a file"},
    ),
    "xxd": Profile(flags("-a -b -c= -e -g= -h -i -l= -p -s= -u -v -C -E -R="), Operands.READS, check=_one_input),
    "uniq": Profile(
        flags(
            "-c -d -D -f= -i -s= -u -w= -z --count --repeated --all-repeated=? --skip-fields= --group=? --ignore-case",
            "--skip-chars= --unique --check-chars= --zero-terminated",
            _HELP,
        ),
        Operands.READS,
        check=_one_input,
    ),
    "shuf": Profile(
        flags("-e -i= -n= -r -z --echo --input-range= --head-count= --repeat", _HELP),
        Operands.READS,
        hazards={"-o": "writes a file", "--output": "writes a file"},
    ),
    "sort": Profile(
        flags(
            "-b -d -f -g -i -M -h -n -R -r -V -c -C -k= -m -s -t= -u -z --ignore-leading-blanks --dictionary-order",
            "--ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort"
            " --numeric-sort",
            "--random-sort --reverse --sort= --version-sort --check=? --key= --merge --stable"
            " --field-separator= --unique",
            "--zero-terminated --debug --parallel= -S= --buffer-size=",
            _HELP,
        ),
        Operands.READS,
        hazards={
            "-o": "writes a file",
            "--output": "writes a file",
            "--compress-program": "runs a program",
            "--files0-from": "reads every file that a file names",
            "-T": "writes temporary files where it says",
            "--random-source": "reads a file",
            "--temporary-directory": "writes temporary files where it says",
        },
    ),
    "diff": _DIFF,
    "colordiff": _DIFF,
    "sed": Profile(
        flags(
            "-n -E -r -s -u -z -e= -l= --quiet --silent --regexp-extended --separate --unbuffered --null-data",
            "--expression= --line-length= --posix --sandbox --debug",
            _HELP,
        ),
        Operands.TEXT_THEN_READS,
        instead=frozenset({"-e", "--expression"}),
        hazards={
            "-i": "changes files in place",
            "--in-place": "changes files in place",
            "-f": "runs a script from a file",
        },
        check=_sed,
    ),
    "awk": _AWK,
    "gawk": _AWK,
    "mawk": _AWK,
    "nawk": _AWK,
    "jq": Profile(
        flags(
            "-c -r -j -a -s -n -e -S -C -M -R -h -V --compact-output --raw-output --join-output --ascii-output --slurp",
            "--null-input --exit-status --sort-keys --color-output --monochrome-output --raw-input --tab --indent=",
            "--stream --seq --unbuffered --arg== --argjson==",
            _HELP,
        ),
        Operands.TEXT_THEN_READS,
        hazards={
            "-f": "runs a filter from a file",
            "--from-file": "runs a filter from a file",
            "-L": "loads modules",
            "--slurpfile": "reads a file",
            "--rawfile": "reads a file",
        },
        check=_jq,
    ),
}
