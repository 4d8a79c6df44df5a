"""The warden: a small process that starts commands on behalf of a large one, and keeps hold of all they start.

It exists because the program that wants a command run has threads and much memory, and neither goes well with fork.
The warden has a spare keeper ready; the keeper takes one request, starts the command, adopts whatever the command
abandons, and ends with all of it. It imports the standard library only, so that it stays small.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NoReturn, cast

from toolcrib.executors.groups import ProcessGroup, sweep
from toolcrib.executors.limits import PidNamespaces, adopt_orphans, die_with_parent, take_on
from toolcrib.executors.sandbox.restrict import restrict
from toolcrib.executors.tree import descendants, kill_descendants, kill_namespace, left_behind, memory
from toolcrib.values.json import Json, JsonObject

FILES = 5
"""Descriptors that come with every request: the request itself, stdin, stdout, stderr, control."""
SPARES = 2
WATCH_SECONDS = 0.05
MARGIN = 8
"""How many processes more than its limit a command can really have: enough for us to see that it went over."""
KILL_SECONDS = 1.0


def main(server: socket.socket) -> None:
    """Have a keeper ready for the next request until the other side is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers report by their control socket; nobody waits for them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sweep()
    namespaces = PidNamespaces.of_this_process()
    taken, takes = os.pipe()
    poll = select.poll()
    poll.register(taken, select.POLLIN)
    poll.register(server, 0)  # only to hear that the other side is gone
    gc.freeze()  # what is never looked at again is never copied for a keeper
    for _ in range(SPARES):
        os.write(takes, b"+")
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != taken:
                return
            os.read(taken, 1)
            alone = namespaces.enter_new()
            if os.fork() == 0:
                os.close(taken)
                _keep(server, takes, alone)


def _keep(server: socket.socket, takes: int, alone: bool) -> NoReturn:
    """Be the keeper of the next command; never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        adopt_orphans()
        group = ProcessGroup.enter()
        word, descriptors, _, _ = socket.recv_fds(server, 1, FILES + 8)
        server.close()
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # recv_fds cannot ask for that itself
        if word:
            request = cast("dict[str, Json]", json.loads(os.pread(descriptors[0], os.fstat(descriptors[0]).st_size, 0)))
            os.close(descriptors[0])
            keeper = _Keeper(request, descriptors, alone, group)
            keeper.start()
            os.write(takes, b"+")  # only now is there time to make the next keeper
            os.close(takes)
            if keeper.pid:
                keeper.watch()
        if group is not None:
            group.leave()
    finally:
        os._exit(0)


class _Keeper:
    def __init__(
        self, request: dict[str, Json], descriptors: list[int], alone: bool, group: ProcessGroup | None
    ) -> None:
        self.request = request
        self.streams = descriptors[1:4]
        self.control = socket.socket(fileno=descriptors[4])
        self.filters = descriptors[FILES:]
        self.alone = alone
        self.group = group
        self.limits = cast("JsonObject", request["limits"])
        self.pid = 0

    def start(self) -> None:
        """Start the command and report; `pid` stays 0 when it could not be started."""
        try:
            self.pid = self._start()
        except OSError as error:
            step = "cwd" if error.filename == self.request["cwd"] else "exec"
            self._report({"failed": [step, error.errno, str(error)[:1_000]]})
        except (subprocess.SubprocessError, ValueError) as error:
            self._report({"failed": ["sandbox", None, f"{type(error).__name__}: {error}"[:1_000]]})
        else:
            self._report({"started": True})

    def _start(self) -> int:
        request, filters = self.request, self.filters
        take_on(self.limits)  # on the keeper itself, and so on everything below it
        most = cast("int | None", self.limits["processes"])
        if self.group is not None and most is not None:
            self.group.limit(most + MARGIN)
        prefix = [_filled(word, filters) for word in cast("list[str]", request["prefix"])]
        # Held on to, because Python would otherwise collect the end of the command before anyone has seen it.
        self.process = subprocess.Popen(
            [*prefix, *cast("list[str]", request["argv"])],
            executable=cast("str", request["executable"]),
            cwd=cast("str", request["cwd"]),
            env=cast("dict[str, str]", request["environment"]),
            stdin=self.streams[0],
            stdout=self.streams[1],
            stderr=self.streams[2],
            start_new_session=True,
            pass_fds=filters,
            # A keeper has one thread, so code between fork and exec is safe here; without any, fork can be cheap.
            preexec_fn=self._before(),
        )
        for descriptor in (*self.streams, *filters):
            os.close(descriptor)
        return self.process.pid

    def _before(self) -> Callable[[], None] | None:
        """What the command takes on before it begins, beyond what it inherits."""
        restrictions = cast("JsonObject", self.request["restrictions"])
        if not restrictions:
            return None if self.alone or self.request["prefix"] else die_with_parent

        def before() -> None:
            die_with_parent()
            restrict(restrictions)

        return before

    def watch(self) -> None:
        """Wait for the end, a word from the other side, or an excess; then end everything and report."""
        end, status = "exited", 0
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        watched = os.pidfd_open(self.pid)
        poll.register(watched, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(WATCH_SECONDS * 1_000)}
            if watched in ready:
                _, status = os.waitpid(self.pid, 0)
                break
            if self.control.fileno() in ready and not self._obey():
                end = "stopped"
                break
            pids = descendants()
            if (excess := self._excess(pids)) is not None:
                end = excess
                break
            self._reap_others(pids)
        self._end(end, status)

    def _obey(self) -> bool:
        """Do what the other side says; False when everything is to end now, as it is when the other side is gone."""
        word = self.control.recv(1)
        if word != b"T":
            return False
        try:
            os.killpg(self.pid, signal.SIGTERM)
        except ProcessLookupError:
            return True
        return True

    def _excess(self, pids: list[int]) -> str | None:
        most, heaviest = cast("int | None", self.limits["processes"]), cast("int | None", self.limits["memory"])
        if most is not None and len(pids) > most:
            return "too_many_processes"
        if heaviest is not None and memory(pids) > heaviest:
            return "out_of_memory"
        return None

    def _reap_others(self, pids: list[int]) -> None:
        """Collect adopted children that have ended, and leave the command itself to `_watch`."""
        for pid in pids:
            if pid != self.pid:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    continue

    def _end(self, end: str, status: int) -> None:
        deadline = time.monotonic() + KILL_SECONDS
        prefix = cast("list[str]", self.request["prefix"])
        sandbox = os.path.basename(prefix[0]) if prefix else ""
        leftover = left_behind([pid for pid in descendants() if pid != self.pid], sandbox)
        survivors = 0
        if self.alone:
            kill_namespace(deadline)
        else:
            survivors = kill_descendants(deadline)
        self._report({"end": end, "status": status, "leftover": len(leftover), "survivors": survivors})

    def _report(self, report: JsonObject) -> None:
        try:
            self.control.sendall(json.dumps(report).encode() + b"\n")
        except OSError:
            return  # nobody listens any more


def _filled(word: str, filters: list[int]) -> str:
    for index, descriptor in enumerate(filters):
        word = word.replace(f"{{filter:{index}}}", str(descriptor))
    return word


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
