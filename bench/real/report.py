"""The tables and the picture of docs/benchmarks-real.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod

from bench.plots import Line, Panel, svg
from bench.real.answers import chances, mean_tokens, models, recordings
from bench.real.bounds import BOUNDS
from bench.real.curves import BUDGETS, Curve, ahead
from bench.real.policies import ALL, EXPLICIT, OURS
from bench.real.tasks import tasks

Curves = dict[str, Curve]
GOAL, SOLVABLE = 56, 62
"""Of the recorded tasks, so many can be solved in some wording, and so many are to be solved with default limits."""
_NAME = 44
_BINS = (("0", 0.0), ("below .2", 0.2), (".2 to .5", 0.5), (".5 to .8", 0.8), (".8 to .95", 0.95), ("above", 1.1))
_DRAWN = (OURS, ALL, "repeat", "retry only", *BOUNDS)


def table(curves: Curves) -> Iterator[str]:
    """At equal attempts, and for the tokens of ours."""
    yield f"{'solved of 72; attempts for each task':<{_NAME}}" + "".join(f"{one:>7}" for one in BUDGETS)
    yield from (_row(policy, one.means()) for policy, one in curves.items())
    for other in (ALL, "repeat", "retry only"):
        differences = ahead(curves[OURS], curves[other])
        yield f"{f'{OURS} ahead of {other}':<{_NAME}}" + "".join(f"{mean:>+7.1f}" for mean, _ in differences)
        yield f"{'  give or take':<{_NAME}}" + "".join(f"{half:>7.1f}" for _, half in differences)
    tokens = curves[OURS].tokens()
    yield ""
    yield f"{'solved of 72; tokens for each task':<{_NAME}}" + "".join(f"{one:>7.0f}" for one in tokens)
    yield from (_row(policy, one.for_tokens(tokens)) for policy, one in curves.items())


def _row(name: str, cells: list[float]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{one:>7.1f}" for one in cells)


def goal(curves: Curves) -> Iterator[str]:
    solved = curves[OURS].means()[-1]
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


def edits() -> Iterator[str]:
    """Edits in small modules: passed by wording, and how many are to be expected after some attempts."""
    names = [task.name for task in tasks() if task.module]
    for model in models():
        mine = {(one.task, one.phrasing): one.chance for one in recordings() if one.model == model}
        complete = [name for name in names if all((name, wording) in mine for wording in EXPLICIT)]
        if not complete:
            continue
        yield f"{f'{model}: solved of {len(complete)} edits; attempts':<{_NAME + 20}}" + "".join(
            f"{one:>7}" for one in (1, 2, 3, 6, 10)
        )
        orders = {
            "the first wording": (0,),
            "the most explicit": EXPLICIT[:1],
            "most explicit first, in turns": EXPLICIT,
        }
        for words, order in orders.items():
            cells = [
                sum(1 - prod(1 - mine[name, order[n % len(order)]] for n in range(attempts)) for name in complete)
                for attempts in (1, 2, 3, 6, 10)
            ]
            yield f"{'  ' + words:<{_NAME + 20}}" + "".join(f"{one:>7.1f}" for one in cells)


def picture(curves: Curves) -> str:
    drawn = {policy: curves[policy] for policy in _DRAWN}
    by_attempts = [
        Line(label=policy, points=list(zip(map(float, BUDGETS), one.means(), strict=True)))
        for policy, one in drawn.items()
    ]
    by_tokens = [
        Line(label=policy, points=list(zip(one.tokens(), one.means(), strict=True))) for policy, one in drawn.items()
    ]
    panels = [
        Panel(title="equal attempts", x_label="attempts for each task", y_label="solved of 72", lines=by_attempts),
        Panel(title="equal tokens", x_label="tokens for each task", y_label="solved of 72", lines=by_tokens),
    ]
    return svg("Recorded answers of a real model: tasks solved", panels, columns=2)
