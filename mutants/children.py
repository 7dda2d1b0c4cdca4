"""Forked processes, several at once, each with limits of processor time and memory.

Imported modules need not be imported again, and the damage of a mutant stays in its process.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

MOST_MEMORY = 2 << 30
TOO_LONG = frozenset({signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM})
"""How a process ends that does not come to an end."""
WAITING = 100
"""So many times its processor time, work may take on a clock: other work may be in its way."""

T = TypeVar("T")
Work = Callable[[Path], bytes]
"""It is given a folder of its own."""


class BrokenTrialError(Exception):
    """The work itself went wrong, not what it tried."""


class Children(Generic[T]):
    """Of each, what it is about; and at its end, what it said; None if it went on for too long."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._running: dict[int, tuple[T, Path]] = {}

    @property
    def are_full(self) -> bool:
        return len(self._running) >= self.most

    def __bool__(self) -> bool:
        return bool(self._running)

    def start(self, about: T, work: Work, *, seconds: float) -> None:
        folder = Path(tempfile.mkdtemp(prefix="aot-mutant-"))
        pid = os.fork()
        if not pid:
            _work(work, folder, seconds)
        self._running[pid] = about, folder

    def end_of_one(self) -> tuple[T, bytes | None]:
        pid, status = os.wait()
        about, folder = self._running.pop(pid)
        said = (folder / "said").read_bytes() if (folder / "said").is_file() else b""
        shutil.rmtree(folder, ignore_errors=True)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in TOO_LONG:
            return about, None
        if status:
            raise BrokenTrialError(f"{about}: {said.decode(errors='replace') or f'it ended with {status}'}")
        return about, said


def all_of(works: Sequence[Work], *, seconds: float) -> Iterator[bytes]:
    """All at once; none may take too long."""
    children: Children[int] = Children(len(works))
    for number, work in enumerate(works):
        children.start(number, work, seconds=seconds)
    while children:
        number, said = children.end_of_one()
        if said is None:
            raise BrokenTrialError(f"part {number} took too long")
        yield said


def _work(work: Work, folder: Path, seconds: float) -> None:
    with silent(folder / "said"):
        limit = max(int(seconds), 1)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        signal.alarm(WAITING * limit)
        (folder / "said").write_bytes(work(folder))


@contextmanager
def silent(said: Path | None = None) -> Iterator[None]:
    """What is done in here is the last that this process does; nothing of it is shown."""
    status = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        yield
        status = 0
    except BaseException:  # noqa: BLE001 - told to the parent, which goes on from here
        if said is not None:
            said.write_text(traceback.format_exc())
    finally:
        os._exit(status)
