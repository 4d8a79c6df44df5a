"""Why a command did not start, in words that say what would work."""

from __future__ import annotations

import errno
import os

from toolcrib.values.process import Job
from toolcrib.values.refusal import Reason, Refusal


def start_refusal(step: str, number: int | None, text: str, job: Job) -> Refusal:
    """The refusal for a command that could not begin."""
    program = job.argv[0] if job.argv else job.executable
    details = {"step": step, "program": job.executable, "errno": errno.errorcode.get(number or 0, "")}
    if step == "cwd":
        return Refusal(Reason.FILE_NOT_FOUND, f"the folder {job.cwd} cannot be entered: {_words(number)}", details)
    if step == "sandbox":
        message = f"the sandbox could not be put on, so {program} was not started: {text}"
        return Refusal(Reason.UNSUPPORTED_CAPABILITY, message, details)
    if step != "exec":
        return Refusal(Reason.INTERNAL_ERROR, f"{program} was not started ({step}): {text}", details)
    match number:
        case errno.ENOENT | errno.ENOTDIR:
            # The file was found before: what is missing is the interpreter of a script, or it vanished meanwhile.
            what = f"{job.executable} is gone, or the interpreter in its first line does not exist"
            return Refusal(Reason.FILE_NOT_FOUND, f"{program} was not started: {what}", details)
        case errno.EACCES | errno.EPERM:
            what = f"{job.executable} must not be executed: it is a folder, or lacks the permission to be executed"
            return Refusal(Reason.VALIDATION_ERROR, f"{program} was not started: {what}", details)
        case errno.ENOEXEC:
            what = f"{job.executable} is no program of this machine, and no script that names its interpreter"
            return Refusal(Reason.VALIDATION_ERROR, f"{program} was not started: {what}", details)
        case errno.ETXTBSY:
            what = f"{job.executable} is open for writing; try again when whoever writes it is done"
            return Refusal(Reason.CONFLICT, f"{program} was not started: {what}", details)
        case errno.E2BIG:
            what = "its arguments are too long for the system; pass long text by a file"
            return Refusal(Reason.VALIDATION_ERROR, f"{program} was not started: {what}", details)
        case _:
            return Refusal(Reason.INTERNAL_ERROR, f"{program} was not started: {text}", details)


def check(job: Job) -> None:
    """Refuse what no system can start."""
    for word in (job.executable, job.cwd, *job.argv, *job.environment.keys(), *job.environment.values()):
        if "\0" in word:
            raise Refusal(Reason.VALIDATION_ERROR, f"an argument holds a NUL character: {word[:80]!r}")
    if not job.argv:
        raise Refusal(Reason.VALIDATION_ERROR, "a command needs at least the name of a program")


def _words(number: int | None) -> str:
    return os.strerror(number) if number else "unknown reason"
