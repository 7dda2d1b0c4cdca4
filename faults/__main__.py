"""`python -m faults [--kills N] [--seed S] [--minutes M] [--keep]`: exits 1 if anything was lost, doubled or left.

`python -m faults --flood` has an agent print a gigabyte instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from faults.campaign import KILLS, Tally, Trial, trial
from faults.flood import flood
from faults.strikes import KINDS

_MOST_SHOWN = 8
_MOST_MEMORY = 64
"""Megabytes that a flood may cost."""


def _environ(home: Path) -> dict[str, str]:
    """Nothing of the user's own settings."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG", "TMPDIR")}
    return {**kept, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


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
    print(f"{len(tally.broken)} of {tally.trials} runs were not as they should be")


def _flood(top: Path) -> int:
    print(f"{'printed':>10}{'memory':>12}{'journal':>12}{'on screen':>12}{'seconds':>10}")
    found = []
    for megabytes in (0, 200, 1024):
        folder = top / str(megabytes)
        folder.mkdir()
        one = flood(folder, megabytes, _environ(folder / "home"))
        found.append(one.memory)
        print(
            f"{megabytes:7} MB{one.memory:9.1f} MB{one.kept:9.1f} MB{one.printed:9.1f} MB{one.seconds:10.1f}",
            flush=True,
        )
    return 0 if max(found) < found[0] + _MOST_MEMORY else 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="so many at least [300]")
    parser.add_argument("--each", type=int, default=KILLS, help=f"of one run, at most [{KILLS}]")
    parser.add_argument("--seed", type=int, default=None, help="of the first run; the others follow")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin with no other run after this time")
    parser.add_argument("--keep", action="store_true", help="keep the folders of runs that are not as they should be")
    parser.add_argument("--flood", action="store_true", help="kill nothing; an agent prints a gigabyte")
    given = parser.parse_args()
    first = given.seed if given.seed is not None else int(time.time())
    top = Path(tempfile.mkdtemp(prefix="aot-faults-"))
    tally, began = Tally(), time.monotonic()
    try:
        if given.flood:
            return _flood(top)
        while sum(tally.kills.values()) < given.kills and time.monotonic() < began + 60 * given.minutes:
            folder = top / str(tally.trials)
            folder.mkdir()
            environ = _environ(folder / "home")
            os.environ["HOME"] = environ["HOME"]
            done = trial(folder, first + tally.trials, environ, given.each)
            tally.add(done)
            _tell(tally.trials, done)
            if done.problems and given.keep:
                print(f"      kept: {folder}")
            else:
                shutil.rmtree(folder)
    finally:
        if not (given.keep and tally.broken):
            shutil.rmtree(top)
    _show(tally, time.monotonic() - began)
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
