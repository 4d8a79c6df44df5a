"""The searcher for machines without ripgrep: slower, the same answers, and ignore files are not read."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.words import sentence
from toolcrib.workspace.lines import read_whole
from toolcrib.workspace.patterns import Secrets
from toolcrib.workspace.search import Case, Ground, Place, Query, Searched
from toolcrib.workspace.spots import Kind
from toolcrib.workspace.text import HEAD
from toolcrib.workspace.tree import Walk

MAX_FILE = 16 * 1024 * 1024
_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv"})


def scan(ground: Ground, operand: str, query: Query) -> Searched:
    """Search by walking; the pattern runs in linear time."""
    found = Searched([], engine="python")
    expression = _expression(query)
    deadline = time.monotonic() + query.timeout
    matches = 0
    for path in _paths(ground, operand, query, found):
        if time.monotonic() > deadline:
            found.timed_out = True
            break
        for place in _lines(ground, path, expression, query.context):
            if matches == query.limit and place.match:
                found.truncated = True
                return found
            matches += place.match
            found.places.append(place)
    return found


def _expression(query: Query) -> Any:
    re2 = cast("Any", import_module("re2"))
    options = re2.Options()
    options.encoding = re2.Options.Encoding.UTF8
    options.log_errors = False
    smart = query.case is Case.SMART and query.pattern.lower() == query.pattern
    options.case_sensitive = not (query.case is Case.IGNORED or smart)
    options.literal = query.literal
    try:
        return re2.compile(query.pattern.encode(), options)
    except re2.error as error:
        message = f"the query cannot be searched for: {sentence(str(error))} For a plain text set literal to true"
        raise Refusal(Reason.VALIDATION_ERROR, message) from error


def _paths(ground: Ground, operand: str, query: Query, found: Searched) -> Iterator[str]:
    if operand != ".":
        yield operand.removeprefix("./")
        return
    keeps, rules = ground.screen(query), ground.workspace.rules
    walk = Walk(rules, "/".join(ground.parts))
    for entry in walk.entries(ground.descriptor):
        if entry.kind is not Kind.FILE or not _PASSED_OVER.isdisjoint(entry.path.split("/")):
            continue
        if keeps(entry.path.encode()):
            yield entry.path
        elif query.secrets is Secrets.LEFT_OUT and rules.is_sensitive(f"{walk.top}/{entry.path}"):
            found.left_out += 1
    found.truncated = found.truncated or walk.exhausted or walk.too_deep


def _lines(ground: Ground, path: str, expression: Any, context: int) -> Iterator[Place]:
    try:
        descriptor = ground.workspace.open_exact(ground.mount, (*ground.parts, *path.split("/")), os.O_RDONLY)
    except Refusal:
        return
    try:
        body = read_whole(descriptor, MAX_FILE)
    finally:
        os.close(descriptor)
    if b"\0" in body[:HEAD] or len(body) > MAX_FILE:
        return
    lines = re.findall(rb"[^\n]*\n|[^\n]+", body)
    hits = {number for number, line in enumerate(lines) if expression.search(line.rstrip(b"\r\n"))}
    wanted = sorted({near for hit in hits for near in range(max(0, hit - context), min(len(lines), hit + context + 1))})
    offset = position = 0
    for number in wanted:
        offset += sum(map(len, lines[position:number]))
        position = number
        yield Place(os.fsencode(path), number + 1, offset, lines[number], number in hits)
