"""Write calls in any text format: the same descriptions that are read from, the other way round."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from toolcrib.dialects.formats.spec import Format, Invoked, Nested, Tagged, Text
from toolcrib.dialects.grammar import chosen
from toolcrib.values.json import Json, kind


class Call(Protocol):
    """What is written of a call."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Json]: ...


class Unwritable(ValueError):
    """The format has no way to say this: a value holds the very text that would end it."""


def render_calls(calls: Sequence[Call], dialect: str | Format) -> str:
    """The calls as a model of this dialect would have written them."""
    spec = chosen(dialect)[0]
    layout = spec.layout
    written = (_fill(layout.each, _words(call, index, spec)) for index, call in enumerate(calls))
    return layout.before + layout.between.join(written) + layout.after if calls else ""


def _words(call: Call, index: int, spec: Format) -> dict[str, str]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    words = {"name": call.name, "arguments": arguments, "index": str(index), "number": str(index + 1)}
    if "$quoted" in spec.layout.each:
        words["quoted"] = json.dumps(arguments, ensure_ascii=False)
    if "$pairs" in spec.layout.each:
        pairs = [_pair(key, value, spec) for key, value in call.arguments.items()]
        words["pairs"] = spec.layout.pairs_between.join(pairs)
    return words


def _pair(key: str, value: Json, spec: Format) -> str:
    words = {
        "key": _key(key, spec),
        "value": _value(value, spec, key),
        "is_string": "true" if isinstance(value, str) else "false",
        "type": _type(value),
    }
    return _fill(spec.layout.pair, words)


def _key(key: str, spec: Format) -> str:
    """A key as it stands before a value."""
    if isinstance(spec, Invoked) and not _WORD.fullmatch(key):
        if spec.bracket == "(":
            raise Unwritable(f"{key!r} is no keyword")
        return _quoted(key, spec.quotes[0])
    if isinstance(spec, Nested) and re.search("[<>]|^/", key):
        raise Unwritable(f"{key!r} is no name of an element")
    if isinstance(spec, Tagged) and not _is_readable(key, spec):
        raise Unwritable(f"{key!r} would end its tag")
    return key


_WORD = re.compile(r"[^\W\d][\w.\-]*")


def _is_readable(key: str, spec: Tagged) -> bool:
    """Whether a key can be told from the tag around it."""
    if any(end in key for end in ("<", *spec.parameter_ends)) or key != key.strip(" \t\r\n\"'"):
        return False
    return re.search(r"\s[\w:\-]+=|/|\s" if not spec.value_close else r"\s[\w:\-]+=", key) is None


def _quoted(text: str, quote: str) -> str:
    if quote in text + quote[:-1]:
        raise Unwritable(f"{quote!r} in {text!r}")
    return f"{quote}{text}{quote}"


def _value(value: Json, spec: Format, key: str) -> str:
    if isinstance(spec, Nested):
        return _elements(value, spec)
    if isinstance(spec, Invoked) and not spec.text_values:
        return _literal(value, spec)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(spec, Tagged) and spec.text is Text.XML:
        return _cdata(text) if isinstance(value, str) and re.search("[<>&]", text) else text
    close = (spec.value_close or f"</{key}>") if isinstance(spec, Tagged) else getattr(spec, "quotes", ("",))[0]
    if close and close in text + close[:-1]:
        raise Unwritable(f"{close!r} in the value of {key!r}")
    return text


def _fill(template: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\$([a-z_]+)", lambda match: words[match[1]], template)


def _cdata(text: str) -> str:
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def _elements(value: Json, spec: Nested) -> str:
    """A value as elements: members by name, items by the format's word for them."""
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = [(spec.item, item) for item in value]
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        if spec.prefix in text + spec.prefix[:-1]:
            raise Unwritable(f"{spec.prefix!r} in a value")
        return text
    mark = spec.prefix
    return "".join(f"{mark}<{_key(key, spec)}>{_elements(item, spec)}{mark}</{key}>" for key, item in members)


def _literal(value: Json, spec: Invoked) -> str:
    """A value as a Python literal, or as one with bare keys and the format's own quotes."""
    if spec.bracket == "(":
        return repr(value)
    quote = spec.quotes[0]
    if isinstance(value, str):
        return _quoted(value, quote)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_key(key, spec)}:{_literal(item, spec)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_literal(item, spec) for item in value) + "]"
    return json.dumps(value)


def _type(value: Json) -> str:
    return "number" if kind(value) == "integer" else kind(value)
