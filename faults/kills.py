"""Runs of a whole story, killed again and again at instants drawn at random; see `campaign` for one of them."""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from aotloop.process.sandbox.thread_rules import is_there
from faults.campaign import KILLS, Tally, Trial, trial
from faults.counts import Counts, Deadline
from faults.strikes import KINDS

KIND = "process kills"
_MOST_SHOWN = 8
_LOST = re.compile(r"cannot be read|is not valid|was \S+, and is|there is no record|paid for twice")
"""Of problems: those that say that something is gone."""


@dataclass(frozen=True)
class Wanted:
    kills: int = 300
    each: int = KILLS
    """Of one run, at most."""
    keep: bool = False
    """The folders of runs that are not as they should be."""


def environ_in(home: Path) -> dict[str, str]:
    """Nothing of the user's own settings."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG", "TMPDIR")}
    engine = {"AOT_SANDBOX": "landlock"} if is_there() else {}  # behind it, agents can leave traces outside
    return {**kept, **engine, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def campaign(top: Path, deadline: Deadline, *, seed: int, wanted: Wanted = Wanted()) -> Counts:  # noqa: B008
    tally, began = Tally(), time.monotonic()
    while sum(tally.kills.values()) < wanted.kills and not deadline.is_over:
        folder = top / f"kills-{tally.trials}"
        folder.mkdir()
        environ = environ_in(folder / "home")
        os.environ["HOME"] = environ["HOME"]
        done = trial(folder, seed + tally.trials, environ, wanted.each)
        tally.add(done)
        _tell(tally.trials, done)
        if done.problems and wanted.keep:
            print(f"      kept: {folder}")
        else:
            shutil.rmtree(folder)
    _show(tally, time.monotonic() - began)
    return _counted(tally, time.monotonic() - began)


def _counted(tally: Tally, seconds: float) -> Counts:
    cases = sum(tally.kills.values())
    problems = [problem for one in tally.broken for problem in one.problems]
    lost = sum(_LOST.search(problem) is not None for problem in problems)
    survivors = cases - sum(len(one.strikes) for one in tally.broken)
    return Counts(KIND, cases, survivors, lost, problems=problems, seconds=seconds)


def _tell(number: int, done: Trial) -> None:
    verdict = "ok" if not done.problems else "BROKEN"
    print(
        f"{number:4}  seed {done.seed:<11} {len(done.strikes):3} kills  {len(done.on_disk):3} results found on disk"
        f"  {done.looks:6} looks  {done.seconds:5.1f} s  {verdict}",
        flush=True,
    )
    for problem in done.problems[:_MOST_SHOWN]:
        print(f"      => {problem}")
    if done.problems:
        print(f"      killed at: {'; '.join(map(str, done.strikes))}", flush=True)


def _show(tally: Tally, seconds: float) -> None:
    print(f"\n{'killed at':24}{'times':>6}")
    for kind, meaning in KINDS.items():
        if tally.kills[kind]:
            print(f"{kind:24}{tally.kills[kind]:6}  {meaning}")
    stages = ", ".join(f"{tally.stages[one]} with {4 * one}+" for one in range(5))
    print(f"\natoms resolved at that time: {stages}")
    print(f"{sum(tally.kills.values())} kills in {tally.trials} runs of 20 atoms, {seconds:.0f} s;")
    print(f"{tally.power_cuts} of them took along everything that the run had started, git included")
    print(f"{tally.on_disk} results were on disk and not merged at such a time; {tally.paid_twice} were paid for twice")
    print(f"the state file was looked at {tally.looks:,} times, in {tally.versions:,} versions")
    print(f"{len(tally.broken)} of {tally.trials} runs were not as they should be\n")
