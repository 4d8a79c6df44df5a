"""What servers send that the protocol's library would choke on, put right or set aside before it looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

_CONTENT = frozenset({"text", "image", "audio", "resource", "resource_link"})
_PENDING = 4_096
_NOISE = 200
HELD = "toolcrib/tools"
MOST_TOOLS = 1_000
"""More tools than this no server needs; a list without end would keep everybody waiting."""


class Cleaner:
    """Follows one connection's messages. A tool that cannot be read is set aside; the others still work."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        self.note = note
        self.set_aside: dict[str, str] = {}
        self.holds_tools = False
        """Whether tools are kept here, as they came, and only the number of their page goes to the protocol's library,
        which would look at all of them at once."""
        self.trouble = ""
        """Why the connection was ended by us."""
        self._noise = 0
        self._room = MOST_TOOLS
        self._asked: dict[object, str] = {}
        self._held: tuple[int, list[Any]] = (0, [])

    @property
    def is_worth_reading(self) -> bool:
        """False once a server has sent so much that is no message that nothing else will come."""
        return self._noise < _NOISE

    def noise(self, line: str) -> None:
        """A line that is no message: banners and prints are passed over, up to a point."""
        self._noise += 1
        self.note("noise", line)
        if not self.is_worth_reading:
            self.trouble = "the server sent too much that is no message"

    @property
    def has_room(self) -> bool:
        """Whether the list that is being read may have more tools."""
        return self._room > 0

    def begin(self) -> None:
        """A new connection: what was wrong with the last one is no trouble of this one."""
        self.trouble, self._noise = "", 0
        self._asked.clear()

    def begin_list(self) -> None:
        self.set_aside.clear()
        self._room = MOST_TOOLS

    def take_held(self, number: object) -> list[Any]:
        """The tools of the page that was given this number, which is the last that came."""
        last, found = self._held
        self._held = (last, [])
        return found if number == last else []

    def heard(self) -> None:
        """A message came after all: the noise before it was only noise."""
        self._noise = 0

    def sent(self, message: dict[str, Any]) -> None:
        if "id" in message and "method" in message:
            self._asked[message["id"]] = message["method"]
            if len(self._asked) > _PENDING:
                del self._asked[next(iter(self._asked))]

    def received(self, message: dict[str, Any]) -> dict[str, Any]:
        result = message.get("result")
        method = self._asked.pop(message.get("id"), "") if "method" not in message else ""
        if (found := _object(result)) is not None:
            self.clean(method, found)
        return message

    def clean(self, method: str, result: dict[str, Any]) -> None:
        """Put one result right, in place."""
        if method == "tools/list":
            found = self._first(_list(result.get("tools")))
            result["tools"] = [] if self.holds_tools else [tool for tool in found if self.is_readable(tool)]
            if self.holds_tools:
                self._held = (self._held[0] + 1, found)
                result["_meta"] = {HELD: self._held[0]}
        elif method == "tools/call":
            result["content"] = _content(result.get("content"))
            if not isinstance(result.get("isError", False), bool):
                result["isError"] = True
        elif method == "prompts/list":
            result["prompts"] = _objects(result.get("prompts"), "name")
        elif method == "resources/list":
            result["resources"] = _objects(result.get("resources"), "uri")

    def _first(self, listed: list[Any]) -> list[Any]:
        """As many as there may be."""
        if len(listed) > self._room:
            self.put_aside("(the rest)", f"a server may list {MOST_TOOLS:,} tools; those after them are not read")
        found = listed[: self._room]
        self._room -= len(found)
        return found

    def is_readable(self, listed: object) -> bool:
        """Whether it can be a tool, once it was put right in place; one that cannot is set aside."""
        tool = _object(listed)
        name = tool.get("name") if tool is not None else None
        if tool is None or not isinstance(name, str) or not name:
            self.put_aside(str(name)[:80], "it has no name")
            return False
        for key in ("title", "description"):
            if key in tool and not isinstance(tool[key], str):
                del tool[key]
        for key in ("annotations", "outputSchema", "_meta", "icons", "execution"):
            if key in tool and not isinstance(tool[key], list if key == "icons" else dict):
                del tool[key]
        schema = _object(tool.get("inputSchema"))
        if schema is None:
            self.put_aside(name, "its inputSchema is no object")
            return False
        if "type" not in schema and not {"anyOf", "oneOf", "allOf", "$ref"} & schema.keys():
            schema["type"] = "object"
        if schema.get("type", "object") != "object":
            self.put_aside(name, "its inputSchema does not describe an object")
            return False
        schema.setdefault("type", "object")
        return True

    def put_aside(self, name: str, why: str) -> None:
        self.set_aside[name] = why
        self.note("tool_set_aside", f"{name}: {why}")


def _content(content: object) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_block(item) for item in _list(content)]


def _block(item: object) -> dict[str, Any]:
    block = _object(item)
    if block is not None and block.get("type") in _CONTENT and (block["type"] != "text" or _is_text(block)):
        return block
    return {"type": "text", "text": item if isinstance(item, str) else repr(item)[:10_000]}


def _is_text(item: dict[str, Any]) -> bool:
    return isinstance(item.get("text"), str)


def _objects(items: object, key: str) -> list[Any]:
    found = (_object(item) for item in _list(items))
    return [item for item in found if item is not None and isinstance(item.get(key), str)]


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
