"""Programs that find files and lines."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Depth, Operands, Profile, Style, flags

_HELP = "--help --version"
_RUNS, _WRITES, _DELETES = "runs a program", "writes a file", "deletes files"

_GREP = Profile(
    flags(
        "-# -E -F -G -P -e= -i -y -v -w -x -c -L -l -m= -o -q -s -b -H -h -n -T -Z -z -A= -B= -C= -a -I -r -R"
        " -U -d= -D=",
        "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --ignore-case --no-ignore-case",
        "--invert-match --word-regexp --line-regexp --count --color=? --colour=? --files-without-match"
        " --files-with-matches",
        "--max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename"
        " --no-filename --label=",
        "--line-number --initial-tab --null --null-data --after-context= --before-context= --context= --text",
        "--binary-files= --include= --exclude= --exclude-dir= --recursive --dereference-recursive"
        " --line-buffered --binary",
        "--directories= --devices= -V",
        _HELP,
    ),
    Operands.TEXT_THEN_READS,
    instead=frozenset({"-e", "--regexp"}),
    hazards={
        "-f": "takes its patterns from a file, which shows in what matches",
        "--file": "takes its patterns from a file, which shows in what matches",
        "--exclude-from": "reads a file of patterns",
    },
    depth=Depth(
        frozenset({"-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories"}),
        links=frozenset({"-R", "--dereference-recursive"}),
        only=frozenset({"--include"}),
    ),
)
_RG = Profile(
    flags(
        "-A= -B= -C= -c -e= -F -g= -H -I -i -j= -l -L -M= -m= -N -n -o -P -p -q -r= -S -s -t= -T= -U -u -v -w"
        " -x -a -b -. -0 -d= -V",
        "--after-context= --before-context= --context= --count --count-matches --color= --colors= --column"
        " --crlf --debug",
        "--context-separator= --encoding= --field-context-separator= --field-match-separator= --files"
        " --files-with-matches",
        "--files-without-match --fixed-strings --glob= --glob-case-insensitive --heading --no-heading"
        " --hidden --no-hidden",
        "--iglob= --ignore-case --include-zero --invert-match --json --line-buffered --line-number --no-line-number",
        "--line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= --max-filesize= --multiline",
        "--multiline-dotall --no-config --no-filename --no-ignore --no-ignore-vcs --no-messages --null --null-data",
        "--one-file-system --only-matching --passthru --pcre2 --pretty --quiet --regexp= --replace="
        " --smart-case --sort=",
        "--sortr= --stats --text --threads= --trim --type= --type-add= --type-list --type-not= --unicode --no-unicode",
        "--unrestricted --vimgrep --with-filename --word-regexp --case-sensitive --engine= --follow",
        _HELP,
    ),
    Operands.TEXT_THEN_READS,
    instead=frozenset({"-e", "--regexp", "--files"}),
    hazards={
        "--pre": _RUNS,
        "--hostname-bin": _RUNS,
        "-z": "runs external decompressors",
        "--search-zip": "runs external decompressors",
        "-f": "takes its patterns from a file, which shows in what matches",
        "--file": "takes its patterns from a file, which shows in what matches",
        "--ignore-file": "reads a file of patterns",
    },
    depth=Depth(
        dots=frozenset({"-.", "--hidden", "-u", "--unrestricted", "--no-ignore", "--type-add"}),
        links=frozenset({"-L", "--follow"}),
        only=frozenset({"-g", "--glob", "--iglob"}),
    ),
)
_FIND = Profile(
    flags(
        "-H -L -P -O0 -O1 -O2 -O3 -maxdepth= -mindepth= -depth -d -mount -xdev -daystart -follow -noleaf"
        " -ignore_readdir_race",
        "-noignore_readdir_race -warn -nowarn -regextype= -amin= -anewer=< -atime= -cmin= -cnewer=< -ctime="
        " -empty -false",
        "-executable -fstype= -gid= -group= -ilname= -iname= -inum= -ipath= -iregex= -iwholename= -links="
        " -lname= -mmin=",
        "-mtime= -name= -newer=< -nogroup -nouser -path= -perm= -readable -regex= -samefile=< -size= -true"
        " -type= -uid=",
        "-used= -user= -wholename= -writable -xtype= -context= -print -print0 -printf= -ls -prune -quit -a"
        " -and -o -or -not",
        "-help --help -version --version",
    ),
    Operands.READS,
    style=Style.WORDS,
    hazards={
        **dict.fromkeys(("-exec", "-execdir", "-ok", "-okdir"), _RUNS),
        **dict.fromkeys(("-fprint", "-fprint0", "-fprintf", "-fls"), _WRITES),
        "-delete": _DELETES,
        "-files0-from": "reads every file that a file names",
    },
)
_FD = Profile(
    flags(
        "-H -I -u -s -i -g -F -a -l -L -p -d= -t= -e= -S= -E= -c= -j= -0 -1 -q -h -V --hidden --no-ignore"
        " --unrestricted",
        "--case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details"
        " --follow --full-path",
        "--max-depth= --min-depth= --exact-depth= --type= --extension= --size= --exclude= --changed-within=",
        "--changed-before= --color= --threads= --max-results= --print0 --prune --strip-cwd-prefix --quiet",
        _HELP,
    ),
    Operands.TEXT_THEN_READS,
    hazards={"-x": _RUNS, "--exec": _RUNS, "-X": _RUNS, "--exec-batch": _RUNS, "--base-directory": "works elsewhere"},
)

PROFILES: Mapping[str, Profile] = {
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG,
    "find": _FIND,
    "fd": _FD,
    "fdfind": _FD,
}
