"""The specification of a process before its start: the program, its folder, its environment, and its end."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from aotloop.process.sandbox.fence import Confinement

NEVER = float("inf")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds; None: no limit."""

    start_up: float | None = None
    """Until the first output."""
    inactivity: float | None = None
    """Between two outputs."""
    total: float | None = None


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to a process and its children when it ends, or when it must end."""

    grace: float = 0.5
    """Seconds between SIGTERM and SIGKILL."""
    linger: float = 0.0
    """Seconds after the end of the first process in which its children may still write output."""
    reach: Literal["process", "group", "tree"] = "tree"
    """What a signal reaches: the process, its process group, or everything that it started (see process_group)."""
    clears: bool = True
    """Whether everything within reach is killed also after a normal end."""
    interrupt: Literal["end", "finish"] = "end"
    """What Ctrl-C does while the main thread waits: it ends the process, or only a second Ctrl-C does."""


class ProcessSpec(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    cwd: Path | None = None
    """None: the present folder."""
    env: dict[str, str]
    """The whole environment: nothing is inherited. See aotloop.process.environment."""
    stdin: bytes | Literal["nothing", "pipe"] = "nothing"
    """Bytes are passed as a file. A pipe stays open, so that a Transport can write to it."""
    stdout: Literal["pipe", "inherit"] = "pipe"
    stderr: Literal["pipe", "inherit", "stdout"] = "pipe"
    """`stdout`: both are read as one stream, in the order of writing."""
    mark: str | None = None
    """The variable that marks all descendants (see environment.MARKS); None: they carry no mark."""
    own_session: bool = True
    """Whether it leads its own session, so that a Ctrl-C of the terminal does not reach it."""
    held: tuple[int, ...] = ()
    """Open descriptors that it keeps while it runs, even if we are killed: locks, for example."""
    confinement: Confinement | None = None
    scoped: bool = False
    """Whether it is kept from abstract sockets of processes outside; a confined process always is, where possible."""
    limits: Limits = Limits()
    ending: Ending = Ending()


class Expiry(msgspec.Struct, frozen=True):
    at: float
    """The time, on the caller's clock."""
    reason: str
    taught: bool = False
    """A total time that is too long says something about the work; silence does not."""


def next_expiry(limits: Limits, started: float, last_output: float | None) -> Expiry:
    """The first limit that will be passed if the process prints nothing more."""
    expiries = [Expiry(NEVER, "")]
    if limits.total is not None:
        expiries.append(Expiry(started + limits.total, f"did not end within {limits.total:g} s", taught=True))
    if last_output is None and limits.start_up is not None:
        expiries.append(Expiry(started + limits.start_up, f"printed nothing within {limits.start_up:g} s of its start"))
    elif limits.inactivity is not None:
        since = started if last_output is None else last_output
        expiries.append(Expiry(since + limits.inactivity, f"printed nothing for {limits.inactivity:g} s"))
    return min(expiries, key=lambda expiry: expiry.at)
