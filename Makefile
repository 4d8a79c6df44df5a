# `make setup` needs Python 3.11, pip and the package registry. Everything it makes stays below this folder.
PYTHON ?= python3
BIN := .venv/bin
PEERS := $(basename $(notdir $(wildcard bench/peers/requirements/*.in)))

# pyright's launcher otherwise asks the registry for a newer version at each run.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help setup system servers check format run test test-all bench bench-dialects bench-search bench-agentdojo peers pins clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup:  ## make .venv from the hashed pins, with .venv/bin/toolcrib in it
	@$(PYTHON) scripts/environment.py .venv requirements/dev.txt --with-project

check: setup  ## formatting, lint, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

format: setup  ## rewrite the sources in house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

run: setup  ## a tour of one governed session on the embedded store
	@$(BIN)/python examples/tour.py

system:  ## install the system packages that the tests need, if any is missing
	@scripts/system.sh

servers: setup  ## install the real MCP servers that the tests talk to
	@$(PYTHON) scripts/environment.py .tools/servers tests/servers/requirements.txt
	@scripts/node_servers.sh

test: system servers check  ## check, then every test that is not marked slow
	$(BIN)/python -m pytest -m "not slow"

test-all: system servers check  ## check, then every test, the slow suites included
	$(BIN)/python -m pytest

bench: setup servers peers  ## measure against raw calls and the peers, interleaved; then files, commands, rules, dialects and MCP servers
	@$(BIN)/python bench/run.py; missed=$$?; \
	for part in open window search; do $(BIN)/python bench/files.py $$part; done; \
	for part in spawn output bombs; do $(BIN)/python bench/commands.py $$part; done; \
	$(BIN)/python bench/policy.py || missed=1; \
	$(BIN)/python bench/denials.py || missed=1; \
	$(BIN)/python bench/dialects/measure.py || missed=1; \
	$(BIN)/python bench/servers.py || missed=1; \
	$(BIN)/python bench/server_faults.py || missed=1; \
	$(BIN)/python -m bench.schemas || missed=1; \
	if [ -d .bench/search/lists ]; then $(BIN)/python -m bench.search; \
	else echo "tool search: make bench-search fetches its data first"; fi; \
	exit $$missed

bench-dialects: setup  ## measure every text format: rates, linearity, memory
	$(BIN)/python bench/dialects/measure.py

bench-search: setup peers  ## measure tool search on real tools and requests, beside the peers
	$(BIN)/python -m bench.search

bench-agentdojo: setup .bench/agentdojo  ## replay the AgentDojo suites: prompts per task, injections surfaced
	$(BIN)/python -m bench.agentdojo

peers: $(PEERS:%=.bench/%)  ## make one environment for each benchmark peer

.PHONY: $(PEERS:%=.bench/%)
$(PEERS:%=.bench/%): .bench/%:
	@UV_COMPILE_BYTECODE=1 $(PYTHON) scripts/environment.py $@ bench/peers/requirements/$*.txt

pins:  ## write the hashed pins anew; UPGRADE=--upgrade moves to newer versions
	$(PYTHON) scripts/pins.py $(UPGRADE)

clean:  ## remove everything that setup, tests and benchmarks made
	rm -rf .venv .tools .bench .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
