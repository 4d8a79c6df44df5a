"""An MCP server that lists and answers what a file says at the moment it is asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(sys.argv[1])
CAPABILITIES = {"tools": {"listChanged": True}}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result_of(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request; a call of `turn` announces that the file has changed."""
    script, params = json.loads(SCRIPT.read_text()), message.get("params", {})
    if message["method"] == "initialize":
        info = script.get("info", {"name": "scripted", "version": "1"})
        return {"protocolVersion": "2025-06-18", "capabilities": CAPABILITIES, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": script["tools"]}
    if params["name"] == "turn":
        send({"method": "notifications/tools/list_changed"})
    with SCRIPT.with_suffix(".log").open("a") as log:
        log.write(json.dumps(params["name"]) + "\n")
    answers = script.get("answers", {})
    return answers.get(params["name"], {"content": [{"type": "text", "text": f"ran {params['name']}"}]})


for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is not None and asked["method"] in ("initialize", "tools/list", "tools/call"):
        send({"id": asked["id"], "result": result_of(asked)})
    elif asked.get("id") is not None:
        send({"id": asked["id"], "error": {"code": -32601, "message": f"{asked['method']} is not known here"}})
