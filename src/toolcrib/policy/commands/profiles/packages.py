"""Interpreters, package managers, build and test programs.

They run code of the project or of the world. A rule for the bare program covers only questions about itself; a rule
that names a task (`python -m pytest`, `npm run`, `make test`) covers that task with flags that choose and report.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Operands, Parsed, Profile, Tier, flags, named

_RUNS = "runs a program"
_VERSION = "-V --version -h --help"


def _targets_only(parsed: Parsed) -> str | None:
    return f"{parsed.operands[0]!r} is not in the rule" if parsed.operands else None


_PYTEST = Profile(
    flags(
        "-q -v -vv -vvv -x -s -l -k= -m= -r= -n= -h -V --version --help --quiet --verbose --exitfirst"
        " --maxfail= --tb= --lf --last-failed",
        "--ff --failed-first --nf --new-first --sw --stepwise --co --collect-only --durations="
        " --durations-min= --no-header",
        "--no-summary --showlocals --strict-markers --strict-config --color= --markers --fixtures --cov=?"
        " --cov-report= --deselect=",
        "--ignore=< --disable-warnings --capture= --setup-show --import-mode= --no-cov --timeout= --dist="
        " --asyncio-mode= --sw-skip",
    ),
    Operands.READS,
    tier=Tier.NAMED,
    hazards={
        "-p": "loads a plug-in",
        "-c": "takes another configuration",
        "-o": "sets configuration",
        "--rootdir": "works elsewhere",
        "--basetemp": "deletes a folder",
        "--junitxml": "writes a file",
        "--confcutdir": "loads code from elsewhere",
        "--pdbcls": _RUNS,
        "--override-ini": "sets configuration",
    },
)
_UNITTEST = named(
    "-v -q -f -b -c -k= -s=< -p= --verbose --quiet --failfast --buffer --catch --locals", operands=Operands.READS
)
_CHECKER = named(
    "-q -v -h --quiet --verbose --check --diff --select= --ignore= --extend-select= --output-format= --strict"
    " --statistics"
    " --show-source --no-cache --exit-zero --pretty --ignore-missing-imports --python-version= --line-length="
    " --color --no-color",
    operands=Operands.READS,
)
_LISTING = Profile(
    flags("-l -o -q -v --outdated --format= --json --all --depth= --local --user --not-required --long"), Operands.TEXT
)
_PIP = {
    "list": _LISTING,
    "show": Profile(flags("-f --files -v --verbose"), Operands.TEXT),
    "freeze": Profile(flags("--local --user --all -l")),
    "check": Profile(flags()),
    "install": named(
        "-q -v --quiet --verbose --no-deps --upgrade -U -r=< --requirement=< --no-cache-dir --dry-run",
        operands=Operands.TEXT,
    ),
}
_PYTHON = Profile(
    flags(_VERSION, "-VV"),
    subcommands={
        "-m pytest": _PYTEST,
        "-m unittest": _UNITTEST,
        "-m mypy": _CHECKER,
        "-m ruff": _CHECKER,
        "-m flake8": _CHECKER,
        "-m black": _CHECKER,
        "-m isort": _CHECKER,
        "-m pyright": _CHECKER,
        "-m pylint": _CHECKER,
        "-m pip": Profile(flags(_VERSION), subcommands=_PIP),
        "-m py_compile": named("-q", operands=Operands.READS),
        "-m compileall": named("-q -f", operands=Operands.READS),
    },
    hazards={
        "-c": "runs the code it is given",
        "-m": "runs a module",
        "-i": "goes on interactively",
        "-W": "loads code",
        "-X": "sets options of the interpreter",
    },
)
_SCRIPT = named(
    "-s -w= --silent --if-present --workspace= --workspaces --include-workspace-root -q --quiet",
    operands=Operands.TEXT,
    passes=True,
)
_NODE_PACKAGES = Profile(
    flags("-v --version -h --help"),
    subcommands={
        "ls": _LISTING,
        "list": _LISTING,
        "ll": _LISTING,
        "root": Profile(flags()),
        "prefix": Profile(flags()),
        "run": _SCRIPT,
        "run-script": _SCRIPT,
        "test": _SCRIPT,
        "t": _SCRIPT,
        "start": _SCRIPT,
        "build": _SCRIPT,
        "lint": _SCRIPT,
        "install": named(
            "-D -S -E --save-dev --save-exact --no-audit --no-fund --ignore-scripts --frozen-lockfile --silent"
        ),
        "ci": named("--no-audit --no-fund --ignore-scripts --silent"),
        "audit": named("--json --production --omit="),
        "view": named("--json"),
        "outdated": named("--json --long"),
    },
    hazards={
        "--prefix": "works elsewhere",
        "-C": "works elsewhere",
        "--script-shell": _RUNS,
        "--userconfig": "reads a configuration",
    },
)
_CARGO_TASK = named(
    "-q -v -r -p= -j= -F= --quiet --verbose --workspace --all --release --lib --bins --bin= --examples"
    " --example= --tests --test="
    " --benches --bench= --all-targets --doc --no-run --no-fail-fast --package= --exclude= --jobs= --features="
    " --all-features"
    " --no-default-features --locked --offline --frozen --message-format= --color= --check --profile= --keep-going",
    operands=Operands.TEXT,
    passes=True,
)
_CARGO = Profile(
    flags("-V --version -h --help --list"),
    subcommands={
        **dict.fromkeys(
            ("test", "t", "check", "c", "build", "b", "clippy", "fmt", "doc", "bench", "run", "r", "nextest run"),
            _CARGO_TASK,
        ),
        "tree": Profile(flags("-i= -p= -e= -d --depth= --duplicates --invert= --prefix= --edges= --no-dedupe")),
        "metadata": Profile(flags("--format-version= --no-deps --offline")),
        "version": Profile(flags("-v")),
    },
    hazards={
        "--config": "sets configuration, and some of that names programs to run",
        "--manifest-path": "works elsewhere",
        "--target-dir": "writes elsewhere",
        "-Z": "switches on unstable options",
        "-C": "works elsewhere",
    },
)
_GO_TASK = named(
    "-v -race -short -count= -run= -bench= -cover -timeout= -failfast -json -n -x -p= -tags=", operands=Operands.TEXT
)
_GO = Profile(
    flags(),
    subcommands={
        "version": Profile(flags("-m -v"), Operands.READS),
        "env": Profile(flags("-json"), Operands.TEXT),
        "list": Profile(flags("-m -json -f= -deps"), Operands.TEXT),
        "doc": Profile(flags("-all -short -u -c"), Operands.TEXT),
        "test": _GO_TASK,
        "build": _GO_TASK,
        "vet": _GO_TASK,
        "fmt": _GO_TASK,
    },
    hazards={"-exec": _RUNS, "-toolexec": _RUNS},
)
_MAKE = Profile(
    flags(
        "-k -s -n -B -j=? -v --version -h --help --keep-going --silent --quiet --dry-run --just-print"
        " --jobs=? --no-print-directory -w"
    ),
    Operands.TEXT,
    hazards={
        "-f": "takes another makefile",
        "-C": "works elsewhere",
        "--eval": "runs what it is given",
        "-I": "includes files",
        "--file": "takes another makefile",
        "--directory": "works elsewhere",
    },
    check=_targets_only,
)
_WITH_VERSION = Profile(flags(_VERSION, "-v"))
_CONTAINERS = Profile(
    flags("-v --version --help"),
    subcommands={
        "ps": Profile(flags("-a -q --all --quiet --format= --no-trunc")),
        "images": Profile(flags("-a -q --format=")),
        "version": Profile(flags("--format=")),
    },
    hazards={"-H": "talks to another machine"},
)

PROFILES: Mapping[str, Profile] = {
    "python": _PYTHON,
    "pypy": _PYTHON,
    "pytest": _PYTEST,
    "ruff": Profile(flags(_VERSION), subcommands={"check": _CHECKER, "format": _CHECKER, "version": Profile(flags())}),
    **dict.fromkeys(("mypy", "flake8", "black", "isort", "pyright", "pylint", "eslint", "tsc", "prettier"), _CHECKER),
    "pip": Profile(flags(_VERSION), subcommands=_PIP),
    "pip3": Profile(flags(_VERSION), subcommands=_PIP),
    "uv": Profile(
        flags(_VERSION), subcommands={**{f"pip {name}": inner for name, inner in _PIP.items()}, "tree": _LISTING}
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _NODE_PACKAGES),
    "cargo": _CARGO,
    "rustc": _WITH_VERSION,
    "go": _GO,
    "make": _MAKE,
    "gmake": _MAKE,
    **dict.fromkeys(
        ("node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "java", "javac", "gcc", "clang"), _WITH_VERSION
    ),
    **dict.fromkeys(("docker", "podman"), _CONTAINERS),
    "kubectl": Profile(flags("--help"), subcommands={"version": Profile(flags("--client -o="))}),
    **dict.fromkeys(
        ("apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "gem", "bundle", "composer", "poetry"), _WITH_VERSION
    ),
    "env": Profile(
        flags("--version --help"),
        hazards={"-S": "runs what it is given"},
        check=lambda parsed: "it prints the environment",
    ),
    "xargs": Profile(flags("--version --help"), hazards={"-a": "reads a file"}),
}
