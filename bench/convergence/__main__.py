"""Prints the tables: `make bench-convergence`; with WRITE=1 they go to the documentation, with the plots."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from bench.convergence import constants, giving_up
from bench.convergence.campaign import CHANCES, JOBS, REPORTED, TIMES, Results, Setting, campaign, settings, usual
from bench.convergence.jobs import SHAPES
from bench.convergence.report import blocks, real_answers, table, write

QUICK_JOBS = 10
QUICK_CHANCES = (0.2, 0.5, 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.convergence", description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the section and the plots in docs/")
    parser.add_argument("--quick", action="store_true", help="few jobs, and only the main table: some seconds")
    parser.add_argument("--jobs", type=int, help=f"of each setting; else {JOBS}")
    asked = parser.parse_args()
    if asked.quick and asked.write:
        parser.error("--quick leaves out what --write needs")
    begin = time.perf_counter()
    jobs = asked.jobs or (QUICK_JOBS if asked.quick else JOBS)
    results = campaign(_quick(), jobs) if asked.quick else campaign(settings(), jobs, times=TIMES)
    printed = []
    for block in [list(table(results))] if asked.quick else _all(results, jobs):
        print("\n".join(block), flush=True)
        printed.append(block)
    count = sum(one.jobs for tallies in results.values() for one in tallies.values())
    print(f"\n{count:,} jobs simulated in {time.perf_counter() - begin:.0f} s")
    if asked.write:
        for path in write(results, printed, jobs):
            print(f"written: {path}")


def _quick() -> list[Setting]:
    return [usual(shape, chance, REPORTED) for shape in SHAPES for chance in CHANCES if chance in QUICK_CHANCES]


def _all(results: Results, jobs: int) -> Iterator[list[str]]:
    yield from blocks(results)
    yield list(real_answers())
    yield list(giving_up.table(min(jobs, giving_up.JOBS)))
    yield list(constants.table(min(jobs, constants.JOBS)))


if __name__ == "__main__":
    main()
