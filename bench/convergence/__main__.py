"""Prints the table: `make bench-convergence`; with WRITE=1 it goes to the documentation, with the plots."""

from __future__ import annotations

import argparse
import time

from bench.convergence.campaign import JOBS, campaign, settings
from bench.convergence.jobs import SHAPES
from bench.convergence.report import SHOWN, families, table, write

QUICK_JOBS = 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.convergence", description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the section and the plots in docs/")
    parser.add_argument("--quick", action="store_true", help="few jobs, and only what is printed: some seconds")
    parser.add_argument("--jobs", type=int, help=f"of each shape in each family of seeds; else {JOBS}")
    asked = parser.parse_args()
    if asked.quick and asked.write:
        parser.error("--quick leaves out what --write needs")
    begin = time.perf_counter()
    jobs = asked.jobs or (QUICK_JOBS if asked.quick else JOBS)
    chosen = [one for one in settings() if not asked.quick or (one.chance in SHOWN and one.shape != SHAPES[3])]
    results = campaign(chosen, jobs)
    for line in (*table(results), *families(results)):
        print(line)
    count = len(results) * jobs * len(next(iter(results.values())))
    print(f"\n{count:,} jobs simulated in {time.perf_counter() - begin:.0f} s")
    if asked.write:
        for path in write(results, jobs):
            print(f"written: {path}")


if __name__ == "__main__":
    main()
