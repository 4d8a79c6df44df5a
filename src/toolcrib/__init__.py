"""Toolcrib: the room where an agent's tools are kept, issued, checked and signed for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.askers.inbox import InboxAsker
    from toolcrib.assemble.crib import Parts, RunScope, Toolcrib
    from toolcrib.catalog.decorate import tool
    from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
    from toolcrib.engine.run import Run
    from toolcrib.hooks.python import PostHook, PreHook
    from toolcrib.ports import HookAnswer
    from toolcrib.values.call import ToolCall
    from toolcrib.values.context import Document, ToolContext
    from toolcrib.values.event import Event
    from toolcrib.values.permission import Pending, PermissionDecision, PermissionRequest
    from toolcrib.values.refusal import ConfigError, Reason, Refusal, RegistrationError, StoreError, ToolcribError
    from toolcrib.values.result import ArtifactRef, Image, JsonBlock, Text, ToolError, ToolResult, ToolReturn
    from toolcrib.values.spec import Effect, ToolSpec
    from toolcrib.values.target import Target, TargetKind
    from toolcrib.values.tool import Tool

__version__ = "0.1.0"

_HOMES = {
    "toolcrib.askers.inbox": ("InboxAsker",),
    "toolcrib.assemble.crib": ("Parts", "RunScope", "Toolcrib"),
    "toolcrib.catalog.decorate": ("tool",),
    "toolcrib.catalog.toolset": ("Toolset", "ToolsetBuilder"),
    "toolcrib.engine.run": ("Run",),
    "toolcrib.hooks.python": ("PostHook", "PreHook"),
    "toolcrib.ports": ("HookAnswer",),
    "toolcrib.values.call": ("ToolCall",),
    "toolcrib.values.context": ("Document", "ToolContext"),
    "toolcrib.values.event": ("Event",),
    "toolcrib.values.permission": ("Pending", "PermissionDecision", "PermissionRequest"),
    "toolcrib.values.refusal": ("ConfigError", "Reason", "Refusal", "RegistrationError", "StoreError", "ToolcribError"),
    "toolcrib.values.result": ("ArtifactRef", "Image", "JsonBlock", "Text", "ToolError", "ToolResult", "ToolReturn"),
    "toolcrib.values.spec": ("Effect", "ToolSpec"),
    "toolcrib.values.target": ("Target", "TargetKind"),
    "toolcrib.values.tool": ("Tool",),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ArtifactRef", "ConfigError", "Document", "Effect", "Event", "HookAnswer", "Image", "InboxAsker", "JsonBlock",
    "Parts", "Pending", "PermissionDecision", "PermissionRequest", "PostHook", "PreHook", "Reason", "Refusal",
    "RegistrationError", "Run", "RunScope", "StoreError", "Target", "TargetKind", "Text", "Tool", "ToolCall",
    "ToolContext", "ToolError", "ToolResult", "ToolReturn", "ToolSpec", "Toolcrib", "ToolcribError", "Toolset",
    "ToolsetBuilder", "tool",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name from its room at first use, so that `import toolcrib` costs almost nothing."""
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'toolcrib' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
