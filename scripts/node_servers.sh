#!/usr/bin/env bash
# MCP servers from npm, exactly as tests/servers/node_pins.json has them. Needs node, npm and the package registry.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v npm >/dev/null || { echo "npm is missing; install node with npm (Debian: apt-get install nodejs npm) and run again" >&2; exit 1; }
folder=.tools/npm
wanted=$(sha256sum tests/servers/node_pins.json)
[ -f "$folder/.stamp" ] && [ "$(cat "$folder/.stamp")" = "$wanted" ] && exit 0
mkdir -p "$folder"
cp tests/servers/package.json "$folder/package.json"
cp tests/servers/node_pins.json "$folder/package-lock.json"
npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null
echo "$wanted" > "$folder/.stamp"
