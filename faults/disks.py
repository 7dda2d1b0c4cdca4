"""Disks that are full, fail, tear or are slow, at every single call of our programs.

In every case: the file is the old one or the new one and can be read. A program that reports success has the file on
disk. A program that fails says why in words, and the same command succeeds when the disk works again.
"""

from __future__ import annotations

import itertools
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.warm import COMMAND

from faults.counts import Counts, Deadline
from faults.shim import CALLS, Fault, Shim, built, why_not
from faults.subjects import SUBJECTS, Place, Subject, a_place

KINDS: dict[str, tuple[Fault, ...]] = {
    "disk full": (
        Fault("ENOSPC", calls=("create", "write", "mkdir", "rename"), goes_on=True),
        Fault("ENOSPC", calls=("write", "sync")),
        Fault("EDQUOT", calls=("write", "mkdir", "rename")),
    ),
    "input/output errors": (Fault("EIO"), Fault("EIO", calls=("read",)), Fault("EMFILE", calls=("open", "create"))),
    "fsync errors": (Fault("EIO", calls=("sync",)), Fault("EIO", calls=("sync",), goes_on=True)),
    "torn and short writes": (
        Fault("torn", calls=("write",)),
        Fault("short", calls=("write", "read")),
        Fault("short", calls=("write",), goes_on=True),
    ),
    "killed at a call": (Fault("kill"), Fault("killed-after")),
    "slow disk": (Fault("slow", calls=CALLS, pause=0.02),),
}
LIMITED = "files that may not grow"
_SIZES = (0, 1, 2)
"""Kilobytes to which `ulimit -f` limits files: what a full disk is like where there is no compiler."""
_AS_IT_WAS = "it is as it was"
_SAID = ("cannot be remembered", "was not recorded")
"""What is found out, or done, is worth telling even if it cannot be kept; it is said that it is not."""
_TO_ACCEPT = "`aot redirect --accept` takes it"
_WORKERS = 2
FAILED = 1


@dataclass(frozen=True)
class Case:
    kind: str
    subject: Subject
    fault: Fault | None
    limit: int = 0
    """Without a fault: of files, in kilobytes."""

    def __str__(self) -> str:
        return f"{self.subject.name}, {self.fault or f'ulimit -f {self.limit}'}"


def limited(subjects: tuple[Subject, ...] = SUBJECTS) -> Iterator[Case]:
    """What needs no compiler."""
    for subject in subjects:
        yield from (Case(LIMITED, subject, None, size) for size in _SIZES)


def cases(top: Path, library: Path, seed: int, subjects: tuple[Subject, ...] = SUBJECTS) -> Iterator[Case]:
    """One of each fault and subject after the other, at a call drawn at random, until there are none left."""
    chance, counted = random.Random(seed), dict[tuple[str, tuple[str, ...]], int]()

    def hand(kind: str, subject: Subject, fault: Fault) -> Iterator[Case]:
        if fault.pause:
            yield Case(kind, subject, fault)
            return
        known = (subject.name, fault.calls)
        if known not in counted:
            counted[known] = calls_of(subject, fault.calls, Path(tempfile.mkdtemp(dir=top, prefix="count-")), library)
        for at in chance.sample(range(1, counted[known] + 1), counted[known]):
            yield Case(kind, subject, Fault(fault.deed, at, fault.calls, fault.goes_on))

    hands = [hand(kind, one, fault) for kind, faults in KINDS.items() for fault in faults for one in subjects]
    chance.shuffle(hands)
    while hands:
        for one in list(hands):
            case = next(one, None)
            if case is None:
                hands.remove(one)
            else:
                yield case


def calls_of(subject: Subject, calls: tuple[str, ...], folder: Path, library: Path) -> int:
    """How many there are when nothing goes wrong."""
    place = a_place(folder)
    shim = Shim(library, (place.project, place.home), folder / "count")
    done = place.run(subject.argv(place), shim.environ(Fault(calls=calls)), subject.told(place))
    if done.returncode or not subject.is_done(place):
        raise AssertionError(f"{subject.name} does not even work on a good disk: {done.stdout}{done.stderr}")
    return shim.counted


def endured(case: Case, folder: Path, library: Path) -> tuple[list[str], int]:
    """What was wrong, and how many updates were lost by it."""
    place, subject = a_place(folder), case.subject
    file = subject.file(place)
    before = file.read_bytes()
    done = _struck(case, place, library)
    told = f"{done.stdout}\n{done.stderr}"
    after = file.read_bytes() if file.exists() else b""
    is_done = subject.is_done(place)
    found = list(_bad_manners(case, done.returncode, told))
    lost = 0
    if after != before and not is_done:
        lost += 1
        found.append(f"the file is neither the old one nor the new one: {after[:80]!r}")
    is_said = subject.is_silent or any(words in done.stderr for words in _SAID)
    if done.returncode == 0 and not is_done and not is_said:
        lost += 1
        found.append(f"it says that it succeeded, and nothing is there: {told[:200]}")
    if done.returncode == 0 and not subject.is_kept(place) and not is_said:
        lost += 1
        found.append(f"it remembers nothing, and does not say so: {told[:200]}")
    if _AS_IT_WAS in told and str(file) in told and after != before:
        found.append(f"it says that the file is as it was, and that is not so: {told[:200]}")
    again = place.run(subject.argv(place), None, subject.told(place))
    if _TO_ACCEPT in again.stderr:  # cut off between the agreement and the file: a person is asked which of them counts
        place.run([COMMAND, "redirect", "--accept", "--yes"])
        again = place.run(subject.argv(place), None, subject.told(place))
    if not subject.is_done(place):
        found.append(f"nor does it work on a good disk afterwards: {again.stdout[-200:]}{again.stderr[-200:]}")
    found += [f"left behind: {path.name}" for path in file.parent.iterdir() if path.name.startswith(".")]
    return found, lost


def _struck(case: Case, place: Place, library: Path) -> subprocess.CompletedProcess[str]:
    argv, told = case.subject.argv(place), case.subject.told(place)
    if case.fault is None:
        limit = f'ulimit -f {case.limit}; exec "$@"'
        return place.run(["bash", "-c", limit, "limited", *argv], None, told)
    shim = Shim(library, (place.project, place.home), place.folder / "count")
    return place.run(argv, shim.environ(case.fault), told)


def _bad_manners(case: Case, code: int, told: str) -> Iterator[str]:
    if "Traceback" in told or "bug" in told:
        yield f"it takes it for a bug of ours: {told[-300:]}"
    fault = case.fault or Fault()
    if code == -signal.SIGKILL and fault.deed in ("torn", "kill", "killed-after"):
        return
    if code not in ((0,) if case.subject.is_silent else (0, FAILED)):
        yield f"exit {code}: {told[-300:]}"
    if code == FAILED and not told.strip():
        yield "it fails without a word"
    if fault.pause and code != 0:
        yield f"slow is not broken: {told[-300:]}"


def campaign(top: Path, deadline: Deadline, *, seed: int = 0) -> list[Counts]:
    counts, began = {kind: Counts(kind, skipped=why_not()) for kind in (*KINDS, LIMITED)}, time.monotonic()
    counts[LIMITED].skipped = None
    library = top / "library"
    library.mkdir()
    if why_not() is None:
        built(library)
    deck = _alternating(limited(), cases(top, library, seed) if why_not() is None else iter(()))
    taking = threading.Lock()

    def work(_: int) -> None:
        while not deadline.is_over:
            with taking:
                case = next(deck, None)
            if case is None:
                return
            folder = Path(tempfile.mkdtemp(dir=top, prefix="case-"))
            problems, lost = endured(case, folder, library)
            shutil.rmtree(folder, ignore_errors=True)
            with taking:
                counts[case.kind].add(str(case), problems, lost=lost)

    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(work, range(_WORKERS)))
    done = sum(one.cases for one in counts.values())
    for one in counts.values():
        one.seconds = (time.monotonic() - began) * one.cases / max(done, 1)
    return list(counts.values())


def _alternating(some: Iterator[Case], others: Iterator[Case]) -> Iterator[Case]:
    for one in some:
        yield one
        yield from itertools.islice(others, 3)
    yield from others
