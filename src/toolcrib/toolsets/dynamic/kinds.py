"""The three kinds of dynamic tools as values, read from what a creator wrote and checked in full."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urlsplit

from toolcrib.policy.network.url import Url, read_url
from toolcrib.toolsets.dynamic.references import Reference, check_references, read_text, references_in, wrong
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import InvalidName

MAX_SCRIPT = 65_536
MAX_SCRIPT_BYTES = 131_000
"""What fits into one word of a command line."""
MAX_STEPS = 20
LANGUAGES = ("bash", "python3", "node")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READS = frozenset({"GET", "HEAD"})
_PLACEHOLDER = "x"
_FIELDS = {"script": {"language", "script"}, "http": {"method", "url"}, "composite": {"steps"}}


@frozen
class Script:
    """A program text; it gets the arguments as JSON on standard input."""

    language: str
    script: str


@frozen
class Http:
    """A request to one host, which no argument can change."""

    method: str
    url: str

    @property
    def reads(self) -> bool:
        return self.method in READS


@frozen
class Step:
    """One call of another tool."""

    tool: str
    arguments: JsonObject


@frozen
class Composite:
    """A series of calls, each of which passes the counter by itself."""

    steps: tuple[Step, ...]

    @property
    def uses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.tool for step in self.steps))


Kind = Script | Http | Composite


def read_kind(body: Mapping[str, Json], schema: Mapping[str, Json], schemes: Collection[str]) -> Kind:
    """What a definition says its tool does; a Refusal that names what is wrong with it."""
    wanted = str(body.get("kind"))
    fields = _FIELDS.get(wanted)
    if fields is None:
        raise wrong(f"{wanted!r} is no kind of tool: use script, http or composite")
    given = body.keys() - {"kind"}
    if given != fields:
        has = ", ".join(sorted(given)) or "nothing"
        raise wrong(f"a tool of kind {wanted} is made of {' and '.join(sorted(fields))}, not of {has}")
    if wanted == "script":
        return _script(body)
    return _http(body, schema, schemes) if wanted == "http" else _composite(body, schema)


def authority_of(http: Http, schemes: Collection[str]) -> Url:
    """The URL with something harmless in every place: scheme, host and port are those of every call."""
    parts = read_text(http.url)
    return read_url("".join(part if isinstance(part, str) else _PLACEHOLDER for part in parts), schemes)


def _script(body: Mapping[str, Json]) -> Script:
    language, script = str(body["language"]), str(body["script"])
    if language not in LANGUAGES:
        raise wrong(f"{language!r} is no language for scripts: use {', '.join(LANGUAGES)}")
    if not script.strip() or "\0" in script:
        raise wrong("the script is empty, or holds a NUL character")
    size = len(script.encode())
    if len(script) > MAX_SCRIPT or size > MAX_SCRIPT_BYTES:
        most = f"{MAX_SCRIPT:,} characters and {MAX_SCRIPT_BYTES:,} bytes"
        raise wrong(f"the script has {len(script):,} characters and {size:,} bytes; at most {most} are allowed")
    return Script(language, script)


def _http(body: Mapping[str, Json], schema: Mapping[str, Json], schemes: Collection[str]) -> Http:
    http = Http(str(body["method"]), str(body["url"]))
    if http.method not in METHODS:
        raise wrong(f"{http.method!r} is no method: use {', '.join(METHODS)}")
    parts = read_text(http.url)
    begin = parts[0] if parts and isinstance(parts[0], str) else ""
    split = urlsplit(begin)
    if not split.netloc or (len(parts) > 1 and not (split.path or split.query)):
        raise wrong("the URL must name its scheme and host as they are; references stand in path and query only")
    if "#" in http.url:
        raise wrong("the URL holds a fragment, which is never sent")
    found = [part for part in parts if isinstance(part, Reference)]
    if any(part.step for part in found):
        raise wrong("the URL refers to a step; only a composite has steps")
    check_references(found, schema, 0)
    authority_of(http, schemes)
    return http


def _composite(body: Mapping[str, Json], schema: Mapping[str, Json]) -> Composite:
    given = body["steps"]
    if not isinstance(given, Sequence) or isinstance(given, str) or not 1 <= len(given) <= MAX_STEPS:
        raise wrong(f"a composite has between 1 and {MAX_STEPS} steps")
    return Composite(tuple(_step(number, each, schema) for number, each in enumerate(given, 1)))


def _step(number: int, given: Json, schema: Mapping[str, Json]) -> Step:
    if not isinstance(given, Mapping) or given.keys() - {"tool", "arguments"} or "tool" not in given:
        raise wrong(f"step {number} is made of tool and arguments")
    arguments = given.get("arguments", {})
    if not isinstance(arguments, Mapping):
        raise wrong(f"step {number}: arguments is an object")
    try:
        tool = check_name(str(given["tool"]))
    except InvalidName as error:
        raise wrong(f"step {number}: {error}") from error
    check_references(list(references_in(arguments)), schema, number - 1)
    return Step(tool, dict(arguments))
