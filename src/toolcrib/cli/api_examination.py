"""What `doctor` says of HTTP interfaces, without sending anything."""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolcrib.assemble.apis import api_offer
from toolcrib.cli.examination import Finding, State
from toolcrib.cli.output import counted
from toolcrib.config import Config
from toolcrib.values.references import resolved
from toolcrib.values.refusal import ConfigError


def examine_apis(config: Config) -> Iterator[Finding]:
    for name, entry in config.apis.items():
        subject = f"api {name}"
        try:
            offer = api_offer(config, name, entry)
            resolved({**entry.headers, **entry.query}, os.environ, f"apis.{name}")
        except ConfigError as error:
            yield Finding(subject, State.WRONG, str(error), "mend it; until then it has no tools that work")
            continue
        for place, why in offer.aside.items():
            yield Finding(subject, State.NOTE, f"{place} is no tool: {why}")
        yield Finding(subject, State.OK, counted(len(offer.tools), "tool"))
