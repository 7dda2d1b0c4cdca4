"""`python -m faults [KIND …] [--minutes M] [--seed S]`: one table; exits 1 if anything was lost or let through.

`python -m faults --flood` has an agent print a gigabyte instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from faults import (
    checkouts,
    clocks,
    disks,
    fences,
    forgery,
    git_folders,
    git_traps,
    holders,
    hostile_agents,
    hostility,
    kills,
    logs,
    remote,
    runs,
    worktrees,
)
from faults.counts import Counts, Deadline, table
from faults.flood import report
from faults.fuzzing import driving
from faults.injection import campaign as injection

MINUTES = 12.0
Part = Callable[[Path, Deadline, int, kills.Wanted], list[Counts]]

PARTS: dict[str, tuple[float, Part]] = {
    "kills": (0.09, lambda top, end, seed, wanted: [kills.campaign(top, end, seed=seed, wanted=wanted)]),
    "logs": (0.06, lambda top, end, seed, _: [logs.campaign(top, end, seed=seed)]),
    "disks": (0.11, lambda top, end, seed, _: disks.campaign(top, end, seed=seed)),
    "worktrees": (0.04, lambda top, end, seed, _: [worktrees.campaign(top, end, seed=seed)]),
    "runs": (0.06, lambda top, end, seed, _: [runs.campaign(top, end, seed=seed)]),
    "clocks": (0.02, lambda top, end, _, __: [clocks.campaign(top, end)]),
    "holders": (0.02, lambda top, end, _, __: [holders.campaign(top, end)]),
    "git": (0.09, lambda top, end, seed, _: [git_folders.campaign(top, end, seed=seed)]),
    "fences": (0.05, lambda top, end, _, __: fences.campaign(top, end)),
    "checkouts": (0.03, lambda top, end, seed, _: checkouts.campaign(top, end, seed=seed)),
    "traps": (0.04, lambda top, end, seed, _: git_traps.campaign(top, end, seed=seed)),
    "agents": (0.05, lambda top, end, _, __: hostile_agents.campaign(top, end)),
    "hostile": (0.05, lambda top, end, _, __: hostility.campaign(top, end)),
    "forgery": (0.07, lambda top, end, seed, _: forgery.campaign(top, end, seed=seed)),
    "injection": (0.09, lambda top, end, seed, _: injection.campaign(top, end, seed=seed)),
    "remote": (0.07, lambda top, end, seed, _: remote.campaign(top, end, seed=seed)),
    "fuzz": (0.06, lambda top, end, _, __: [driving.campaign(top / "corpus", end)]),
}
"""By name: its share of the time, and what it does. Time that one does not need is for those after it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(PARTS)} [all]")
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"for all of them together [{MINUTES:g}]")
    parser.add_argument("--seed", type=int, default=None, help="of everything that is drawn at random [the time]")
    parser.add_argument("--kills", type=int, default=kills.Wanted.kills, help="so many at most [300]")
    parser.add_argument("--each", type=int, default=kills.Wanted.each, help=f"of one run [{kills.Wanted.each}]")
    parser.add_argument("--keep", action="store_true", help="keep the folders of runs that are not as they should be")
    parser.add_argument("--flood", action="store_true", help="none of these; an agent prints a gigabyte")
    given = parser.parse_args()
    if unknown := [name for name in given.kinds if name not in PARTS]:
        parser.error(f"there is no kind {unknown[0]!r}")
    top = Path(tempfile.mkdtemp(prefix="aot-faults-")).resolve()
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    counts: list[Counts] = []
    try:
        if given.flood:
            return report(top, kills.environ_in)
        counts = _all(top, given, given.seed if given.seed is not None else int(time.time()))
    finally:
        if not (given.keep and any(one.is_broken for one in counts)):
            shutil.rmtree(top, ignore_errors=True)
    print(table(counts))
    return 1 if any(one.is_broken for one in counts) else 0


def _all(top: Path, given: argparse.Namespace, seed: int) -> list[Counts]:
    """One after the other: each has the whole machine."""
    names = [name for name in PARTS if not given.kinds or name in given.kinds]
    whole, counts = Deadline(60 * given.minutes), []
    wanted = kills.Wanted(given.kills, given.each, given.keep)
    print(f"seed {seed}", flush=True)
    for number, name in enumerate(names):
        share = PARTS[name][0] / sum(PARTS[one][0] for one in names[number:])
        folder = top / name
        folder.mkdir()
        found = PARTS[name][1](folder, Deadline(whole.left * share), seed, wanted)
        print(table(found), flush=True)
        counts += found
    print()
    return counts


if __name__ == "__main__":
    sys.exit(main())
