"""`python -m mutants [MODULE …] [--count N] [--seed S] [--json]`: a sample of mutants; exits 1 if too many survive."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from mutants.children import BrokenTrialError
from mutants.mutant import Mutant, all_mutants, equivalents, sample
from mutants.project import Project
from mutants.reach import reach_of
from mutants.report import as_json, score_of, survivors, table
from mutants.trial import AT_LEAST, QUICK, Trials, Tried

GOAL = 95.0
PROCESSES = 2
TABLE = Path(__file__).with_name("equivalents.toml")


def main() -> int:
    given = _parser().parse_args()
    project = Project(root=given.root.resolve(), package=given.package, tests=(given.root / given.tests).resolve())
    every = all_mutants(project.folder, given.modules)
    if not every:
        print(f"there is nothing to mutate: {', '.join(given.modules) or project.folder}", file=sys.stderr)
        return 2
    known = set(equivalents(given.equivalents))
    chosen = sample([one for one in every if one.key not in known], given.count, given.seed)
    _tell(
        f"{len(chosen)} of {len(every)} mutants, seed {given.seed}; {_count(every, known)} are known to be equivalent"
    )
    began = time.monotonic()
    try:
        found = _all_tried(project, chosen, given)
    except BrokenTrialError as broken:
        print(f"nothing was measured: {broken}", file=sys.stderr)
        return 2
    _tell(f"{time.monotonic() - began:.0f} s")
    shown = project.folder.relative_to(project.root).as_posix()
    if given.json:
        print(as_json(found, seed=given.seed, goal=given.goal))
    else:
        print("\n".join([*table(found), "", *survivors(found, shown)]))
        print(f"{score_of(found)}; the goal is {given.goal:g} %")
    return 0 if score_of(found).percent >= given.goal else 1


def _all_tried(project: Project, chosen: list[Mutant], given: argparse.Namespace) -> list[Tried]:
    _tell("finding out which test runs what …")
    reach = reach_of(project, processes=given.processes)
    found: list[Tried] = []
    trials = Trials(
        project=project, reach=reach, processes=given.processes, at_least=given.seconds, only_quick=given.quick
    )
    for one in trials.of(chosen):
        found.append(one)
        if one.outcome == "survived":
            _tell(f"{one.mutant}")
        _tell(f"{len(found)} of {len(chosen)}, {score_of(found)}", is_last=len(found) == len(chosen))
    return found


def _count(every: list[Mutant], known: set[tuple[str, str, str]]) -> int:
    return sum(one.key in known for one in every)


def _tell(text: str, *, is_last: bool = True) -> None:
    """What is not the last of its kind is written over by the next; it is for a terminal alone."""
    if is_last or sys.stderr.isatty():
        print(f"{text:70}", end="\n" if is_last else "\r", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="handlers/failure, scheduler, phases … [all]")
    parser.add_argument("--count", type=int, default=200, help="so many at random; 0: all [200]")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random [1]")
    parser.add_argument("--goal", type=float, default=GOAL, help=f"so many percent have to be killed [{GOAL:g}]")
    parser.add_argument("--json", action="store_true", help="all outcomes, for a program")
    parser.add_argument("--quick", action="store_true", help=f"only tests that take less than {QUICK:g} s")
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"so many at once [{PROCESSES}]")
    parser.add_argument("--seconds", type=float, default=AT_LEAST, help=f"a mutant may take anyway [{AT_LEAST:g}]")
    parser.add_argument("--root", type=Path, default=Path(), help="of the project [the current folder]")
    parser.add_argument("--package", default="aotloop.core", help="what is mutated [aotloop.core]")
    parser.add_argument("--tests", type=Path, default=Path("tests/core"), help="what tests it [tests/core]")
    parser.add_argument("--equivalents", type=Path, default=TABLE, help="a table of mutants that make no difference")
    return parser


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is part of what tests see
        again = [sys.executable, "-m", "mutants", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
