"""One tool in the words of a declaration: as JSON, as elements, or as a type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from toolcrib.dialects.formats.spec import Declaration
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.spec import ToolSpec

Clean = Callable[[str], str]
_TIGHT = (",", ":")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def list_tool(tool: ToolSpec, name: str, declaration: Declaration, clean: Clean) -> str:
    """The tool as `each` says. Every text of its author goes through `clean`, so that none can end its frame."""
    schema = _cleaned(tool.input_schema, clean)
    parameters: JsonObject = schema if isinstance(schema, Mapping) else {}
    description = clean(tool.description).strip()
    function: JsonObject = {"name": name, "description": description, "parameters": parameters}
    written: dict[str, Callable[[], str]] = {
        "name": lambda: name,
        "description": lambda: description,
        "paragraph": lambda: "\n  ".join(description.splitlines()),
        "parameters": lambda: _json(parameters),
        "function": lambda: _json(function),
        "described": lambda: _json({"description": description, "name": name, "parameters": parameters}),
        "compact": lambda: json.dumps(
            {"type": "function", "function": function}, ensure_ascii=False, separators=_TIGHT
        ),
        "tool": lambda: _json({"type": "function", "function": function}),
        "indented": lambda: _json({"type": "function", "function": function}, 4),
        "elements": lambda: _elements(parameters),
        "typed": lambda: _typed(name, description, parameters),
    }
    return re.sub(r"\$([a-z]+)", lambda match: written[match[1]](), declaration.each)


def _cleaned(value: Json, clean: Clean) -> Json:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(key): _cleaned(item, clean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item, clean) for item in value]
    return value


def _json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _elements(schema: JsonObject) -> str:
    """Parameters as Qwen3-Coder reads them: what a schema says of each, one element per key."""
    properties = schema.get("properties")
    items = properties.items() if isinstance(properties, Mapping) else ()
    written = (f"\n<parameter>\n<name>{key}</name>{_members(item)}\n</parameter>" for key, item in items)
    rest = {key: value for key, value in schema.items() if key not in ("type", "properties")}
    return "".join(written) + _members(rest)


def _members(schema: Json) -> str:
    if not isinstance(schema, Mapping):
        return ""
    texts = {key: value if isinstance(value, str) else _json(value) for key, value in schema.items()}
    return "".join(f"\n<{key}>{text}</{key}>" for key, text in texts.items())


def _typed(name: str, description: str, schema: JsonObject) -> str:
    """A tool as a TypeScript signature, as harmony lists it."""
    fields = _fields(schema)
    return f"{_comment(description)}type {name} = ({f'_: {fields}' if fields else ''}) => any;"


def _comment(text: Json) -> str:
    return "".join(f"// {line}\n" for line in text.splitlines()) if isinstance(text, str) else ""


def _fields(schema: JsonObject) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return ""
    needed = required if isinstance(required, list) else []
    return "{\n" + "".join(_field(key, item, key in needed) for key, item in properties.items()) + "}"


def _field(key: str, schema: Json, needed: bool) -> str:
    said: JsonObject = schema if isinstance(schema, Mapping) else {}
    shown = key if _IDENTIFIER.fullmatch(key) else _json(key)
    default = f" // default: {_default(said)}" if "default" in said else ""
    return f"{_comment(said.get('description'))}{shown}{'' if needed else '?'}: {_type(said)},{default}\n"


def _default(schema: JsonObject) -> str:
    """A default value; one of several words stands there without quotes."""
    value = schema["default"]
    is_word = isinstance(value, str) and "enum" in schema and _IDENTIFIER.fullmatch(value)
    return str(value) if is_word else _json(value)


def _type(schema: Json) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    for word in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(word), list) and options:
            return " | ".join(map(_type, options))
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if isinstance(values, list) and values:
            return " | ".join(map(_json, values))
    named = schema.get("type")
    if isinstance(named, list) and named:
        return " | ".join(_type({**schema, "type": it}) for it in named)
    if named == "array":
        item = _type(schema.get("items"))
        return f"({item})[]" if " | " in item else f"{item}[]"
    return (_fields(schema) or "object") if named == "object" else _SIMPLE.get(str(named), "any")


_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
