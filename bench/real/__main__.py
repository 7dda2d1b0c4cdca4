"""Prints what policies solve with the recorded answers: `make bench-real`; with WRITE=1 into docs/, with the curves."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.plots import Line, Panel, svg
from bench.real.answers import chances, mean_tokens, models
from bench.real.policies import GOAL, POLICIES, SEEDS, SOLVABLE, at_cost, curve
from bench.real.tasks import FOLDER

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "benchmarks-real.md", "real-solved.svg"
BEGIN, END = "<!-- made by `make bench-real WRITE=1` -->", "<!-- end -->"
_BINS = (("0", 0.0), ("below .2", 0.2), (".2 to .5", 0.5), (".5 to .8", 0.8), (".8 to .95", 0.95), ("above", 1.1))
Curves = dict[str, list[tuple[int, float, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.real", description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the section and the picture in docs/")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="orders of the answers")
    asked = parser.parse_args()
    curves = {policy: curve(policy, asked.seeds) for policy in POLICIES}
    lines = [*table(curves), "", *goal(curves), "", *distribution(), "", *feedback(), "", *templates()]
    print("\n".join(lines))
    if asked.write:
        before, rest = PAGE.read_text().split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        section = "\n".join(
            ("", "```text", *lines, "```", "", f"![Tasks solved against attempts and cost]({PICTURE})", "")
        )
        PAGE.write_text(f"{before}{BEGIN}{section}{END}{after}")
        (DOCS / PICTURE).write_text(picture(curves))


def table(curves: Curves) -> Iterator[str]:
    """At equal attempts, and at the cost of ours."""
    yield f"{'solved of 72; attempts for each task':<38}" + "".join(f"{one[0]:>7}" for one in curves["aotloop"])
    for policy, points in curves.items():
        yield f"{policy:<38}" + "".join(f"{solved:>7.1f}" for _, solved, _ in points)
    yield "at the cost of aotloop with so many attempts"
    for policy, points in curves.items():
        yield f"{policy:<38}" + "".join(f"{at_cost(points, one[2]):>7.1f}" for one in curves["aotloop"])


def goal(curves: Curves) -> Iterator[str]:
    solved = curves["aotloop"][-1][1]
    verdict = "reached" if solved >= GOAL else "missed"
    yield f"goal: {GOAL} of the {SOLVABLE} that can be solved, within 10 attempts a task: {solved:.1f}, {verdict}"


def distribution() -> Iterator[str]:
    yield "chance of an answer to pass, by wording: how many wordings"
    for model in models():
        counts = Counter(_bin(chance) for chance in chances(model))
        told = ", ".join(f"{name}: {counts[name]}" for name, _ in _BINS)
        yield f"  {model} ({mean_tokens(model):.0f} tokens an answer): {told}"


def _bin(chance: float) -> str:
    return "0" if chance == 0 else next(name for name, most in _BINS[1:] if chance < most)


def feedback() -> Iterator[str]:
    """Second attempts that were told of the failure, and how many would have passed anyway."""
    rows = [line.split() for line in (FOLDER / "second_attempts.txt").read_text().splitlines()]
    outcomes = {name: wordings for name, *wordings in _recorded()}
    for mode, words in (("text", "the text of the failure"), ("code", "that text and the failed code")):
        mine = [row for row in rows if row[2] == mode]
        passed, made = (sum(int(row[column]) for row in mine) for column in (3, 4))
        expected = sum(int(row[4]) * _chance(outcomes[row[0]][int(row[1])]) for row in mine)
        yield f"second attempts that were told {words}: {passed} of {made} passed; {expected:.0f} expected without"


def templates() -> Iterator[str]:
    """What other words around the same description do for the smallest model."""
    rows = [line.split() for line in (FOLDER / "templates.txt").read_text().splitlines()]
    never = {row[0] for row in rows if row[1] == "orig" and row[2] == "0"}
    names = {"orig": "as written", "head": "to complete", "need": "simplest", "steps": "in steps"}
    for key, words in names.items():
        mine = [row for row in rows if row[1] == key]
        passed, made = (sum(int(row[column]) for row in mine) for column in (2, 3))
        hard = sum(int(row[2]) for row in mine if row[0] in never)
        told = f"of the {len(never)} tasks never solved as written: {hard}"
        yield f"SmolLM2-135M, {words:<12} {passed:>3} of {made}; {told}"


def _recorded() -> Iterator[list[str]]:
    from bench.convergence.recorded import DATA  # noqa: PLC0415 - only for this table

    yield from (line.split() for line in DATA.read_text().splitlines())


def _chance(outcomes: str) -> float:
    return outcomes.count(".") / len(outcomes)


def picture(curves: Curves) -> str:
    def lines(column: int) -> list[Line]:
        return [
            Line(label=policy, points=[(float(one[column]), one[1]) for one in points])
            for policy, points in curves.items()
        ]

    panels = [
        Panel(title="equal attempts", x_label="attempts for each task", y_label="solved of 72", lines=lines(0)),
        Panel(title="equal cost", x_label="cost for each task", y_label="solved of 72", lines=lines(2)),
    ]
    return svg("Recorded answers of a real model: tasks solved", panels, columns=2)


if __name__ == "__main__":
    main()
