"""A process that updates a state file through its redo log, and is killed at instants drawn at random.

Each update adds one correction with the next number. Another process's updates come in between. After each kill, all
updates that were reported as written must be there, each of them once. Meanwhile the file alone, without its log, is
read again and again: it must not be more than 200 ms behind.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.loops import a_loop, as_file, atom

from aotloop.core.model import Correction, Loop
from aotloop.statefile.redo_log import log_file
from aotloop.statefile.store import Store
from faults.counts import Counts, Deadline

KIND = "kills with updates in the log"
SIZES = (5, 300, 2_000)
KILLS_OF_ONE = 6
LATEST = 0.2
_STALL = 0.05
"""Seconds. If even this process was not called for so long, the machine is too busy to say who is late."""

WRITER = """
import os, sys, time
from msgspec.structs import replace
from aotloop.core.model import Correction
from aotloop.statefile.logged_store import LoggedStore

number, pause = int(sys.argv[2]), float(sys.argv[3])
def change(loop):
    loop.control = replace(loop.control, iteration=number)
    place = number % len(loop.atoms)
    loop.atoms[place] = replace(loop.atoms[place], status="pending", attempts=number)
    text = f"own {number}"
    loop.corrections.append(Correction(timestamp="t", type="dag_adjustment", description=text, trail_cleared=False))
store = LoggedStore(sys.argv[1])
while True:
    number += 1
    os.write(1, b"(%d\\n" % number)
    store.update(change)
    os.write(1, b"%d) %r\\n" % (number, time.monotonic()))
    time.sleep(pause)
"""


@dataclass
class Watched:
    """What one life of the process showed."""

    begun: int = 0
    written: dict[int, float] = field(default_factory=dict)
    """By number: when it was reported."""
    seen: list[tuple[float, int]] = field(default_factory=list)
    """What the file alone showed, and when."""

    def listen(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.take(line)

    def take(self, line: str) -> None:
        if line.startswith("(") and line.endswith("\n"):
            self.begun = int(line[1:])
        elif line.endswith("\n") and line.count(")") == 1:
            number, _, at = line.partition(") ")
            self.written[int(number)] = float(at)

    def lags(self) -> tuple[list[float], int]:
        """Seconds, for each look; and how many looks do not count, because the machine stood still."""
        found, left_out, last_stall, before = [], 0, float("-inf"), self.seen[0][0] if self.seen else 0.0
        for at, number in self.seen:
            last_stall = at if at - before > _STALL else last_stall
            before = at
            following = self.written.get(number + 1)
            if following is None or following > at:
                found.append(0.0)
            elif at - last_stall < 2 * LATEST:
                left_out += 1
            else:
                found.append(at - following)
        return found, left_out


def campaign(top: Path, deadline: Deadline, *, seed: int) -> Counts:
    counts, chance, began = Counts(KIND), random.Random(seed), time.monotonic()
    lags: list[float] = []
    left_out = updates = 0
    while not deadline.is_over:
        path = top / f"{counts.cases}.md"
        path.write_bytes(as_file(a_loop(*(atom(f"A{number}") for number in range(chance.choice(SIZES))))))
        first = others = 0
        for _ in range(KILLS_OF_ONE):
            watched, others = _life(path, first, others, chance)
            found, left = watched.lags()
            lags += found
            left_out += left
            problems, lost, first = _examined(path, watched, first, others)
            late = [lag for lag in found if lag > LATEST]
            problems += [f"the file was {max(late):.3f} s behind"] if late else []
            counts.add(path.name, problems, lost=lost)
            updates += len(watched.written)
    counts.seconds = time.monotonic() - began
    worst = max(lags, default=0.0) * 1000
    print(
        f"{counts.cases} kills after {updates:,} updates; the file was read {len(lags):,} times,"
        f" at worst {worst:.0f} ms behind ({left_out:,} looks do not count: the machine stood still)",
        flush=True,
    )
    return counts


def _life(path: Path, first: int, others: int, chance: random.Random) -> tuple[Watched, int]:
    """One life of the writer, and how many updates of another process there have been in all."""
    watched = Watched(begun=first)
    words = [sys.executable, "-c", WRITER, str(path), str(first), str(chance.choice((0, 0, 0.003, 0.03)))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        watched.take(process.stdout.readline())
        listening = threading.Thread(target=watched.listen, args=(process.stdout,))
        listening.start()
        end = time.monotonic() + chance.uniform(0.0, 1.5)
        while time.monotonic() < end:
            at = time.monotonic()
            numbers = re.findall(rb"own (\d+)", path.read_bytes()[-4000:] if first + len(watched.written) else b"")
            watched.seen.append((at, int(numbers[-1]) if numbers else first))
            if chance.random() < 0.01:
                others += 1
                Store(str(path)).update(lambda loop: _add(loop, f"other {others}"))  # noqa: B023 - called at once
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        listening.join()
    return watched, others


def _add(loop: Loop, text: str) -> None:
    loop.corrections.append(Correction(timestamp="t", type="dag_adjustment", description=text, trail_cleared=False))


def _examined(path: Path, watched: Watched, first: int, others: int) -> tuple[list[str], int, int]:
    """Problems, lost updates, and the number of the last update."""
    found = [one.description for one in Store(str(path)).load().corrections]
    own = [int(text[4:]) for text in found if text.startswith("own ")]
    problems = []
    if own != list(range(1, len(own) + 1)):
        problems.append(f"updates are doubled or out of order: {own[-5:]}")
    if len(own) > watched.begun:
        problems.append(f"{len(own)} updates, but only {watched.begun} were begun")
    if [text for text in found if text.startswith("other ")] != [f"other {one + 1}" for one in range(others)]:
        problems.append("updates of the other process are lost or doubled")
    lost = max(max(watched.written, default=first) - len(own), 0)
    Store(str(path)).update(lambda _: None)
    if Path(log_file(str(path))).exists():
        problems.append("the next update left the log")
    return problems, lost, len(own)
