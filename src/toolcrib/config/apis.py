"""HTTP interfaces that become tools: which document describes them, which server, and what proves who calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from toolcrib.config.kinds import file_path, integer, table, text
from toolcrib.config.problems import At
from toolcrib.config.records import REQUIRED, entry, record
from toolcrib.values.noun import frozen


@frozen
class ApiEntry:
    """One OpenAPI document."""

    document: Path
    server: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    timeout_ms: int


def _api(
    at: At, *, document: Path, server: str, headers: Mapping[str, str], query: Mapping[str, str], timeout_ms: int
) -> ApiEntry:
    return ApiEntry(document, server, headers, query, timeout_ms)


_HEADER = text("the name of a header", r"[A-Za-z0-9-]{1,100}")
_PARAMETER = text("the name of a parameter", r"[^\s&=#]{1,100}")
_VALUE = text("a text, with ${NAME} for a variable of the environment", r"[^\r\n]{0,4096}")
API = record(
    {
        "document": entry(file_path(relative="relative to the home"), REQUIRED, "The document, in JSON or YAML."),
        "server": entry(
            text("an address", r"(https?://[^\s]{1,500})?"), "", "Which of the document's servers to call, if several."
        ),
        "headers": entry(
            table(_HEADER, _VALUE),
            MappingProxyType[str, str]({}),
            "Sent with every request; secrets as `${NAME}` only.",
        ),
        "query": entry(
            table(_PARAMETER, _VALUE),
            MappingProxyType[str, str]({}),
            "Added to every address, such as a key; secrets as `${NAME}` only.",
        ),
        "timeout_ms": entry(integer(1, 600_000), 30_000, "How long one request may take.", "ms"),
    },
    _api,
)
API_NAME = text("a short name", r"[A-Za-z][A-Za-z0-9_-]{0,47}")
