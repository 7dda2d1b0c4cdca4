"""All descendants of this process: here they are taken note of, and killed, whatever they did to get away.

A part of the program `reaper`: it imports nothing of ours.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # without the names, which take longer than all the rest
import os
import time

_PAUSE = 0.01
_MOST_ROUNDS = 1000
"""Then what is left cannot be killed: it belongs to another user, or hangs in the kernel."""


def reaped() -> list[tuple[int, int]]:
    found = []
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(ended)
    except ChildProcessError:
        pass
    return found


def are_there() -> bool:
    """Also zombies count, until `reaped` takes note of them."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def kill_all(spared: frozenset[int] = frozenset()) -> None:
    """First all are stopped, until no new one appears: so none can start another while they are killed.

    `spared`: children that stay, with all that is below them. Then what ends is left for others to take note of.
    """
    for _ in range(_MOST_ROUNDS):
        if not spared:
            reaped()
        if not (_found(spared) if spared else are_there()):
            return
        seen: set[int] = set()
        while new := _found(spared) - seen:
            for pid in new:
                _send(pid, signal.SIGSTOP)
            seen |= new
        for pid in seen:
            _send(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _send(pid: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib takes long to import
        os.kill(pid, number)
    except OSError:
        pass


def _found(spared: frozenset[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib takes long to import
        if name.isdigit():
            try:
                facts = _read(f"/proc/{name}/stat")
                state, parent = facts[facts.rindex(b")") + 1 :].split(None, 2)[:2]
                if state not in b"ZX":
                    children.setdefault(int(parent), []).append(int(name))
            except (OSError, ValueError, IndexError):
                continue
    found: set[int] = set()
    below = [os.getpid()]
    while below:
        new = [pid for pid in children.pop(below.pop(), []) if pid not in spared]
        found.update(new)
        below += new
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes long to import
        return file.read()
