"""Real MCP servers and their tool lists: install each alone, ask it `tools/list`, keep the answer.

A server that will not start without an account or a network is reported and left out.
"""

import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

START_LIMIT = 60.0
# The interpreter that .venv was made from: it has pip.
PYTHON = getattr(sys, "_base_executable", sys.executable)


@dataclass(frozen=True, slots=True)
class Server:
    """One installable MCP server: where it comes from and how it is started."""

    package: str
    command: str
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])


def harvest(home: Path) -> dict[str, list[dict[str, object]]]:
    """Return package → tool list for every server that answers; answers are cached under `home`."""
    lists: dict[str, list[dict[str, object]]] = {}
    for install, servers in ((install_npm, NPM), (install_pypi, PYPI)):
        for server in servers:
            cached = home / "lists" / f"{slug(server.package)}.json"
            if not cached.exists():
                cached.parent.mkdir(parents=True, exist_ok=True)
                cached.write_text(json.dumps(attempt(server, install, home), indent=1))
            answer = json.loads(cached.read_text())
            if isinstance(answer, list):
                lists[server.package] = answer
            else:
                print(f"left out {server.package}: {answer['error']}", file=sys.stderr)
    return lists


def attempt(server: Server, install, home: Path) -> object:
    try:
        binary = install(server, home)
        return ask(binary, server, home)
    except (OSError, subprocess.SubprocessError, ValueError, TimeoutError) as problem:
        return {"error": f"{type(problem).__name__}: {str(problem)[-300:]}"}


def install_npm(server: Server, home: Path) -> Path:
    prefix = home / "npm" / slug(server.package)
    prefix.mkdir(parents=True, exist_ok=True)
    run(["npm", "install", "--prefix", str(prefix), "--ignore-scripts", "--no-audit", "--no-fund", server.package])
    return prefix / "node_modules" / ".bin" / server.command


def install_pypi(server: Server, home: Path) -> Path:
    prefix = home / "pypi" / slug(server.package)
    run([PYTHON, "-m", "venv", str(prefix)])
    run([str(prefix / "bin" / "pip"), "install", "-q", "--no-compile", server.package])
    return prefix / "bin" / server.command


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")


def ask(binary: Path, server: Server, home: Path) -> list[dict[str, object]]:
    """Start the server on stdio, shake hands, return its whole tool list."""
    scratch = home / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch), **server.env}
    arguments = [argument.replace("$SCRATCH", str(scratch)) for argument in server.arguments]
    with subprocess.Popen(
        [str(binary), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=scratch,
        start_new_session=True,
    ) as process:
        try:
            return _converse(process)
        finally:
            os.killpg(process.pid, 9)


def _converse(process: "subprocess.Popen[bytes]") -> list[dict[str, object]]:
    deadline = time.monotonic() + START_LIMIT
    client = {"name": "toolcrib-bench", "version": "0"}
    _send(process, 1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    _receive(process, 1, deadline)
    _send(process, None, "notifications/initialized", {})
    tools: list[dict[str, object]] = []
    cursor: dict[str, object] = {}
    for number in range(2, 50):
        _send(process, number, "tools/list", cursor)
        page = _receive(process, number, deadline)
        tools.extend(page["tools"])  # type: ignore[arg-type]
        if not page.get("nextCursor"):
            break
        cursor = {"cursor": page["nextCursor"]}
    return tools


def _send(process: "subprocess.Popen[bytes]", number: int | None, method: str, params: object) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def _receive(process: "subprocess.Popen[bytes]", number: int, deadline: float) -> dict[str, object]:
    assert process.stdout is not None
    assert process.stderr is not None
    buffer = _BUFFERS.setdefault(process.pid, bytearray())
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            while b"\n" in buffer:
                line, _, rest = buffer.partition(b"\n")
                buffer[:] = rest
                if line.lstrip().startswith(b"{") and (message := json.loads(line)).get("id") == number:
                    if "error" in message:
                        raise ValueError(f"the server answered {message['error']}")
                    return message["result"]
            for key, _ in selector.select(timeout=1.0):
                chunk = os.read(key.fd, 65536)
                if key.fileobj is process.stdout:
                    buffer.extend(chunk)
                    if not chunk:
                        raise ValueError(f"the server ended: {_LAST_WORDS.get(process.pid, b'')[-300:]!r}")
                elif chunk:
                    _LAST_WORDS[process.pid] = chunk
                else:
                    selector.unregister(process.stderr)
    raise TimeoutError(f"no answer within {START_LIMIT:.0f} s")


_BUFFERS: dict[int, bytearray] = {}
_LAST_WORDS: dict[int, bytes] = {}


def slug(package: str) -> str:
    return package.replace("/", "__").replace("@", "")


KEY = "placeholder-not-a-key"
NPM = (
    Server("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem", ("$SCRATCH",)),
    Server("@modelcontextprotocol/server-memory", "mcp-server-memory"),
    Server("@modelcontextprotocol/server-everything", "mcp-server-everything"),
    Server("@modelcontextprotocol/server-sequential-thinking", "mcp-server-sequential-thinking"),
    Server("@modelcontextprotocol/server-github", "mcp-server-github", env={"GITHUB_PERSONAL_ACCESS_TOKEN": KEY}),
    Server("@modelcontextprotocol/server-gitlab", "mcp-server-gitlab", env={"GITLAB_PERSONAL_ACCESS_TOKEN": KEY}),
    Server(
        "@modelcontextprotocol/server-slack", "mcp-server-slack", env={"SLACK_BOT_TOKEN": KEY, "SLACK_TEAM_ID": "T0"}
    ),
    Server("@modelcontextprotocol/server-google-maps", "mcp-server-google-maps", env={"GOOGLE_MAPS_API_KEY": KEY}),
    Server("@modelcontextprotocol/server-brave-search", "mcp-server-brave-search", env={"BRAVE_API_KEY": KEY}),
    Server("@modelcontextprotocol/server-puppeteer", "mcp-server-puppeteer"),
    Server("@modelcontextprotocol/server-postgres", "mcp-server-postgres", ("postgresql://localhost:1/none",)),
    Server("@playwright/mcp", "playwright-mcp"),
    Server("chrome-devtools-mcp", "chrome-devtools-mcp"),
    Server("firecrawl-mcp", "firecrawl-mcp", env={"FIRECRAWL_API_KEY": KEY}),
    Server("tavily-mcp", "tavily-mcp", env={"TAVILY_API_KEY": KEY}),
    Server("exa-mcp-server", "exa-mcp-server", env={"EXA_API_KEY": KEY}),
    Server("@upstash/context7-mcp", "context7-mcp"),
    Server("@notionhq/notion-mcp-server", "notion-mcp-server", env={"NOTION_TOKEN": KEY}),
    Server("figma-developer-mcp", "figma-developer-mcp", ("--stdio",), env={"FIGMA_API_KEY": KEY}),
    Server("mongodb-mcp-server", "mongodb-mcp-server"),
    Server("@azure/mcp", "azmcp", ("server", "start")),
    Server("mcp-server-kubernetes", "mcp-server-kubernetes"),
    Server("airtable-mcp-server", "airtable-mcp-server", env={"AIRTABLE_API_KEY": KEY}),
    Server("@sentry/mcp-server", "sentry-mcp", ("--access-token", KEY)),
    Server("@zereight/mcp-gitlab", "mcp-gitlab", env={"GITLAB_PERSONAL_ACCESS_TOKEN": KEY}),
    Server("@shopify/dev-mcp", "shopify-dev-mcp"),
    Server(
        "@elastic/mcp-server-elasticsearch",
        "mcp-server-elasticsearch",
        env={"ES_URL": "http://localhost:1", "ES_API_KEY": KEY},
    ),
    Server("@circleci/mcp-server-circleci", "mcp-server-circleci", env={"CIRCLECI_TOKEN": KEY}),
    Server("@mapbox/mcp-server", "mcp-server", env={"MAPBOX_ACCESS_TOKEN": "pk.eyJ1IjoieCJ9.x"}),
    Server("todoist-mcp", "todoist-mcp", env={"API_KEY": KEY}),
    Server("@kazuph/mcp-taskmanager", "mcp-taskmanager"),
    Server("@negokaz/excel-mcp-server", "excel-mcp-server"),
    Server("@browsermcp/mcp", "mcp-server-browsermcp"),
    Server("ref-tools-mcp", "ref-tools-mcp", env={"REF_API_KEY": KEY}),
    Server("@winor30/mcp-server-datadog", "mcp-server-datadog", env={"DATADOG_API_KEY": KEY, "DATADOG_APP_KEY": KEY}),
    Server("task-master-ai", "task-master-ai"),
    Server(
        "@twilio-alpha/mcp",
        "twilio-mcp-server",
        ("AC00000000000000000000000000000000/SK00000000000000000000000000000000:x",),
    ),
    Server("@neondatabase/mcp-server-neon", "mcp-server-neon", ("start", KEY)),
    Server("@postman/postman-mcp-server", "postman-mcp-server", env={"POSTMAN_API_KEY": KEY}),
)
PYPI = (
    Server("mcp-server-git", "mcp-server-git"),
    Server("mcp-server-fetch", "mcp-server-fetch"),
    Server("mcp-server-time", "mcp-server-time"),
    Server(
        "mcp-atlassian",
        "mcp-atlassian",
        env={
            "JIRA_URL": "https://x.example",
            "JIRA_USERNAME": "x",
            "JIRA_API_TOKEN": KEY,
            "CONFLUENCE_URL": "https://x.example/wiki",
            "CONFLUENCE_USERNAME": "x",
            "CONFLUENCE_API_TOKEN": KEY,
        },
    ),
    Server("excel-mcp-server", "excel-mcp-server", ("stdio",)),
    Server("office-word-mcp-server", "word_mcp_server"),
    Server("arxiv-mcp-server", "arxiv-mcp-server"),
    Server("elevenlabs-mcp", "elevenlabs-mcp", env={"ELEVENLABS_API_KEY": KEY}),
    Server("blender-mcp", "blender-mcp"),
    Server("duckduckgo-mcp-server", "duckduckgo-mcp-server"),
    Server("markitdown-mcp", "markitdown-mcp"),
    Server(
        "mcp-clickhouse",
        "mcp-clickhouse",
        env={"CLICKHOUSE_HOST": "localhost", "CLICKHOUSE_USER": "x", "CLICKHOUSE_PASSWORD": "x"},
    ),
    Server("redis-mcp-server", "redis-mcp-server"),
    Server("awslabs.s3-tables-mcp-server", "awslabs.s3-tables-mcp-server"),
    Server("awslabs.aws-documentation-mcp-server", "awslabs.aws-documentation-mcp-server"),
    Server("awslabs.dynamodb-mcp-server", "awslabs.dynamodb-mcp-server"),
    Server("awslabs.cloudwatch-mcp-server", "awslabs.cloudwatch-mcp-server"),
    Server("awslabs.iam-mcp-server", "awslabs.iam-mcp-server"),
    Server("awslabs.elasticache-mcp-server", "awslabs.elasticache-mcp-server"),
    Server("awslabs.valkey-mcp-server", "awslabs.valkey-mcp-server"),
    Server("yfinance-mcp-server", "yfinance-mcp-server"),
    Server("google-analytics-mcp", "google-analytics-mcp"),
    Server("workspace-mcp", "workspace-mcp", env={"GOOGLE_OAUTH_CLIENT_ID": "x", "GOOGLE_OAUTH_CLIENT_SECRET": "x"}),
    Server("meta-ads-mcp", "meta-ads-mcp"),
    Server("mcp-obsidian", "mcp-obsidian", env={"OBSIDIAN_API_KEY": KEY}),
    Server("serena-agent", "serena", ("start-mcp-server",)),
    Server("zotero-mcp-server", "zotero-mcp"),
    Server("ha-mcp", "ha-mcp", env={"HOMEASSISTANT_URL": "http://localhost:1", "HOMEASSISTANT_TOKEN": KEY}),
    Server("linkedin-mcp-server", "linkedin-mcp-server"),
    Server("alpaca-mcp-server", "alpaca-mcp-server", ("serve",), env={"ALPACA_API_KEY": KEY, "ALPACA_SECRET_KEY": KEY}),
    Server("mcp-nixos", "mcp-nixos"),
    Server("mcp-pandoc", "mcp-pandoc"),
)
