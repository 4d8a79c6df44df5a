"""git: what only looks, what records work in the repository, and what throws work away or reaches out.

A rule for `git` covers looking and ordinary recording (add, commit with a message, a new branch). What drops work,
rewrites history, talks to another machine or runs something is covered only by a rule that names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Depth, Operands, Parsed, Profile, flags, named

_RUNS, _WRITES, _PAGES = "runs a program", "writes a file", "runs the pager"
_HAZARDS = {
    "-c": "sets configuration, and some of that names programs to run",
    "-C": "works in another repository, whose configuration names programs to run",
    "--config-env": "sets configuration, and some of that names programs to run",
    "--exec-path": "says where git's own programs are",
    "--git-dir": "works on another repository",
    "--work-tree": "works on other files",
    "--output": _WRITES,
    "-O": "opens the matches in a program",
    "--open-files-in-pager": "opens the matches in a program",
    "--ext-diff": _RUNS,
    "--textconv": _RUNS,
    "--upload-pack": _RUNS,
    "--no-index": "reads files outside the repository",
    "--contents": "prints any file",
    "-S": "signs, which runs a program",
    "--gpg-sign": _RUNS,
    "--show-signature": _RUNS,
    "--amend": "rewrites a commit",
    "--no-verify": "goes past the checks of the repository",
    "-f": "forces",
    "--force": "forces",
}
_DIFF = (
    "-p -u -s -U= --patch --no-patch --unified= --raw --patch-with-raw --indent-heuristic"
    " --no-indent-heuristic --minimal",
    "--patience --histogram --anchored= --diff-algorithm= --stat=? --stat-width= --stat-count="
    " --compact-summary --numstat",
    "--shortstat --dirstat=? --cumulative --summary --patch-with-stat -z --name-only --name-status"
    " --submodule=? --color=?",
    "--no-color --color-moved=? --color-words=? --word-diff=? --word-diff-regex= --no-renames --rename-empty"
    " --check --full-index",
    "--binary --abbrev=? --break-rewrites=? --find-renames=? --find-copies=? --find-copies-harder"
    " --irreversible-delete",
    "--diff-filter= --pickaxe-all --pickaxe-regex --relative=? --no-relative --text --ignore-cr-at-eol"
    " --ignore-space-at-eol",
    "--ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context= --function-context"
    " --exit-code --quiet",
    "--no-ext-diff --no-textconv --ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix --line-prefix="
    " --merge-base",
    "-a -b -w -B=? -M=? -C=? -D -l= -G= -R -W",
)
_LOG = (
    "-# -n= --follow --no-decorate --decorate=? --decorate-refs= --source --mailmap --full-diff --log-size"
    " -L= --oneline --graph",
    "--pretty=? --format= --abbrev-commit --no-abbrev-commit --encoding= --notes=? --no-notes --max-count=",
    "--skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i",
    "--regexp-ignore-case --basic-regexp --extended-regexp -E --fixed-strings -F --perl-regexp -P"
    " --remove-empty --merges",
    "--no-merges --min-parents= --max-parents= --first-parent --all --branches=? --tags=? --remotes=? --glob="
    " --exclude=",
    "--reflog --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path",
    "--show-pulls --date-order --author-date-order --topo-order --reverse --no-walk=? --date= --parents --children",
    "--left-right --cherry --cherry-pick --cherry-mark --left-only --right-only --relative-date --count -g"
    " --walk-reflogs",
    "-c --cc -m -r -t --root --diff-merges= --no-diff-merges --ignore-missing --stdin-paths --expand-tabs=?"
    " --no-expand-tabs",
)


def _look(*texts: str, operands: Operands = Operands.READS, hazards: Mapping[str, str] = _HAZARDS) -> Profile:
    return Profile(flags(*texts), operands, hazards=hazards)


def _new_branch(parsed: Parsed) -> str | None:
    if parsed.of("-b"):
        return None
    return "without -b it can drop changes; `git switch` changes branches and keeps them"


def _with_message(parsed: Parsed) -> str | None:
    return None if parsed.of("-m", "--message", "-F", "--file") else "without -m it opens an editor"


_LOG_FLAGS = (*_DIFF, *_LOG)
_SUBCOMMANDS: Mapping[str, Profile] = {
    "status": _look(
        "-s -b -v -u=? -z --short --branch --show-stash --porcelain=? --long --verbose --untracked-files=?",
        "--ignore-submodules=? --ignored=? --column=? --no-column --ahead-behind"
        " --no-ahead-behind --renames"
        " --no-renames --find-renames=?",
    ),
    "log": Profile(flags(*_LOG_FLAGS, "-S="), Operands.READS, hazards=_HAZARDS),
    "show": Profile(flags(*_LOG_FLAGS, "-S="), Operands.READS, hazards=_HAZARDS),
    "diff": Profile(
        flags(*_DIFF, "-S= --cached --staged -c --cc -0 -1 -2 -3 --base --ours --theirs"),
        Operands.READS,
        hazards=_HAZARDS,
    ),
    "shortlog": _look("-n -s -e -w=? -c --numbered --summary --email --format= --committer --group=", *_LOG),
    "whatchanged": Profile(flags(*_LOG_FLAGS, "-S="), Operands.READS, hazards=_HAZARDS),
    "rev-list": _look(
        *_LOG, "--objects --disk-usage --max-age= --min-age= --header --timestamp", operands=Operands.READS
    ),
    "rev-parse": _look(
        "--verify -q --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel",
        "--show-prefix --show-cdup --git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir",
        "--is-bare-repository --is-shallow-repository --absolute-git-dir --show-superproject-working-tree",
        "--all --branches=? --tags=? --remotes=? --revs-only --no-revs --flags --no-flags --git-path=",
        "--show-object-format=? --path-format=",
        hazards={},
    ),
    "blame": _look(
        "-b -c -e -f -l -L= -M=? -C=? -n -p -s -t -w --root --show-stats --date= --line-porcelain --porcelain",
        "--incremental --show-name --show-number --show-email --abbrev= --ignore-rev= --first-parent --reverse",
        "--score-debug --color-lines --color-by-age",
        hazards={**_HAZARDS, "-S": "reads a file of revisions"},
    ),
    "annotate": _look("-l -n -t -L= -w"),
    "grep": Profile(
        flags(
            "-# -a -I -i -w -v -h -H -E -G -P -F -n -l -L -z -c -p -W -q -o -r -e= -f=< -A= -B= -C= -m= --text",
            "--ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp",
            "--fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null",
            "--only-matching --count --color=? --no-color --break --heading --show-function --function-context",
            "--after-context= --before-context= --context= --threads= --and --or --not --all-match --quiet --untracked",
            "--cached --recurse-submodules --max-depth= --recursive --no-recursive --no-textconv",
        ),
        Operands.TEXT_THEN_READS,
        instead=frozenset({"-e", "-f"}),
        hazards={**_HAZARDS, "--no-index": "searches files outside the repository"},
        depth=Depth(frozenset({"--untracked"})),
    ),
    "ls-files": _look(
        "-c -d -m -o -i -s -u -k -z -t -v -f -x= -X=< --cached --deleted --modified --others --ignored --stage",
        "--unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude= --exclude-from=<",
        "--exclude-standard --error-unmatch --full-name --recurse-submodules --abbrev=? --format=",
    ),
    "ls-tree": _look(
        "-d -r -t -l -z --long --name-only --name-status --object-only --abbrev=? --full-name --full-tree --format="
    ),
    "cat-file": _look("-p -t -s -e"),
    "describe": _look(
        "--dirty=? --broken=? --all --tags --contains --abbrev= --candidates= --exact-match"
        " --debug --long"
        " --match= --exclude= --always --first-parent",
        operands=Operands.TEXT,
    ),
    "name-rev": _look("--tags --refs= --exclude= --all --name-only --always --no-undefined", operands=Operands.TEXT),
    "merge-base": _look("-a --all --octopus --independent --is-ancestor --fork-point", operands=Operands.TEXT),
    "diff-tree": Profile(flags(*_LOG_FLAGS, "-S= --no-commit-id"), Operands.READS, hazards=_HAZARDS),
    "diff-index": Profile(flags(*_DIFF, "-S= --cached -m -c --cc"), Operands.READS, hazards=_HAZARDS),
    "diff-files": Profile(flags(*_DIFF, "-S= -0 -1 -2 -3 -c --cc"), Operands.READS, hazards=_HAZARDS),
    "for-each-ref": _look(
        "--count= --sort= --format= --points-at= --merged=? --no-merged=? --contains=? --color=?",
        operands=Operands.TEXT,
    ),
    "show-ref": _look(
        "--head --tags --heads --branches -d -s --hash=? --verify --abbrev=? -q --quiet", operands=Operands.TEXT
    ),
    "symbolic-ref": _look("-q --quiet --short", operands=Operands.NOTHING),
    "count-objects": _look("-v -H --verbose --human-readable", operands=Operands.NOTHING),
    "check-ignore": _look("-q -v -n --quiet --verbose --non-matching --no-index", hazards={}),
    "check-attr": _look("-a --all --cached"),
    "var": _look("-l", operands=Operands.NOTHING),
    "version": _look("--build-options", operands=Operands.NOTHING),
    "branch": _look(
        "-a -r -v -q -i --all --remotes --list --verbose --show-current --column=? --no-column --sort= --color=?",
        "--no-color --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --format= --abbrev=?"
        " --ignore-case --no-track",
        operands=Operands.TEXT,
    ),
    "tag": _look(
        "-l -n=? -i --list --sort= --color=? --contains=? --no-contains=? --merged=? --no-merged=? --points-at=",
        "--format= --column=? --no-column --ignore-case",
        operands=Operands.TEXT,
    ),
    "remote": Profile(
        flags("-v --verbose"),
        hazards=_HAZARDS,
        subcommands={
            "get-url": _look("--push --all", operands=Operands.TEXT),
            "add": named("-t= -m="),
            "remove": named(),
            "rename": named(),
            "set-url": named("--push --add --delete"),
        },
    ),
    "stash list": Profile(flags(*_LOG_FLAGS, "-S="), Operands.TEXT, hazards=_HAZARDS),
    "stash show": Profile(flags(*_DIFF, "-S= --include-untracked --only-untracked"), Operands.TEXT, hazards=_HAZARDS),
    "stash": named("-u -q -k -m= --include-untracked --keep-index --message= --quiet --index"),
    "worktree list": _look("-v -z --porcelain --verbose", operands=Operands.NOTHING),
    "submodule status": _look("--cached --recursive", operands=Operands.READS),
    "reflog": Profile(
        flags(*_LOG_FLAGS, "-S="),
        hazards=_HAZARDS,
        subcommands={"show": Profile(flags(*_LOG_FLAGS, "-S="), Operands.TEXT, hazards=_HAZARDS)},
    ),
    "config --get": _look(
        "--show-origin --show-scope --local --global --system --type= --bool --int --default=", operands=Operands.TEXT
    ),
    "notes list": _look(operands=Operands.TEXT),
    "bisect log": _look(operands=Operands.NOTHING),
    "add": _look(
        "-A -u -n -v -N --all --update --dry-run --verbose --intent-to-add --ignore-errors --refresh --ignore-missing"
    ),
    "commit": Profile(
        flags(
            "-m= -a -s -q -v -o --message= --all --signoff --quiet --verbose --allow-empty --dry-run --short --branch",
            "--porcelain --long --no-edit --only --trailer= --status --no-status --cleanup= -F=< --file=<",
        ),
        Operands.READS,
        hazards=_HAZARDS,
        check=_with_message,
    ),
    "switch": _look(
        "-c= -q --create= --quiet --no-progress --progress -t --track=? --no-track --guess --no-guess -d --detach",
        operands=Operands.TEXT,
    ),
    "checkout": Profile(
        flags("-b= -q --quiet --no-track -t --track=?"), Operands.TEXT, hazards=_HAZARDS, check=_new_branch
    ),
    "mv": Profile(flags("-k -n -v --dry-run --verbose"), Operands.WRITES, hazards=_HAZARDS),
    "init": named("-q --quiet -b= --initial-branch="),
    "push": named("-q -v -n -u --quiet --verbose --dry-run --porcelain --set-upstream --progress --no-progress --tags"),
    "fetch": named("-a -q -v -p -t -n --all --quiet --verbose --prune --tags --no-tags --dry-run --depth= --progress"),
    "pull": named("-q -v --quiet --verbose --ff-only --no-rebase --rebase=? --prune --tags --no-tags --stat --no-stat"),
    "merge": named(
        "-q -v --ff --no-ff --ff-only --squash --stat --no-stat -m= --abort --continue --no-commit --no-edit"
    ),
    "rebase": named("-q -v --abort --continue --skip --onto= --no-autosquash"),
    "cherry-pick": named("-x -n --no-commit --abort --continue --skip"),
    "revert": named("-n --no-commit --no-edit --abort --continue --skip"),
    "restore --staged": _look("-q --quiet", operands=Operands.TEXT),
    "restore -S": _look("-q --quiet", operands=Operands.TEXT),
    "restore --staged --worktree": named("-s= --source= -q --quiet", operands=Operands.WRITES),
    "restore": named("--staged -S --worktree -W -s= --source= -q --quiet", operands=Operands.WRITES),
    "reset": named("-q --quiet --soft --mixed"),
    "rm": named("-n -q -r --cached --dry-run --quiet --ignore-unmatch", operands=Operands.WRITES),
    "clean": named("-n -d -q -x -X -e= --dry-run --quiet --exclude="),
    "gc": named("-q --quiet --auto"),
}

PROFILES: Mapping[str, Profile] = {
    "git": Profile(
        flags("-P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --version -v"),
        subcommands=_SUBCOMMANDS,
        hazards={**_HAZARDS, "-p": _PAGES, "--paginate": _PAGES},
    )
}
