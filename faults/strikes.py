"""The moments of a kill: after some time, or as soon as a short event is seen."""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from tests.runner.projects import Project

_PAUSE = 0.0003

Sight = Callable[[], Hashable]
"""What is there now; whenever it becomes another value that is not None, it was seen once more."""


@dataclass(frozen=True)
class Strike:
    kind: str
    times: int
    """So often it has to be seen."""
    delay: float
    """Seconds after that."""
    patience: float = 0.0
    """Seconds; if it is not seen by then, it is struck all the same."""
    is_power_cut: bool = False
    """Everything that the run has started is killed together with it."""

    def __str__(self) -> str:
        and_all = ", and all of it" if self.is_power_cut else ""
        often = f" no. {self.times}" if self.times > 1 else ""
        return f"{self.kind}{often} + {self.delay * 1000:.0f} ms{and_all}"


GITS = ("add", "checkout", "commit-tree", "diff-index", "merge", "merge-tree", "rev-parse", "update-ref", "worktree")
KINDS = {
    "any time": "seconds drawn at random, the start of a run included",
    "lease": "the process has only just become the one that runs the loop",
    "state being written": "the temporary file is there",
    "state written": "and nothing was done about it yet",
    "attempt": "an agent has just begun",
    "receipt": "an agent has just finished",
    "record": "a result has just reached the disk",
    "landing": "git's index is locked by us",
    "landed": "the branch has moved, and the state file does not say so",
    "switched": "another choice is selected, and nothing was taken back yet",
    "going back": "what was given up is being taken back",
    **{f"git {word}": "while this git runs" for word in GITS},
}
_WEIGHTS = {"any time": 12, "landed": 3, "landing": 3, "switched": 3, "going back": 3, "record": 2, "state written": 2}


_RARE = ("lease", "switched", "going back")
"""Seen twice in a run at most."""

_POWER_CUTS = 0.2

ANY_TIME = "any time"


def draw(chance: random.Random) -> Strike:
    kind = chance.choices(list(KINDS), [_WEIGHTS.get(one, 1) for one in KINDS])[0]
    is_power_cut = chance.random() < _POWER_CUTS
    if kind == ANY_TIME:
        delay = chance.choice((chance.uniform(0.0, 0.6), chance.uniform(0.3, 2.5)))
        return Strike(kind, 0, delay, is_power_cut=is_power_cut)
    delay = chance.choice((0.0, 0.0, chance.uniform(0.0, 0.03)))
    times, patience = (chance.randint(1, 2), 6.0) if kind in _RARE else (chance.randint(1, 6), chance.uniform(0.8, 2.5))
    return Strike(kind, times, delay, patience, is_power_cut)


def lands(strike: Strike, process: subprocess.Popen[bytes], project: Project, traces: Path) -> Strike | None:
    """Kills it when the time has come, and tells what it was; None: it ended before."""
    is_seen = _is_seen(strike, process, project, traces)
    with suppress(subprocess.TimeoutExpired):
        process.wait(strike.delay)
        return None
    if strike.is_power_cut:
        _kill_all_of(process.pid)
    process.kill()
    process.wait()
    return strike if is_seen else replace(strike, kind=ANY_TIME, times=0, delay=strike.patience)


def _kill_all_of(pid: int) -> None:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        process.suspend()  # so that nothing new begins meanwhile
        for child in process.children(recursive=True):
            with suppress(psutil.Error):
                child.kill()


def _is_seen(strike: Strike, process: subprocess.Popen[bytes], project: Project, traces: Path) -> bool:
    if strike.kind == ANY_TIME:
        return True
    deadline, left = time.monotonic() + strike.patience, strike.times
    look = _sight(strike.kind, process, project, traces)
    last = look()
    while process.poll() is None and time.monotonic() < deadline:
        now = look()
        left -= now not in (None, last)
        last = now
        if not left:
            return True
        time.sleep(_PAUSE)
    return False


def _sight(kind: str, process: subprocess.Popen[bytes], project: Project, traces: Path) -> Sight:
    state, git = project.state_file, project.root / ".git"
    match kind.partition(" "):
        case ("lease", _, _):
            return lambda: _inode(state.with_name(f".{state.name}.run"))
        case ("git", _, word):
            return lambda: _running_git(process.pid, word)
    sights: dict[str, Sight] = {
        "state being written": lambda: _inode(state.with_name(f".{state.name}.tmp")),
        "state written": lambda: _inode(state),
        "attempt": lambda: _size(traces / "begun"),
        "receipt": lambda: _size(traces / "receipts"),
        "record": lambda: _records(project.root / ".aot" / "attempts"),
        "landing": lambda: _inode(git / "index.lock"),
        "landed": lambda: _inode(git / "refs" / "heads" / "main"),
        "switched": lambda: _selected(state),
        "going back": _Lines(project.root / ".aot" / "events.jsonl", b'"kind":"backtracked"').seen,
    }
    return sights[kind]


def _inode(path: Path) -> int | None:
    with suppress(OSError):
        return path.stat().st_ino
    return None


def _selected(path: Path) -> Hashable:
    with suppress(OSError):
        return tuple(one for one in re.findall(rb"selected: (\w+)", path.read_bytes()) if one != b"null")
    return None


def _size(path: Path) -> int | None:
    with suppress(OSError):
        return path.stat().st_size
    return None


def _records(folder: Path) -> Hashable:
    with suppress(OSError):
        return tuple(sorted((one.name, _inode(Path(one.path, "record.json"))) for one in os.scandir(folder)))
    return None


def _running_git(parent: int, word: str) -> str | None:
    for child in _children(parent):
        with suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            if words[0] == b"git" and word.encode() in words:
                return child
    return None


def _children(parent: int) -> Iterator[str]:
    with suppress(OSError):
        for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - again and again, and quickly
            with suppress(OSError):
                yield from Path(f"/proc/{parent}/task/{task}/children").read_text().split()


class _Lines:
    """How many lines with this text were added to a file."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._path = path
        self._text = text
        self._read = _size(path) or 0
        self._found = 0

    def seen(self) -> Hashable:
        if (_size(self._path) or 0) > self._read:
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            self._read += len(new)
            self._found += new.count(self._text)
        return self._found or None
