"""Hooks as requests: the occasion is posted as JSON, the answer is the body. No redirects, no proxies, a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolcrib.hooks.declared import BadAnswer, answer_of
from toolcrib.network import Reach
from toolcrib.network.exchange import Answer, exchange
from toolcrib.policy.network.url import read_url
from toolcrib.ports import HookAnswer
from toolcrib.values.json import JsonError, JsonObject, canonical, parse_json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Refusal

MOST_BODY = 64 * 1024


@frozen
class HttpWay:
    """Posts to one address. 200: as the body answers; 204: no objection; anything else: it failed."""

    url: str
    headers: Mapping[str, str]
    timeout: float
    reach: Reach

    async def __call__(self, occasion: JsonObject) -> HookAnswer:
        answer = await self._post(canonical(occasion).encode())
        if answer.status == 204:
            return HookAnswer()
        if answer.status != 200:
            raise BadAnswer(f"{self.url} answered with status {answer.status}")
        try:
            return answer_of(parse_json(answer.body) if answer.body.strip() else None)
        except JsonError as error:
            raise BadAnswer(f"the answer of {self.url} is {error}") from error

    async def _post(self, body: bytes) -> Answer:
        try:
            there = read_url(self.url)
            reach = self.reach.written_down(there)
            async with asyncio.timeout(self.timeout):
                return await exchange(reach, "POST", there, body, self.headers, MOST_BODY)
        except Refusal as error:
            raise BadAnswer(error.message) from error
