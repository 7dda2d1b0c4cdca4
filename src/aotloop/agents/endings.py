"""How a process ended, in words."""

from __future__ import annotations

import signal

_CANNOT_RUN = {126: "the command is not executable", 127: "command not found"}
_HINTS = {
    "SIGKILL": "killed from outside, perhaps for want of memory",
    "SIGSEGV": "it crashed",
    "SIGABRT": "it aborted",
}


def could_not_run(exit_code: int | None) -> bool:
    """A shell's way to say that there was nothing to run."""
    return exit_code in _CANNOT_RUN


def signal_behind(exit_code: int | None, number: int | None) -> int | None:
    """The signal that killed it, or, told by a shell as 128 and more, its last command."""
    if number is not None:
        return number
    if exit_code is None or exit_code <= 128:  # the list of signals is made anew each time one asks
        return None
    return exit_code - 128 if exit_code - 128 in signal.valid_signals() else None


def status_in_words(status: int) -> str:
    """Of a status as Popen tells it: a signal is a negative number."""
    return _in_words(status, None) if status >= 0 else _in_words(None, -status)


def _in_words(exit_code: int | None, number: int | None) -> str:
    killer = signal_behind(exit_code, number)
    if killer is not None:
        return _killed_by(killer) if exit_code is None else f"exit {exit_code}: {_killed_by(killer)}"
    if exit_code in _CANNOT_RUN:
        return f"exit {exit_code}: {_CANNOT_RUN[exit_code]}"
    return f"exit {exit_code}"


def _killed_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = f"signal {number}"
    return f"killed by {name}" + (f" ({_HINTS[name]})" if name in _HINTS else "")
