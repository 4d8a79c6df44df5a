"""Descriptions of the wire formats, as data. How a family of them is read is told elsewhere.

The order is that of preference when a text does not say which of two formats with the same opening it is.
"""

from __future__ import annotations

from toolcrib.dialects.formats import headers, invoked, json_blocks, tagged
from toolcrib.dialects.formats.spec import Format

_MODULES = (json_blocks, headers, tagged, invoked)
_LAST = ("llama3_json", "xlam", "openai_json_dump", "pythonic", "tool_named_xml")

_all = {value.name: value for module in _MODULES for value in vars(module).values() if isinstance(value, Format)}
FORMATS: dict[str, Format] = {
    **{name: spec for name, spec in _all.items() if name not in _LAST},
    **{name: _all[name] for name in _LAST},
}
NAMES: dict[str, str] = {other: spec.name for spec in FORMATS.values() for other in spec.names}
GROUPS: dict[str, tuple[str, ...]] = {
    "glm4": ("glm45", "glm47"),
    "minimax": ("minimax_m2", "minimax_m3"),
    "deepseek": ("deepseek_v3", "deepseek_v31", "deepseek_v32", "deepseek_v4", "deepseek_v41"),
    "qwen3": ("qwen3_coder", "hermes"),
}
