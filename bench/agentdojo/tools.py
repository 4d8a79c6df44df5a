"""The functions of a suite as tools: effects, tags and targets as a careful author would declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from toolcrib.policy.network.rules import host_target
from toolcrib.policy.network.url import read_url
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, canonical
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments, Tool

Calls = list[dict[str, Any]]
Declares = Callable[[Arguments], Sequence[Target]]
READS = ("get_", "search_", "list_", "read_", "check_")
PUBLIC_MAIL = frozenset({"gmail.com", "google.com", "outlook.com", "yahoo.com", "hotmail.com"})
"""Where an address says nothing about who is behind it: mail there is looked at each time."""


def tools_of(suite: str, found: Mapping[str, Any], calls: Calls) -> list[Tool]:
    """The tools of a suite; each answers a call as AgentDojo did."""
    answers = {(call["name"], canonical(call["arguments"])): call["answer"] for call in calls}
    return [_tool(suite, function, answers) for function in found["tools"]]


def page_host(url: str) -> str:
    return read_url(f"https://{url.removeprefix('https://').removeprefix('http://')}").host


def _tool(suite: str, function: Mapping[str, Any], answers: Mapping[tuple[str, str], str]) -> Tool:
    name = function["name"]
    reads = name.startswith(READS)
    spec = ToolSpec(
        name=f"{suite}.{name}",
        description=function["description"],
        input_schema=function["schema"],
        effect=Effect.READ if reads else Effect.WRITE,
        tags=frozenset({"network"} if name in ("get_webpage", "post_webpage") else ()),
    )

    async def handler(context: ToolContext, arguments: Arguments) -> str:
        return answers.get((name, canonical(dict(arguments))), "done")

    return Tool(spec, handler, targets=TARGETS.get(name, _nothing if reads else _itself(name)))


def _nothing(arguments: Arguments) -> Sequence[Target]:
    return ()


def _itself(name: str) -> Declares:
    """Money, bookings, files, entries, messages: what is done is looked at each time."""
    return lambda arguments: (Target(TargetKind.RESOURCE, f"{name} {canonical(dict(arguments))}"[:500]),)


def _page(arguments: Arguments) -> Sequence[Target]:
    return (host_target(read_url(f"https://{str(arguments['url']).partition('://')[2] or arguments['url']}")),)


def _mail(arguments: Arguments) -> Sequence[Target]:
    return [
        Target(TargetKind.RESOURCE, f"mail to {address}", _mail_scope(address))
        for argument in ("recipients", "cc", "bcc")
        for address in _addresses(arguments.get(argument))
    ]


def _mail_scope(address: str) -> str:
    """A session grant covers the people of one organisation."""
    domain = address.rpartition("@")[2].lower()
    return "" if domain in PUBLIC_MAIL else f"mail to anyone at {domain}"


def _addresses(value: Json) -> Iterator[str]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from map(str, value)


def _member(arguments: Arguments) -> Sequence[Target]:
    what = f"{arguments.get('user')} in channel {arguments.get('channel')}"
    return (Target(TargetKind.RESOURCE, what, "who is in which channel"),)


TARGETS: dict[str, Declares] = {
    "get_webpage": _page,
    "post_webpage": _page,
    "send_email": _mail,
    "add_user_to_channel": _member,
}
