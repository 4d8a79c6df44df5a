"""What is on record of self evolution: where branches began, which checks passed, and proposals to push."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.values.context import Document, ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

BRANCH, CHECK, PROPOSAL = "self_evolution_branch", "self_evolution_check", "self_evolution_proposal"


@frozen
class Record:
    """A document as it was found, or a new one."""

    kind: str
    key: str
    body: Mapping[str, Json]
    version: int = 0

    def text(self, name: str) -> str:
        return str(self.body.get(name, ""))

    def put(self, context: ToolContext, body: JsonObject) -> None:
        """Write it with the result of the call; somebody who was faster makes that a conflict."""
        context.put(Document(self.kind, self.key, body, self.version))


async def find(context: ToolContext, kind: str, key: str) -> Record:
    """What is on record, with an empty body when nothing is."""
    found = await context.load(kind, key)
    body = found.body if found is not None and isinstance(found.body, Mapping) else dict[str, Json]()
    return Record(kind, key, body, 0 if found is None else found.version)


async def find_proposal(context: ToolContext, repository: str, proposal: str) -> Record:
    """A proposal that somebody made; a refusal when there is none of that name."""
    record = await find(context, PROPOSAL, f"{repository}:{proposal}")
    if not record.body:
        raise Refusal(Reason.VALIDATION_ERROR, f"there is no proposal {proposal!r}; self_evolution.propose makes one")
    return record
