"""A whole run on a disk that fails at one call, its git included: it ends in words, and the next run finishes it."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.loops import atom
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, Ran, a_project

from aotloop.errors import AotError
from aotloop.statefile.reader import decode, examine
from faults.counts import Counts, Deadline
from faults.shim import CHANGING, Fault, Shim, why_not

KIND = "runs on such disks"
FAULTS = (
    Fault("EIO"),
    Fault("ENOSPC", calls=("create", "write", "mkdir", "rename"), goes_on=True),
    Fault("EIO", calls=("sync",)),
    Fault("torn", calls=("write",)),
    Fault("short", calls=("write",)),
    Fault("kill"),
    Fault("killed-after"),
)
SLOW = Fault("slow", calls=CHANGING, pause=0.005)
_ATOMS = ("A1", "A2", "A3")
_ENDINGS = (0, 1, 3, 4, 5, 6)
_MOST_RUNS = 3
_LONGEST = 150.0
"""Seconds: a git that was killed may leave several locks, each of which is waited for."""
_LOCK = re.compile(r"another git process keeps (\S+?\.lock); if none is running, remove that file")


def a_subject(folder: Path, environ: dict[str, str]) -> Project:
    """Three atoms; each leaves a line in a file, which may have it once."""
    atoms = (
        atom("A1", run="echo A1 >> all"),
        atom("A2", "A1", run="echo A2 >> all"),
        atom("A3", run="echo A3 > other"),
    )
    wanted = "printf 'A1\\nA2\\n' | cmp - all && test -f other"
    return a_project(folder, *atoms, base_case=wanted, environ=environ)


def endured(folder: Path, fault: Fault, library: Path) -> tuple[list[str], int, int]:
    """What was wrong, how many updates were lost, and how many calls there were."""
    home = folder / "home"
    home.mkdir(parents=True)
    project = a_subject(folder, {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"})
    shim = Shim(library, (project.root, home), folder / "count")
    plain, project.environ = project.environ, {**project.environ, **shim.environ(fault)}
    try:
        ran = project.aot("run", "--yes", "--json", patience=_LONGEST)
    except AssertionError as error:
        return [f"it does not end: {str(error)[-600:]}"], 0, shim.counted
    project.environ = plain
    calls = shim.counted
    found, lost = list(_bad_manners(fault, ran)), 0
    if not _is_valid(project):
        return [*found, "the state file cannot be read"], 1, calls
    if ran.code == 0 and not _is_finished(project):
        found, lost = [*found, "it says that it is done, and it is not"], lost + 1
    before = set(project.loop.bindings)
    found += _mended(project)
    if not before <= set(project.loop.bindings):
        found, lost = [*found, f"gone: {before - set(project.loop.bindings)}"], lost + 1
    found += _afterwards(project, home)
    return found, lost, calls


def _mended(project: Project) -> Iterator[str]:
    """On a good disk. What a run asks of a person is done: a lock that a dead git left is removed."""
    ran = Ran(-1, "", "")
    for _ in range(_MOST_RUNS):
        ran = project.aot("run", "--yes", "--json")
        told = _LOCK.search(ran.out + ran.err)
        if ran.code == 0 or told is None:
            break
        Path(told[1]).unlink(missing_ok=True)
    if ran.code != 0:
        yield f"nor does it end on a good disk: exit {ran.code}: {ran.out[-300:]}{ran.err[-300:]}"


def _afterwards(project: Project, home: Path) -> Iterator[str]:
    if sorted(project.subjects()) != [f"{name}: do {name}" for name in _ATOMS]:
        yield f"on the branch is {project.subjects()}"
    before = os.environ["HOME"]
    os.environ["HOME"] = str(home)
    try:
        yield from (f"left behind: {one}" for one in leftovers(project))
    finally:
        os.environ["HOME"] = before


def _bad_manners(fault: Fault, ran: Ran) -> Iterator[str]:
    told = ran.out + ran.err
    if "Traceback" in told or "this is a bug" in told:
        yield f"it takes it for a bug of ours: {told[-400:]}"
    if ran.code == -signal.SIGKILL and fault.deed in ("torn", "kill", "killed-after"):
        return
    if ran.code not in _ENDINGS:
        yield f"exit {ran.code}: {told[-300:]}"
    if ran.code != 0 and not told.strip():
        yield "it ends without a word"
    if fault.pause and ran.code != 0:
        yield f"slow is not broken: exit {ran.code}: {told[-300:]}"


def _is_valid(project: Project) -> bool:
    data = project.state_file.read_bytes()
    try:
        decode(data)
    except AotError:
        return False
    return not examine(data).errors


def _is_finished(project: Project) -> bool:
    loop = project.loop
    return loop.control.status == "completed" and set(loop.bindings) == set(_ATOMS) and project.is_clean()


def campaign(top: Path, deadline: Deadline, *, most: int = 10_000, seed: int = 0) -> Counts:
    counts, began = Counts(KIND, skipped=why_not()), time.monotonic()
    if counts.skipped is not None:
        return counts
    chance = random.Random(seed)
    library = top / "library"
    library.mkdir(exist_ok=True)
    calls: dict[tuple[str, ...], int] = {}
    problems, lost, _ = endured(top / "slow", SLOW, library)
    counts.add(str(SLOW), problems, lost=lost)
    for number in range(most):
        if deadline.is_over:
            break
        fault = FAULTS[number % len(FAULTS)]
        folder = top / f"run-{number}"
        if fault.calls not in calls:
            calls[fault.calls] = endured(folder, Fault(calls=fault.calls), library)[2]
            shutil.rmtree(folder)
        struck = Fault(fault.deed, chance.randint(1, calls[fault.calls]), fault.calls, fault.goes_on)
        problems, lost, _ = endured(folder, struck, library)
        counts.add(str(struck), problems, lost=lost)
        if not problems:
            shutil.rmtree(folder)
    counts.seconds = time.monotonic() - began
    return counts
