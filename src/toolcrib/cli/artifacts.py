"""`toolcrib artifacts`: results that were too long for a model, whole."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import NotSo
from toolcrib.cli.output import print_json, size
from toolcrib.values.visible import visible

if TYPE_CHECKING:
    from toolcrib.ports import Artifact, Store

CHUNK = 1 << 20
TEXT_LIKE = ("text/", "application/json", "application/x-ndjson", "application/xml")


@click.group(cls=Group)
def artifacts() -> None:
    """Read what was too long to be shown to a model."""


@artifacts.command(
    epilog=examples("toolcrib artifacts show ID | less", "toolcrib artifacts show ID > picture.png"),
    json="`{artifact_id, size, mime_type, complete, created_at}`: what is known of the artifact, without its bytes.",
)
@click.argument("artifact_id", metavar="ID")
@click.option("--offset", type=click.IntRange(0), default=0, metavar="BYTES", help="Begin after this many bytes.")
@click.option("--limit", type=click.IntRange(0), metavar="BYTES", help="Print at most this many bytes.")
@click.pass_obj
def show(choices: Choices, artifact_id: str, offset: int, limit: int | None) -> None:
    """Print an artifact, byte for byte.

    On a terminal control characters are shown as escapes.
    """
    asyncio.run(_show(choices, artifact_id, offset, limit))


async def _show(choices: Choices, artifact_id: str, offset: int, limit: int | None) -> None:
    from toolcrib.cli.records import records

    async with records(choices) as store:
        artifact = await store.artifacts.find(artifact_id)
        if artifact is None:
            raise NotSo(f"there is no artifact {artifact_id!r}; results that have one name it, see `toolcrib events`")
        if choices.form is Form.JSON:
            print_json(
                {
                    "artifact_id": artifact.artifact_id,
                    "size": artifact.size,
                    "mime_type": artifact.mime_type,
                    "complete": artifact.complete,
                    "created_at": artifact.created_at,
                }
            )
        else:
            await _print_bytes(store, artifact, offset, artifact.size if limit is None else offset + limit)


async def _print_bytes(store: Store, artifact: Artifact, offset: int, end: int) -> None:
    on_terminal = sys.stdout.isatty()
    if on_terminal and not artifact.mime_type.startswith(TEXT_LIKE):
        raise NotSo(
            f"{artifact.artifact_id} is {artifact.mime_type} ({size(artifact.size)}), not text; send it to a file: "
            f"toolcrib artifacts show {artifact.artifact_id} > FILE"
        )
    while offset < end and (
        part := await store.artifacts.read(artifact.artifact_id, offset=offset, limit=min(CHUNK, end - offset))
    ):
        if on_terminal:
            click.echo(visible(part.decode("utf-8", "replace"), keep="\n\t"), nl=False)
        else:
            sys.stdout.buffer.write(part)
        offset += len(part)
