"""An MCP server with one tool."""

import json
import sys

ECHO = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    },
    "tools/list": {"tools": [ECHO, {"name": "no schema"}]},
    "tools/call": {"content": [{"type": "text", "text": "again"}]},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = RESULTS.get(message["method"])
        body = {"result": result} if result else {"error": {"code": -32601, "message": "not known here"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
