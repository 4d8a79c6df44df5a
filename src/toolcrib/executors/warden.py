"""The warden: a small process that starts commands on behalf of a large one, and keeps hold of all they start.

It exists because the program that wants a command run has threads and much memory, and neither goes well with fork.
The warden has a spare keeper ready; the keeper takes one request, starts the command, adopts whatever the command
abandons, and ends with all of it. Standard library only: no third-party module is on its path.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from typing import NoReturn, cast

from toolcrib.executors.limits import PidNamespaces, adopt_orphans, die_with_parent, take_on
from toolcrib.executors.sandbox.restrict import restrict
from toolcrib.executors.tree import descendants, kill_descendants, kill_namespace, left_behind, memory
from toolcrib.values.json import Json, JsonObject

FILES = 5
"""Descriptors that come with every request: the request itself, stdin, stdout, stderr, control."""
SPARES = 2
WATCH_SECONDS = 0.05
KILL_SECONDS = 1.0


def main(server: socket.socket) -> None:
    """Have a keeper ready for the next request until the other side is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers report by their control socket; nobody waits for them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespaces = PidNamespaces.of_this_process()
    taken, takes = os.pipe()
    poll = select.poll()
    poll.register(taken, select.POLLIN)
    poll.register(server, 0)  # only to hear that the other side is gone
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
        word, descriptors, _, _ = socket.recv_fds(server, 1, FILES + 8)
        server.close()
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # recv_fds cannot ask for that itself
        if word:
            os.write(takes, b"+")
            os.close(takes)
            with os.fdopen(descriptors[0], "rb") as question:
                question.seek(0)
                request = cast("dict[str, Json]", json.load(question))
            _Keeper(request, descriptors, alone).run()
    finally:
        os._exit(0)


class _Keeper:
    def __init__(self, request: dict[str, Json], descriptors: list[int], alone: bool) -> None:
        self.request = request
        self.streams = descriptors[1:4]
        self.control = socket.socket(fileno=descriptors[4])
        self.filters = descriptors[FILES:]
        self.alone = alone
        self.limits = cast("JsonObject", request["limits"])

    def run(self) -> None:
        """Start the command, see it to its end, and report."""
        errors, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(errors)
            _become(self.request, self.streams, self.filters, told)
        os.close(told)
        for descriptor in (*self.streams, *self.filters):
            os.close(descriptor)
        with os.fdopen(errors, "rb") as failure:
            failed = failure.read()
        if failed:
            self._report({"failed": json.loads(failed)})
            return
        self._report({"started": True})
        self._watch()

    def _watch(self) -> None:
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


def _become(request: dict[str, Json], streams: list[int], filters: list[int], told: int) -> NoReturn:
    """Turn this process into the command; a step that fails is told with its name and number."""
    step = "start"
    try:
        die_with_parent()
        os.setsid()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for descriptor in filters:
            os.set_inheritable(descriptor, True)
        step = "cwd"
        os.chdir(cast("str", request["cwd"]))
        step = "limits"
        take_on(cast("JsonObject", request["limits"]))
        step = "sandbox"
        restrictions = cast("JsonObject", request["restrictions"])
        if restrictions:
            restrict(restrictions)
        step = "exec"
        prefix = [_filled(word, filters) for word in cast("list[str]", request["prefix"])]
        argv = prefix + cast("list[str]", request["argv"])
        os.execve(cast("str", request["executable"]), argv, cast("dict[str, str]", request["environment"]))
    except BaseException as error:
        number = error.errno if isinstance(error, OSError) else None
        os.write(told, json.dumps([step, number, f"{type(error).__name__}: {error}"[:1_000]]).encode())
    os._exit(127)


def _filled(word: str, filters: list[int]) -> str:
    for index, descriptor in enumerate(filters):
        word = word.replace(f"{{filter:{index}}}", str(descriptor))
    return word


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
