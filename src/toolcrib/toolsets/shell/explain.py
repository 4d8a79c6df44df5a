"""How a command ended, in words."""

from __future__ import annotations

import signal

from toolcrib.values.process import End, Ended

_SIGNALS = {
    signal.SIGKILL: "was killed (by the system when memory ran out, or by another process)",
    signal.SIGSEGV: "crashed (invalid memory access)",
    signal.SIGABRT: "aborted itself",
    signal.SIGXFSZ: "wrote a file larger than its limit",
    signal.SIGXCPU: "used more processor time than its limit",
    signal.SIGSYS: "made a system call that the sandbox forbids",
    signal.SIGTERM: "was asked to end",
    signal.SIGINT: "was interrupted",
    signal.SIGPIPE: "wrote to something that no longer listens",
}


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
