"""Names that always ask, however they are spelled; and names that only look like them."""

import pytest

from toolcrib.workspace.globs import compile_glob
from toolcrib.workspace.patterns import PathRules, names_sensitive

RULES = PathRules()
SENSITIVE = [
    ".env", "config/.env.production", "server.pem", "a/b/tls.KEY", "id_rsa", "/home/me/.ssh/config", "/home/me/.ssh",
    "/home/me/.aws/credentials", "/home/me/.config/gcloud/x.json", "/home/me/.config/gh/hosts.yml",
    "/home/me/.docker/config.json", "/home/me/.kube/config", "/home/me/.netrc", ".npmrc", ".pypirc", ".git-credentials",
    "/home/me/.bash_history", ".ENV", ".Env.", ".env ", "\uff0eenv", ".e\u200bnv", "/etc/shadow", "/proc/1/environ",
    "/proc/self/environ", "/home/me/.gnupg/secring.gpg", "prod.env", "/home/me/.config/rclone/rclone.conf",
    "/home/me/.m2/settings.xml",
    "/home/me/.mozilla/firefox/x/logins.json", "/home/me/Library/Keychains/login.keychain-db", "/home/me/.Xauthority",
    "/etc/security/opasswd", "/etc/NetworkManager/system-connections/home",
    "/home/me/.ipython/profile_default/history.sqlite",
    "infra/terraform.tfstate", "AuthKey.p8",
]  # fmt: skip
HARMLESS = [
    "environment.py", "env", "src/key.py", "monkey.py", "pem.md", "docs/ssh.md", "id_rsa.pub", "/etc/passwd",
    "/proc/cpuinfo", "etc/shadow", "keys/readme", ".environment", "docker/config.json", "credentials.md", "history.py",
    ".env.example",
    "sub/.env.sample", "example.env", "src/env.d.ts", ".config/app.toml", "library/books.py", "profile_default/a.py",
]  # fmt: skip
PROTECTED = [
    ".git/config", "x/.git/hooks/pre-commit", ".GIT/config", ".gitattributes", ".mcp.json", ".Cursor/MCP.json",
    ".toolcrib/approvals.db", ".vscode/tasks.json", ".bashrc", "AGENTS.md", "sub/claude.md", "toolcrib.toml", ".envrc",
    ".git./hooks/x", "x/.git ./config", ".gdbinit", ".psqlrc", "QWEN.md", ".github/instructions/a.md",
    ".jj/config.toml",
]  # fmt: skip
ORDINARY = [
    "conftest.py",
    "package.json",
    "Makefile",
    ".gitignore",
    "git/config",
    "agents.py",
    "src/vscode/x",
    ".github/x",
]


@pytest.mark.parametrize("path", SENSITIVE)
def test_a_name_that_holds_secrets_is_sensitive_however_it_is_spelled(path: str) -> None:
    assert RULES.is_sensitive(path)


@pytest.mark.parametrize("path", HARMLESS)
def test_a_name_that_only_resembles_one_is_not(path: str) -> None:
    assert not RULES.is_sensitive(path)


@pytest.mark.parametrize("path", PROTECTED)
def test_a_file_that_programs_obey_is_protected_at_any_depth(path: str) -> None:
    assert RULES.is_protected(path)


@pytest.mark.parametrize("path", ORDINARY)
def test_an_ordinary_file_is_not_protected(path: str) -> None:
    assert not RULES.is_protected(path)


@pytest.mark.parametrize(
    "glob", [".env", ".{env,foo}", ".e[n]v", "*.pem", "**/.ssh/**", ".env*", "a/{b,.env.*}", "id_*"]
)
def test_a_glob_that_spells_a_sensitive_name_is_noticed(glob: str) -> None:
    assert names_sensitive(glob, RULES)


@pytest.mark.parametrize("glob", ["*", "**/*", "*.py", "*.{ts,tsx}", "src/**", ".*", "*.key.md", "[a-z]*", "?*"])
def test_a_glob_for_anything_is_not_a_request_for_secrets(glob: str) -> None:
    assert not names_sensitive(glob, RULES)


MATCHES = [
    ("**/*.py", "a.py", True), ("**/*.py", "x/y/a.py", True), ("*.py", "x/a.py", False), ("src/**", "src/a/b", True),
    ("src/*/a", "src/x/a", True), ("src/*/a", "src/x/y/a", False), ("a?c", "abc", True), ("a?c", "a/c", False),
    ("[!a]b", "cb", True), ("[!a]b", "/b", False), ("{a,b}/c", "b/c", True), ("x{1,{2,3}}", "x3", True),
    ("[brackets].txt", "b.txt", True), ("a[", "a[", True), ("**", "a/b/c", True), ("a/**/b", "a/b", True),
    ("*" * 60 + "b", "a" * 200, False),
]  # fmt: skip


@pytest.mark.parametrize(("glob", "path", "fits"), MATCHES)
def test_globs_match_as_in_a_shell(glob: str, path: str, fits: bool) -> None:
    assert (compile_glob(glob).match(path) is not None) == fits
