"""Prints what policies solve with the recorded answers: `make bench-real`; with WRITE=1 into docs/, with the curves."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from bench.real.bounds import BOUNDS
from bench.real.curves import SEEDS, curve, curve_of_tries
from bench.real.feedback import feedback
from bench.real.policies import POLICIES, RETRIES, retry_only
from bench.real.report import Curves, distribution, edits, goal, picture, table

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "benchmarks-real.md", "real-solved.svg"
BEGIN, END = "<!-- made by `make bench-real WRITE=1` -->", "<!-- end -->"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.real", description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the section and the picture in docs/")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="orders of the answers")
    asked = parser.parse_args()
    curves = measured(asked.seeds)
    blocks = [[*table(curves), "", *goal(curves)], [*distribution(), "", *edits()], [*feedback()]]
    parts = [line for block in blocks for line in ("```text", *block, "```", "")]
    print("\n".join(parts))
    if asked.write:
        before, rest = PAGE.read_text().split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        section = "\n".join(("", *parts, f"![Tasks solved against attempts and tokens]({PICTURE})", ""))
        PAGE.write_text(f"{before}{BEGIN}{section}{END}{after}")
        (DOCS / PICTURE).write_text(picture(curves))


def measured(seeds: int) -> Curves:
    curves = {policy: curve(solve, seeds) for policy, solve in POLICIES.items()}
    for policy, wording in RETRIES.items():
        curves[policy] = curve_of_tries(partial(retry_only, wording=wording), seeds)
    return {**curves, **{bound: curve(solve, seeds) for bound, solve in BOUNDS.items()}}


if __name__ == "__main__":
    main()
