"""Programs that reach other machines. A sent request is an effect: a rule covers only what it spells out.

The profiles exist to say what a flag does when a person is asked, and to let a rule that names a whole URL stand.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.policy.commands.profile import Profile, flags

_RUNS, _WRITES, _SENDS = "runs a program", "writes a file", "sends the contents of a file"

PROFILES: Mapping[str, Profile] = {
    "curl": Profile(
        flags("-V --version -h --help"),
        hazards={
            **dict.fromkeys(
                ("-o", "-O", "--output", "--remote-name", "-D", "--dump-header", "-c", "--cookie-jar"), _WRITES
            ),
            **dict.fromkeys(("--trace", "--trace-ascii", "--stderr", "--etag-save", "--hsts", "--output-dir"), _WRITES),
            **dict.fromkeys(("-T", "--upload-file", "-F", "--form", "-d", "--data", "--data-binary", "--json"), _SENDS),
            **dict.fromkeys(("-K", "--config", "-b", "--cookie", "-E", "--cert", "--netrc-file"), "reads a file"),
            "--proxy": "sends through another machine",
            "-x": "sends through another machine",
            "--unix-socket": "talks to a local service",
        },
    ),
    "wget": Profile(
        flags("-V --version -h --help"),
        hazards={
            **dict.fromkeys(("--post-file", "--body-file"), _SENDS),
            **dict.fromkeys(
                ("-O", "--output-document", "-o", "--output-file", "-a", "-P", "--directory-prefix"), _WRITES
            ),
            "--use-askpass": _RUNS,
            "-e": "sets configuration",
            "--execute": "sets configuration",
            "-i": "reads a file of URLs",
        },
    ),
    "ssh": Profile(
        flags("-V"),
        hazards={
            "-o": "sets options, and some of them name programs to run",
            "-F": "reads a configuration",
            "-E": _WRITES,
            "-J": "goes through another machine",
            "-L": "opens a tunnel",
            "-R": "opens a tunnel",
            "-D": "opens a tunnel",
        },
    ),
    "scp": Profile(flags(), hazards={"-S": _RUNS, "-o": "sets options, and some of them name programs to run"}),
    "sftp": Profile(flags(), hazards={"-S": _RUNS, "-b": "runs a batch of commands"}),
    "rsync": Profile(flags("--version"), hazards={"-e": _RUNS, "--rsh": _RUNS, "--rsync-path": _RUNS}),
    "ping": Profile(flags("-V")),
    "dig": Profile(flags("-v")),
    "nc": Profile(flags("-h"), hazards={"-e": _RUNS, "-c": _RUNS}),
}
