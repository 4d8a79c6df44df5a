"""Names that must not be touched in passing: sensitive (they hold secrets) and protected (they steer programs)."""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum

from toolcrib.values.noun import frozen
from toolcrib.workspace.globs import compile_glob, expand_braces, path_expression
from toolcrib.workspace.lexical import folded

# Each line is matched against whole names, at any depth: `.ssh` covers the folder and everything below it.
SENSITIVE = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "*.jks", "*.ppk",
    "*.keytab", "*.tfstate", "wallet.dat",
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".vault-token", ".config/gcloud", ".config/gh",
    ".config/hub", ".config/git/credentials", ".config/op", ".docker/config.json", ".dockercfg",
    ".netrc", "_netrc", ".git-credentials", ".npmrc", ".pypirc", ".yarnrc.yml", ".pgpass", ".my.cnf", ".s3cfg", ".boto",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json",
    ".terraformrc", ".local/share/keyrings", "library/keychains", ".htpasswd",
    ".authinfo", ".authinfo.gpg", ".xauthority", ".iceauthority", ".databrickscfg", ".snowsql", ".oci", ".fly",
    ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".kaggle/kaggle.json",
    ".huggingface/token", ".cache/huggingface/token", ".config/containers/auth.json", ".config/configstore",
    ".config/doctl", ".config/glab-cli", ".config/rclone", ".config/sops", ".config/heroku", ".electrum", ".ethereum",
    ".mozilla/firefox", ".config/google-chrome", ".config/chromium", ".config/bravesoftware",
    "library/application support/google/chrome", "library/application support/firefox", "library/cookies",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
    ".*_history", ".history", ".lesshst", "fish_history", ".viminfo", "consolehost_history.txt",
    "profile_default/history.sqlite",
)  # fmt: skip
SENSITIVE_HOST = (
    "etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/sudoers", "etc/sudoers.d",
    "etc/ssh/ssh_host_*_key", "etc/krb5.keytab", "proc/[0-9]*", "proc/self", "proc/thread-self", "proc/kcore",
    "dev/mem", "dev/kmem", "run/secrets", "var/run/secrets", "etc/security/opasswd", "etc/kubernetes/*.conf",
    "etc/networkmanager/system-connections", "etc/wireguard", "etc/ssl/private",
)  # fmt: skip
PROTECTED = (
    ".git", ".gitattributes", ".gitmodules", ".gitconfig", ".config/git", ".hg", ".svn", ".husky",
    ".toolcrib", "toolcrib.toml", ".mcp.json", "mcp.json",
    ".vscode", ".idea", ".zed", ".cursor", ".windsurf", ".devcontainer", ".claude", ".codex", ".gemini", ".continue",
    ".aider.conf.yml", ".roo", ".kiro", ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".config/nvim", ".emacs", ".emacs.d",
    ".nanorc", ".dir-locals.el", "*.code-workspace",
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish", ".inputrc", ".envrc",
    ".xprofile", ".xinitrc", ".xsessionrc", ".tmux.conf", ".screenrc", ".pdbrc", ".pythonrc", ".config/autostart",
    ".config/systemd", "library/launchagents", ".hgrc", ".jj", ".gdbinit", ".lldbinit", ".irbrc", ".pryrc", ".rprofile",
    ".psqlrc", ".sqliterc", ".curlrc", ".wgetrc", ".mailcap", ".lesskey",
    "agents.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules", ".windsurfrules",
    ".clinerules", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".junie",
    ".goosehints", ".amazonq", ".kilocode", ".trae", ".augment", ".augment-guidelines", ".openhands", "qwen.md",
    ".qwen", ".opencode", "opencode.json", ".crush.json", "crush.md", "claude_desktop_config.json",
    "agents.override.md", "agents.local.md", "gemini.local.md", ".fleet", ".yarnrc", ".cargo/config",
    ".cargo/config.toml", ".pre-commit-config.yaml", ".lefthook.yml", "lefthook.yml",
)  # fmt: skip
INSTRUCTIONS = frozenset({"agents.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules"})
PACKAGE_STORES = frozenset({"node_modules", "site-packages", "dist-packages", ".venv", "venv", ".git", "bazel-out"})
_EXAMPLES = re.compile(
    r"(^|/)(?:\.env\.(?:example|sample|template|dist)|\.?(?:example|sample|template|dist)\.env)(?=/|$)"
)
"""What projects keep in place of the file with the secrets, to be read by everyone."""
_WILD = frozenset("*?[")
_ENDING = re.compile(r"\*\.([^*?\[/.]+)")
_NEUTRAL = ("main.py", "readme.md", ".hidden", "a", "data.txt")
_SAMPLES = (
    ".env", ".env.local", "server.pem", "tls.key", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc",
    ".git-credentials", ".bash_history", "credentials", ".ssh", ".aws", ".gnupg", ".kube", "store.p12",
)  # fmt: skip


class Secrets(StrEnum):
    """What happens to sensitive files on the way: left out and counted, or included because a person said so."""

    LEFT_OUT = "left out"
    INCLUDED = "included"


@frozen
class NameSet:
    """Patterns for names at any depth, sorted by how they are looked up: most paths pass a few set look-ups.

    Only a path with a name that begins one of the other patterns, or with a first letter of one, is searched for them.
    """

    patterns: tuple[str, ...]
    _names: frozenset[str] = field(init=False, repr=False, compare=False)
    _endings: frozenset[str] = field(init=False, repr=False, compare=False)
    _firsts: frozenset[str] = field(init=False, repr=False, compare=False)
    _letters: frozenset[str] = field(init=False, repr=False, compare=False)
    _wild: bool = field(init=False, repr=False, compare=False)
    _rest: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = {folded(pattern) for pattern in self.patterns}
        names = frozenset(pattern for pattern in patterns if not set(pattern) & (_WILD | {"/"}))
        endings = frozenset(found[1] for pattern in patterns if (found := _ENDING.fullmatch(pattern)))
        rest = sorted(pattern for pattern in patterns - names if not _ENDING.fullmatch(pattern))
        body = "|".join(map(path_expression, rest))
        heads = [pattern.lstrip("/").split("/")[0] for pattern in rest]
        firsts = frozenset(head for head in heads if not set(head) & _WILD)
        letters = frozenset(head[0] for head in heads if head not in firsts)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_endings", endings)
        object.__setattr__(self, "_firsts", firsts)
        object.__setattr__(self, "_letters", letters - _WILD)
        object.__setattr__(self, "_wild", bool(letters & _WILD))
        object.__setattr__(self, "_rest", re.compile(rf"(?:^|/)(?:{body})(?:/|$)", re.DOTALL) if rest else None)

    def holds(self, text: str) -> bool:
        """Whether any name of a folded path, or a chain of them, fits."""
        likely = self._wild
        for name in text.split("/"):
            if name in self._names or ("." in name and name.rpartition(".")[2] in self._endings):
                return True
            likely = likely or name in self._firsts or name[:1] in self._letters
        return likely and self._rest is not None and self._rest.search(text) is not None


@frozen
class PathRules:
    """The patterns in force; `sensitive` and `protected` add to the shipped lists."""

    sensitive: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    _sensitive: NameSet = field(init=False, repr=False, compare=False)
    _protected: NameSet = field(init=False, repr=False, compare=False)
    _host: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sensitive", NameSet((*SENSITIVE, *self.sensitive)))
        object.__setattr__(self, "_protected", NameSet((*PROTECTED, *self.protected)))
        host = "|".join(path_expression(folded(pattern)) for pattern in SENSITIVE_HOST)
        object.__setattr__(self, "_host", re.compile(rf"/(?:{host})(?:/|$)", re.DOTALL))

    def is_sensitive(self, path: str) -> bool:
        """Whether an absolute host path, or a path below a mount, names something that holds secrets."""
        text = folded(path)
        if ".env" in text:
            text = _EXAMPLES.sub(r"\1example", text)
        if self._sensitive.holds(text):
            return True
        return text.startswith("/") and self._host.match(text) is not None

    def is_protected(self, path: str) -> bool:
        """Whether a path names something that later programs or sessions obey."""
        return self._protected.holds(folded(path))

    def globs(self) -> tuple[str, ...]:
        """The sensitive patterns as a file searcher takes them."""
        return (*SENSITIVE, *self.sensitive)


def names_sensitive(glob: str, rules: PathRules) -> bool:
    """Whether a glob asks for sensitive files by name, as `.e[n]v` does and `*` does not."""
    for alternative in expand_braces(glob):
        last = re.sub(r"(?:/\*+)+$", "", alternative).rsplit("/", 1)[-1]
        if rules.is_sensitive(alternative) or rules.is_sensitive(last):
            return True
        pattern = compile_glob(folded(last))
        if any(map(pattern.match, _SAMPLES)) and not any(map(pattern.match, _NEUTRAL)):
            return True
    return False


def is_instructions(name: str) -> bool:
    """Whether a file of this name tells agents how to behave."""
    return folded(name) in INSTRUCTIONS
