"""Telling somebody that a question waits: a bell, a command, a webhook. None of them can answer or hold up anything."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from typing import TextIO

from toolcrib.askers.question import headline, question_text
from toolcrib.network import Reach
from toolcrib.network.exchange import Answer, exchange
from toolcrib.policy.network.url import read_url
from toolcrib.values.noun import frozen
from toolcrib.values.permission import PermissionRequest
from toolcrib.values.refusal import Refusal

PASSED_ON = ("PATH", "HOME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
MOST_ANSWER = 64 * 1024


class NotNotified(Exception):
    """Somebody could not be told; the question waits all the same."""


@frozen
class Bell:
    """Rings where there is a terminal."""

    screen: TextIO

    async def __call__(self, request: PermissionRequest) -> None:
        if self.screen.isatty():
            self.screen.write("\a")
            self.screen.flush()


@frozen
class CommandNotifier:
    """Runs a command with the question in its environment; nothing of it is part of the command itself."""

    argv: tuple[str, ...]
    seconds: float
    environment: Mapping[str, str]

    async def __call__(self, request: PermissionRequest) -> None:
        process = await asyncio.create_subprocess_exec(
            *self.argv,
            env={**self._passed_on(), **described(request)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.seconds):
                code = await process.wait()
        except TimeoutError:
            raise NotNotified(f"{self.argv[0]} took longer than {self.seconds:g} s") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if code:
            raise NotNotified(f"{self.argv[0]} ended with {code}")

    def _passed_on(self) -> dict[str, str]:
        return {name: self.environment[name] for name in PASSED_ON if name in self.environment}


@frozen
class Webhook:
    """Posts the question as JSON. A redirect is not followed, and no answer but a 2xx counts."""

    url: str
    seconds: float
    reach: Reach

    async def __call__(self, request: PermissionRequest) -> None:
        body = {**described(request), "TOOLCRIB_QUESTION": question_text(request)}
        named = {name.removeprefix("TOOLCRIB_").lower(): value for name, value in body.items()}
        said = json.dumps({"event": "permission_asked", **named}).encode()
        answer = await self._post(said)
        if not 200 <= answer.status < 300:
            raise NotNotified(f"the webhook answered {answer.status}")

    async def _post(self, body: bytes) -> Answer:
        try:
            there = read_url(self.url)
            async with asyncio.timeout(self.seconds):
                return await exchange(self.reach.written_down(there), "POST", there, body, limit=MOST_ANSWER)
        except TimeoutError:
            raise NotNotified(f"the webhook took longer than {self.seconds:g} s") from None
        except Refusal as error:
            raise NotNotified(error.message) from error


def described(request: PermissionRequest) -> dict[str, str]:
    """A question as variables of an environment."""
    return {
        "TOOLCRIB_REQUEST_ID": request.request_id,
        "TOOLCRIB_SESSION_ID": request.session_id,
        "TOOLCRIB_AGENT_ID": request.agent_id,
        "TOOLCRIB_TOOL": request.tool,
        "TOOLCRIB_EFFECT": "dangerous" if request.dangerous else request.effect.value,
        "TOOLCRIB_SUMMARY": headline(request),
        "TOOLCRIB_BECAUSE": request.because.replace("\0", ""),
    }
