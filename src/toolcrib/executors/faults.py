"""Why a command did not start, or ended as it did, in words that say what would work."""

from __future__ import annotations

import errno
import os
import signal

from toolcrib.values.process import End, Ended, Job
from toolcrib.values.refusal import Reason, Refusal

_SIGNALS = {
    signal.SIGKILL: "killed (by the system when memory ran out, or by another process)",
    signal.SIGSEGV: "crashed (invalid memory access)",
    signal.SIGABRT: "aborted itself",
    signal.SIGXFSZ: "wrote a file larger than its limit",
    signal.SIGXCPU: "used more processor time than its limit",
    signal.SIGSYS: "made a system call that the sandbox forbids",
    signal.SIGTERM: "was asked to end",
    signal.SIGINT: "was interrupted",
    signal.SIGPIPE: "wrote to something that no longer listens",
}


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
        case errno.ENOENT:
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


def explain(ended: Ended) -> str:
    """How a command ended, for the model; an ordinary exit with 0 needs no word."""
    match ended.end:
        case End.TIMED_OUT:
            return f"It was stopped at its time limit, after {ended.seconds:.1f} s, with everything it had started."
        case End.STOPPED:
            return "It was stopped, with everything it had started."
        case End.TOO_MANY_PROCESSES:
            return "It was killed because it started too many processes."
        case End.OUT_OF_MEMORY:
            return "It was killed because it used more memory than it may."
        case End.LOST:
            return "It is gone without a trace; whether it finished is unknown."
        case End.SIGNALLED:
            return f"Ended by signal {ended.signal}: it {_signal(ended.signal or 0)}."
        case End.EXITED:
            return _exit(ended.code or 0)


def _exit(code: int) -> str:
    if code == 0:
        return ""
    if code == 126:
        return "Exit code 126: a program was found but could not be executed (permission or format)."
    if code == 127:
        return "Exit code 127: a program was not found; check its name and whether it is installed."
    if 128 < code < 128 + signal.NSIG:
        return f"Exit code {code}: something it ran ended by signal {code - 128}: it {_signal(code - 128)}."
    return f"Exit code {code}."


def _signal(number: int) -> str:
    try:
        known = signal.Signals(number)
    except ValueError:
        return "was ended"
    return _SIGNALS.get(known, f"was ended ({known.name})")


def _words(number: int | None) -> str:
    return os.strerror(number) if number else "unknown reason"
