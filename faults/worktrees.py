"""Worktrees on a disk that fails at one call, of git or ours: the next pool cleans up.

One process does one step after the other, so a number names the same call each time; every call fails once.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.git.checkouts import head, make_checkout, sh

from aotloop.errors import Unavailable
from aotloop.git.repository import find_repository
from aotloop.git.worktrees.pool import Pool
from faults.counts import Counts, Deadline
from faults.runs import FAULTS
from faults.shim import Fault, Shim, why_not

KIND = "worktrees on such disks"
_PATIENCE = 120.0

_PROGRAM = """
import pathlib, sys
from aotloop.errors import AotError
from aotloop.git.worktrees.pool import Pool
from aotloop.git.repository import find_repository
try:
    with Pool(find_repository(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])) as pool:
        worktree = pool.take(sys.argv[3])
        (worktree.path / "new").write_text("new")
        pool.give_back(worktree)
        pool.give_back(pool.take(sys.argv[3]))
except (AotError, OSError) as error:
    sys.exit(f"refused: {error}")
"""


def calls_of(fault: Fault, folder: Path, library: Path) -> int:
    """How many there are that this could strike, when nothing goes wrong."""
    shim, done = _used(folder, replace(fault, at=0), library)
    if done.returncode:
        raise AssertionError(f"it does not even work on a good disk: {done.stderr}")
    return shim.counted


def endured(fault: Fault, folder: Path, library: Path) -> list[str]:
    """What was wrong, and of which call."""
    shim, done = _used(folder, fault, library)
    found = [f"a bug of ours: {done.stderr[-300:]}"] if "Traceback" in done.stderr else []
    found += _tidied(folder)
    struck = shim.told.read_text().splitlines()[:1]
    return [f"{one} (struck: {struck})" for one in found]


def _used(folder: Path, fault: Fault, library: Path) -> tuple[Shim, subprocess.CompletedProcess[str]]:
    checkout, worktrees = make_checkout(folder / "checkout"), folder / "worktrees"
    shim = Shim(library, (checkout, worktrees), folder / "count")
    words = [sys.executable, "-c", _PROGRAM, str(checkout), str(worktrees), head(checkout)]
    environ = {**os.environ, **shim.environ(fault)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    return shim, done


def _tidied(folder: Path) -> Iterator[str]:
    """Cleaned up by the next process, on a good disk."""
    checkout, worktrees = folder / "checkout", folder / "worktrees"
    repository = find_repository(checkout)
    assert repository is not None
    try:
        with Pool(repository, worktrees) as pool:
            pool.give_back(pool.take(head(checkout)))
    except (Unavailable, OSError) as error:
        yield f"the next one cannot work: {error}"
    listed = sh(checkout, "worktree", "list", "--porcelain").split("\n\n")
    yield from (f"left behind: {one}" for one in listed[1:] if one.strip())
    ours = [*(checkout / ".git").glob("worktrees*"), *(checkout / ".git").glob("aot*"), *worktrees.glob("*")]
    yield from (f"left behind: {one.relative_to(folder)}" for one in ours)


def campaign(top: Path, deadline: Deadline, *, seed: int = 0) -> Counts:
    counts, began = Counts(KIND, skipped=why_not()), time.monotonic()
    if counts.skipped is not None:
        return counts
    library = top / "library"
    library.mkdir()
    cases = [
        replace(fault, at=at)
        for number, fault in enumerate(FAULTS)
        for at in range(1, calls_of(fault, top / f"count-{number}", library) + 1)
    ]
    random.Random(seed).shuffle(cases)
    for number, fault in enumerate(cases):
        if deadline.is_over:
            break
        folder = top / f"case-{number}"
        problems = endured(fault, folder, library)
        counts.add(str(fault), problems)
        if not problems:
            shutil.rmtree(folder)
    counts.seconds = time.monotonic() - began
    return counts
