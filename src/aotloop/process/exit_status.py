"""The exit status of a process, as numbers and in words."""

from __future__ import annotations

import signal

import msgspec

from aotloop.process.spec import Expiry

CANNOT_RUN = {126: "the command is not executable", 127: "command not found"}
"""Exit codes of a shell that found no command to run."""

_HINTS = {
    "SIGKILL": "killed from outside, perhaps for lack of memory",
    "SIGSEGV": "it crashed",
    "SIGABRT": "it aborted",
}


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a process that was followed to its end."""

    status: int | None = None
    """An exit code, or a signal as a negative number; None: we ended the process."""
    expiry: Expiry | None = None
    """The limit that it passed."""
    cancelled: bool = False
    seconds: float = 0.0

    @property
    def exit_code(self) -> int | None:
        return self.status if self.status is not None and self.status >= 0 else None

    @property
    def signal(self) -> int | None:
        return -self.status if self.status is not None and self.status < 0 else None


def could_not_run(exit_code: int | None) -> bool:
    return exit_code in CANNOT_RUN


def signal_behind(exit_code: int | None, number: int | None) -> int | None:
    """The signal that killed the process or, for a shell's code above 128, the signal that killed its last command."""
    if number is not None:
        return number
    if exit_code is None or exit_code <= 128:  # the list of signals is built on each call
        return None
    return exit_code - 128 if exit_code - 128 in signal.valid_signals() else None


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def status_in_words(status: int) -> str:
    """The words for an exit code, or for a signal as a negative number."""
    return _in_words(status, None) if status >= 0 else _in_words(None, -status)


def _in_words(exit_code: int | None, number: int | None) -> str:
    killer = signal_behind(exit_code, number)
    if killer is not None:
        return _killed_by(killer) if exit_code is None else f"exit {exit_code}: {_killed_by(killer)}"
    if exit_code in CANNOT_RUN:
        return f"exit {exit_code}: {CANNOT_RUN[exit_code]}"
    return f"exit {exit_code}"


def _killed_by(number: int) -> str:
    name = signal_name(number)
    return f"killed by {name}" + (f" ({_HINTS[name]})" if name in _HINTS else "")
