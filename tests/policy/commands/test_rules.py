"""Command rules: what a rule covers, what it never covers, and what is wrong with a rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolcrib.policy.commands import CommandRule, CommandRules, CommandTarget, decide_commands
from toolcrib.policy.rules import Layer
from toolcrib.policy.verdict import Verdict
from toolcrib.values.refusal import ConfigError
from toolcrib.values.target import Target, TargetKind

Declare = Callable[[str], CommandTarget]

HARMLESS = """
git status ¦ git status -sb ¦ git --no-pager log --oneline -5 ¦ git log -n 5 --format=%H -- src ¦ git log -p -S needle ¦ git log --stat
git diff --cached ¦ git diff HEAD~1 -- a.txt ¦ git diff --stat main..HEAD ¦ git show HEAD:README.md ¦ git show --name-only HEAD
git blame -L 1,10 a.py ¦ git branch ¦ git branch -a ¦ git branch --show-current ¦ git branch feature/x ¦ git tag -l ¦ git remote -v
git rev-parse --abbrev-ref HEAD ¦ git rev-parse --show-toplevel ¦ git ls-files ¦ git ls-files -m ¦ git stash list ¦ git stash show -p
git grep -n needle ¦ git shortlog -sn ¦ git describe --tags --always ¦ git reflog ¦ git cat-file -p HEAD ¦ git config --get user.name
git add . ¦ git add -A ¦ git add src/a.py ¦ git commit -m message ¦ git commit -am 'fix: x' ¦ git switch main ¦ git switch -c x
git checkout -b x ¦ git mv a b ¦ git worktree list ¦ git merge-base main HEAD ¦ git submodule status
ls ¦ ls -la ¦ ls -lah src ¦ ls --color=never ¦ cat README.md ¦ cat -n a ¦ head -5 a ¦ head -n 20 a ¦ tail -n 5 a ¦ tail -f log ¦ wc -l a b
pwd ¦ whoami ¦ id -u ¦ uname -a ¦ date ¦ date +%s ¦ date -d yesterday +%F ¦ which python ¦ du -sh . ¦ df -h ¦ stat a ¦ file a ¦ tree -L 2
find . -name '*.py' -type f ¦ find . -maxdepth 2 -type d ¦ find src -newer a -print0 ¦ find . ( -name a -o -name b ) -prune
grep -rn 'def main' src ¦ grep -i x a ¦ grep -E 'a|b' a ¦ grep -c x a ¦ grep --include='*.py' -r x . ¦ grep -A3 -B3 x a ¦ grep -e x a
rg -n TODO src ¦ rg needle ¦ rg -l x ¦ rg -t py x ¦ rg --files ¦ rg -g '*.py' x ¦ rg -i 'a b' src tests ¦ rg -C 3 x
sort -k2 -n t.txt ¦ sort -u a ¦ sort -t, -k1,1 a ¦ uniq -c ¦ cut -d: -f1 a ¦ tr a-z A-Z ¦ diff -u a b ¦ diff -r a b ¦ cmp a b ¦ comm -12 a b
sed -n 1,20p a ¦ sed -n '/x/,/y/p' a ¦ sed 's/a/b/g' a ¦ sed -E 's|a(b)|\\1|' a ¦ sed -e 's/a/b/' -e 's/c/d/' a ¦ sed '1d;$d' a ¦ sed 5q a
sed y/abc/xyz/ a ¦ sed '/a/{s/b/c/;p}' a ¦ sed '1i hello' a ¦ sed '1!G;h;$!d' a ¦ sed -n '/a/{p;q}' a ¦ sed ':a;N;$!ba;s/\\n/ /g' a ¦ sed 's/a/b/;t;d' a
awk '{print $1}' a ¦ awk -F: '{print $2, $NF}' a ¦ awk 'NR==1' a ¦ awk '/x/ {n++} END {print n}' a
awk 'NR>1 {print $1}' a ¦ awk '$3 > 5' a ¦ awk 'length > 80' a ¦ awk '/a|b/' a ¦ awk 'a || b' a ¦ awk '{if ($1>2) print $2}' a ¦ awk '{gsub(/a|b/,"x"); print "a > b"}' a
jq . a.json ¦ jq -r .name a.json ¦ jq '.items[] | .id' a.json ¦ jq -c 'map(.env)' a.json ¦ jq --arg n 1 '.[$n]' a.json ¦ cat a.json | jq --argjson n 1 '. + $n'
tar -tf a.tar ¦ tar -tzf a.tgz ¦ tar tvf a.tar ¦ tar -t -f a.tar ¦ tar --list --file=a.tar ¦ unzip -l a.zip ¦ zipinfo a.zip ¦ zip -sf a.zip
echo hi ¦ echo -n hi ¦ printf '%s' x ¦ basename a/b ¦ dirname a/b ¦ realpath a ¦ readlink -f a ¦ md5sum a ¦ sha256sum a
seq 1 10 ¦ nproc ¦ true ¦ sleep 1 ¦ mkdir -p build ¦ touch a ¦ xxd a ¦ od -c a ¦ nl a ¦ column -t a ¦ base64 a
python --version ¦ node -v ¦ npm -v ¦ npm ls ¦ pip list ¦ pip show x ¦ cargo --version ¦ go version ¦ make -v ¦ docker ps ¦ ruff version
"""  # noqa: E501 - a table of commands

HARMFUL = """
git -c core.pager=x log ¦ git -C /x status ¦ git --git-dir=/x status ¦ git --exec-path=/x status ¦ git --config-env=a=b status
git log --output=/x ¦ git log --outp=/x ¦ git diff --ext-diff ¦ git diff --no-index a b ¦ git show --textconv ¦ git grep -Ox a
git grep --open-files-in-pager=x a ¦ git blame --contents /x a ¦ git archive -o /x HEAD ¦ git archive --remote=x HEAD ¦ git bundle create x
git fetch ¦ git pull ¦ git push ¦ git push --force ¦ git clone x ¦ git ls-remote x ¦ git remote add a b ¦ git remote show origin
git submodule foreach x ¦ git submodule update ¦ git rebase -i x ¦ git rebase x ¦ git merge x ¦ git cherry-pick x ¦ git bisect run x
git reset --hard ¦ git checkout -- . ¦ git checkout main ¦ git checkout -f ¦ git restore . ¦ git clean -fdx ¦ git stash ¦ git stash drop
git stash pop ¦ git branch -D x ¦ git branch -m a b ¦ git tag -d x ¦ git config a b ¦ git config --global alias.x y ¦ git config -l
git commit ¦ git commit --amend ¦ git commit --no-verify -m x ¦ git commit -S -m x ¦ git rm a ¦ git gc ¦ git filter-branch x ¦ git am x
git apply x ¦ git hook run x ¦ git difftool ¦ git mergetool ¦ git help x ¦ git daemon ¦ git instaweb ¦ git send-email ¦ git credential fill
git add -f x ¦ git worktree add x ¦ git replace a b ¦ git notes add ¦ git update-index x ¦ git hash-object -w x ¦ git p4 ¦ git svn ¦ git x
git -p log ¦ git --paginate log ¦ git log --show-signature
find . -exec x ; ¦ find . -execdir x ; ¦ find . -ok x ; ¦ find . -delete ¦ find . -fprint x ¦ find . -fls x ¦ find . -fprintf x y
find . -files0-from x ¦ find -D exec . ¦ sort -o x a ¦ sort -ox a ¦ sort --output=x a ¦ sort --compress-program=x a ¦ sort -T /x a
sort --files0-from=x ¦ sed -i s/a/b/ a ¦ sed -n 'w x' a ¦ sed 's/a/b/w x' a ¦ sed 's/a/b/e' a ¦ sed 1e a ¦ sed -f x a ¦ sed 'r /x' a
sed --in-place=x s/a/b/ a ¦ sed -n '1,5p;w x' a ¦ sed 's/a/b/;1r /x' a ¦ awk 'BEGIN{system("x")}' ¦ awk '{print > "x"}' a ¦ awk -f x a
awk '{print | "x"}' a ¦ awk 'BEGIN{while(("x"|getline)>0)print}' ¦ awk '@load "x"' ¦ awk -i x y ¦ awk 'BEGIN{print ENVIRON["X"]}'
awk 'BEGIN{ARGV[1]=".env";ARGC=2}{print}' a ¦ awk 'NR>1{print >"x"}' a ¦ awk '{print $1, $2 > $3}' a ¦ awk '{print "x" |& "x"}' a ¦ awk '{print (1>2) > "x"}' a
awk '{ if (x) /"/; print "x" | "x" }' a ¦ awk '/[/"]/{print | "x" "/"}' a ¦ awk '{x = y / "|" / z; print 1 | "x" "/"}' a ¦ awk '{print a ? b : c > "x"}' a
sed '/a/{e x' a ¦ sed 'y/a/b/;e x' a ¦ sed 'y/a/b/e' a ¦ sed '{p;e}' a ¦ sed '{p}w x' a ¦ sed ':a;e' a ¦ sed 'b;e x' a ¦ sed '$!{w x' a ¦ sed 'ba e' a
python ¦ node ¦ bash ¦ echo 'import x' | python ¦ cat a | sh ¦ psql ¦ sqlite3
tar -xf a ¦ tar -cf a b ¦ tar --to-command=x -tf a ¦ tar -I x -tf a ¦ tar --checkpoint-action=exec=x -tf a ¦ tar -tf host:a ¦ tar xf a ¦ tar xtf a ¦ tar cf a -t b
zip a b ¦ zip -T -TT x a ¦ unzip a ¦ unzip -p a ¦ rg --pre x y ¦ rg --hostname-bin x y ¦ rg -z x ¦ rg -f x ¦ rg --search-zip x
grep -f x a ¦ grep --file=x a ¦ curl https://x ¦ curl -o a https://x ¦ curl -d @x https://x ¦ curl -T x https://x ¦ curl -K x ¦ wget https://x
wget --post-file=x y ¦ wget -O x y ¦ ssh host ¦ ssh -o ProxyCommand=x host ¦ scp a b:c ¦ rsync -e x a b ¦ nc -e x y 1
env x ¦ env -S x ¦ env ¦ xargs rm ¦ xargs -I{} x {} ¦ python -c x ¦ python x.py ¦ python -m http.server ¦ node -e x ¦ node x.js
npm install x ¦ npm run build ¦ npm exec x ¦ npx x ¦ npm --prefix /x ls ¦ pip install x ¦ cargo run ¦ cargo test ¦ cargo install x
make test ¦ make -f x ¦ docker run x ¦ docker exec x y ¦ kubectl get pods ¦ perl -e x ¦ ruby -e x ¦ php -r x ¦ bash -c x ¦ sh x.sh
tee x y --help -p ¦ date -s x ¦ date -f x ¦ date 0101 ¦ hostname x ¦ jq env a ¦ jq -n '$ENV.X' ¦ jq -L x . a ¦ jq --rawfile a b . c
uniq a b ¦ xxd a b ¦ xxd -r a ¦ iconv -o x a ¦ shuf -o x a ¦ tree -o x ¦ file -f x ¦ file -C ¦ base64 -o x a ¦ wc --files0-from=x
split -b 1 a ¦ dd if=a of=b ¦ cp -f a b ¦ mv -f a b ¦ rm -rf a ¦ ln -s a b ¦ chmod +x a ¦ chown a b ¦ kill 1 ¦ sudo ls ¦ nohup ls
timeout 5 ls ¦ nice ls ¦ watch ls ¦ strace ls ¦ printf -v x y ¦ vim a ¦ less a ¦ man ls ¦ psql x ¦ sqlite3 a ¦ toolcrib policy check
"""  # noqa: E501 - a table of commands

FAMILIES = sorted(
    {
        line.split()[0]
        for table in (HARMLESS, HARMFUL)
        for row in table.strip().splitlines()
        for line in row.split(" ¦ ")
    }
)


def commands_of(table: str) -> list[str]:
    """The commands of a table; parentheses and the end of find's actions stand as a shell would have them quoted."""
    found = [each.strip() for row in table.strip().splitlines() for each in row.split(" ¦ ")]
    return [each.replace(" ( ", " '(' ").replace(" ) ", " ')' ").replace(" ;", " ';'") for each in found]


EVERY_FAMILY = CommandRules(tuple(CommandRule(Verdict.ALLOW, name) for name in FAMILIES))


@pytest.mark.parametrize("text", commands_of(HARMLESS))
def test_a_rule_for_a_program_covers_its_everyday_use(text: str, target: Declare) -> None:
    decision = decide_commands(EVERY_FAMILY, [target(text)])
    assert decision is not None
    assert (decision.verdict, decision.because) == (Verdict.ALLOW, decision.because)


@pytest.mark.parametrize("text", commands_of(HARMFUL))
def test_a_rule_for_a_program_does_not_cover_what_else_it_can_do(text: str, target: Declare) -> None:
    decision = decide_commands(EVERY_FAMILY, [target(text)])
    assert decision is not None
    assert decision.verdict is Verdict.ASK


COVERED = [
    ("git push", "git push origin main", Verdict.ALLOW),
    ("git push", "git push --force", Verdict.ASK),
    ("git push", "git push --receive-pack=x", Verdict.ASK),
    ("git push", "git -c a=b push", Verdict.ASK),
    ("git reset --hard", "git reset --hard", Verdict.ALLOW),
    ("git reset", "git reset --hard", Verdict.ASK),
    ("python -m pytest", "python -m pytest -q tests", Verdict.ALLOW),
    ("python -m pytest", "python3 -m pytest", Verdict.ASK),
    ("python -m pytest", "python -m pytest -p evil", Verdict.ASK),
    ("python -m pytest", "python -m pytester", Verdict.ASK),
    ("npm run", "npm run lint", Verdict.ALLOW),
    ("npm run", "npm run build -- --mode=dev", Verdict.ALLOW),
    ("npm run", "npm run build --script-shell=x", Verdict.ASK),
    ("npm run lint", "npm run deploy", Verdict.ASK),
    ("make test", "make test -j4", Verdict.ALLOW),
    ("make test", "make test deploy", Verdict.ASK),
    ("make test", "make test SHELL=/x", Verdict.ASK),
    ("cargo test", "cargo test --workspace -- --nocapture", Verdict.ALLOW),
    ("cargo test", "cargo test --config x", Verdict.ASK),
    ("mytool", "mytool", Verdict.ALLOW),
    ("mytool", "mytool lint", Verdict.ASK),
    ("mytool lint", "mytool lint src", Verdict.ALLOW),
    ("mytool lint", "mytool lint --fix", Verdict.ASK),
    ("mytool lint", "mytool linter", Verdict.ASK),
    ("git", "gitk", Verdict.ASK),
    ("git", "./git status", Verdict.ASK),
    ("git", "/opt/git status", Verdict.ASK),
    ("git", "/usr/bin/git status", Verdict.ALLOW),
    ("/p/tool", "./tool", Verdict.ALLOW),
    ("/p/tool", "./tool x", Verdict.ASK),
    ("/p/tool check", "./tool check x", Verdict.ALLOW),
    ("rm", "rm a", Verdict.ALLOW),
    ("env", "env", Verdict.ASK),
    ("git", "'git status'", Verdict.ASK),
    ("git", "git status; git diff | git log", Verdict.ALLOW),
    ("git", "git status && touch x", Verdict.ASK),
    ("git", "git status > x", Verdict.ASK),
    ("ls", "ls *.py", Verdict.ALLOW),
    ("sort", "sort *.txt", Verdict.ASK),
    ("sort", "sort ./*.txt", Verdict.ALLOW),
    ("toolcrib", "toolcrib approvals approve 1", Verdict.ASK),
    ("toolcrib approvals", "toolcrib approvals", Verdict.ASK),
]


@pytest.mark.parametrize(("pattern", "text", "verdict"), COVERED)
def test_a_rule_covers_the_words_it_names_and_harmless_flags(
    pattern: str, text: str, verdict: Verdict, target: Declare
) -> None:
    decision = decide_commands(CommandRules((CommandRule(Verdict.ALLOW, pattern),)), [target(text)])
    assert decision is not None
    assert decision.verdict is verdict


def test_an_operator_can_name_further_flags(target: Declare) -> None:
    rules = CommandRules((CommandRule(Verdict.ALLOW, "mytool lint", flags=("--fix", "--level=")),))
    for text, verdict in {
        "mytool lint --fix": Verdict.ALLOW,
        "mytool lint --level 3 src": Verdict.ALLOW,
        "mytool lint --fix=x": Verdict.ASK,
        "mytool lint --other": Verdict.ASK,
    }.items():
        decision = decide_commands(rules, [target(text)])
        assert decision is not None
        assert decision.verdict is verdict, text


DENIED = [
    "rm x",
    "/bin/rm x",
    "sudo rm x",
    "sudo -u root rm -rf x",
    "timeout 5 rm x",
    "nohup rm x",
    "env A=1 rm x",
    "env -S 'rm x'",
    "env env env env env env env env rm x",
    "find . -exec rm {} ';'",
    "xargs rm",
    "xargs -I{} sh -c 'rm {}'",
    "sh -c 'rm x'",
    "bash -c \"sh -c 'rm x'\"",
    'sh -c \'sh -c "sh -c \\"sh -c \\\\\\"sh -c ls\\\\\\"\\""\'',
    "ls; rm x",
    "ls && rm x",
    "ls | rm x",
    "echo $(rm x)",
    "echo `rm x`",
    "if true; then rm x; fi",
    "r\\m x",
    "'rm' x",
    "/bin/r? x",
    "nice -n 5 rm x",
    "busybox rm x",
    "time rm x",
    "RM x",
    "git -c a=b push",
    "git push",
    "git --no-pager push",
    "git -C /x push origin",
    "sh -c 'git push'",
    "git commit -m x && git push",
    "command rm x",
    "exec rm x",
    "env -S'rm x'",
    "echo rm x | sh",
    "printf 'rm x' | bash",
    "docker exec c rm x",
    "docker run --rm i rm x",
    "kubectl exec p -- rm x",
    "git bisect run rm x",
    "git submodule foreach 'rm x'",
]


@pytest.mark.parametrize(
    "text", ["docker rm x", "git rm x", "npm run rm", "echo rm x", "git commit -m 'rm x'", "ls rm"]
)
def test_a_word_that_is_no_program_is_not_denied(text: str, target: Declare) -> None:
    decision = decide_commands(CommandRules((CommandRule(Verdict.DENY, "rm"),)), [target(text)])
    assert decision is not None
    assert decision.verdict is Verdict.ASK


@pytest.mark.parametrize("text", DENIED)
def test_a_denied_command_is_denied_however_it_is_wrapped(text: str, target: Declare) -> None:
    rules = CommandRules(
        (
            CommandRule(Verdict.DENY, "rm "),
            CommandRule(Verdict.DENY, "git push "),
            *EVERY_FAMILY.rules,
        )
    )
    decision = decide_commands(rules, [target(text)])
    assert decision is not None
    assert decision.verdict is Verdict.DENY


@pytest.mark.parametrize(
    "text", ["ls rm", "git commit -m 'git push'", "git log --grep=push", "echo rm", "rmdir x", "grep rm x"]
)
def test_a_denied_name_as_mere_text_is_not_denied(text: str, target: Declare) -> None:
    rules = CommandRules((CommandRule(Verdict.DENY, "rm"), CommandRule(Verdict.DENY, "git push")))
    decision = decide_commands(rules, [target(text)])
    assert decision is not None
    assert decision.verdict is not Verdict.DENY


def test_the_strictest_rule_wins_and_a_project_cannot_allow(target: Declare) -> None:
    rules = (
        CommandRule(Verdict.ALLOW, "git"),
        CommandRule(Verdict.ASK, "git commit", because="I want to see commits"),
        CommandRule(Verdict.ALLOW, "ls", layer=Layer.PROJECT),
    )
    told = {
        text: decide_commands(CommandRules(rules), [target(text)]) for text in ("git status", "git commit -m x", "ls")
    }
    assert {text: decision and decision.verdict for text, decision in told.items()} == {
        "git status": Verdict.ALLOW,
        "git commit -m x": Verdict.ASK,
        "ls": Verdict.ASK,
    }


BAD = [
    "",
    " ",
    "*",
    "git *",
    "git:*",
    "git; rm",
    "git | cat",
    "$X",
    "git > x",
    "./git",
    "sub/git",
    "git\u200b",
    "(git)",
    "'git",
]


@pytest.mark.parametrize("pattern", BAD)
def test_a_pattern_that_is_not_plain_words_is_refused_when_it_is_loaded(pattern: str) -> None:
    with pytest.raises(ConfigError):
        CommandRule(Verdict.ALLOW, pattern)


def test_a_rule_that_fails_its_own_examples_is_refused() -> None:
    CommandRule(Verdict.ALLOW, "git", match=("git status",), not_match=("git push", "git -c a=b status", "ls"))
    with pytest.raises(ConfigError, match="does not cover its own example"):
        CommandRule(Verdict.ALLOW, "git", match=("git push",))
    with pytest.raises(ConfigError, match="which it must not"):
        CommandRule(Verdict.ALLOW, "git", not_match=("git status",))
    with pytest.raises(ConfigError, match="is not a flag"):
        CommandRule(Verdict.ALLOW, "git", flags=("x",))


def test_rules_that_cover_next_to_nothing_are_pointed_out() -> None:
    rules = CommandRules(
        tuple(CommandRule(Verdict.ALLOW, name) for name in ("python", "sh", "mytool", "git", "git push"))
    )
    assert [warning.split(":")[0] for warning in rules.warnings] == ["'python'", "'sh'", "'mytool'"]


def test_a_call_that_runs_no_command_is_none_of_this() -> None:
    assert decide_commands(CommandRules(), [Target(TargetKind.PATH, "/x")]) is None


SCOPES = {
    "git status": "exe=/usr/bin/git cwd=/p",
    "git commit -m x": "exe=/usr/bin/git cwd=/p",
    "git push origin": "exe=/usr/bin/git cwd=/p does=push",
    "git -c a=b status": "",
    "git push --force": "",
    "npm run lint": "exe=/usr/bin/npm cwd=/p does=run",
    "ls | wc -l": "exe=/usr/bin/ls cwd=/p | exe=/usr/bin/wc cwd=/p",
    "mytool lint 'a b'": "exe=/usr/bin/mytool cwd=/p args=lint 'a b'",
    "rm x": "exe=/usr/bin/rm cwd=/p",
    "rm -rf x": "",
    "sh -c ls": "",
    "python x.py": "",
    "env ls": "",
    "sudo ls": "",
    "./tool": "",
    "/opt/git status": "",
    "toolcrib tools list": "",
    "ls $(x)": "",
}


@pytest.mark.parametrize(("text", "scope"), SCOPES.items())
def test_a_session_answer_covers_one_program_in_one_folder_at_most(text: str, scope: str, target: Declare) -> None:
    assert target(text).scope == scope
