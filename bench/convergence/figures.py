"""The plots of the page."""

from __future__ import annotations

from bench.convergence.campaign import AT, CHANCES, POLICIES, REPORTED, VARIATIONS, Results, Setting, usual
from bench.convergence.jobs import SHAPES, Shape
from bench.convergence.tally import Figure, Tally
from bench.plots import Line, Panel, svg

COST, MOST_COST = "cost per job solved", 100.0
KINDS = {"solved": "truly solved", "false": "falsely called done"}


def plots(results: Results) -> dict[str, str]:
    """By name of the file."""
    by_chance = "chance of an attempt"
    drawn = {
        f"convergence-{kind}.svg": svg(
            f"Jobs {words}, by policy and chance of an attempt",
            [_panel(results, shape.title, by_chance, words, kind, _of_chance(shape)) for shape in SHAPES],
        )
        for kind, words in KINDS.items()
    }
    for kind, words in (("cost", COST), ("time", "time of a job solved")):
        drawn[f"convergence-{kind}.svg"] = svg(
            f"{words.capitalize()}, by policy and chance of an attempt",
            [_panel(results, one.title, by_chance, words, kind, _of_chance(one)) for one in SHAPES],
        )
    drawn["convergence-assumptions.svg"] = svg(
        "What changes with the assumptions",
        [
            _panel(results, f"{_shape(points).title}, p = {AT:g}", words, label, kind, points)
            for words, points in VARIATIONS.items()
            for kind, label in (("solved", KINDS["solved"]), ("cost", COST))
            if any(one in results for one in points.values())
        ],
        columns=2,
    )
    return drawn


def _of_chance(shape: Shape) -> dict[float, Setting]:
    return {chance: usual(shape, chance, REPORTED) for chance in CHANCES}


def _shape(points: dict[float, Setting]) -> Shape:
    return next(iter(points.values())).shape


def _panel(
    results: Results, title: str, x_label: str, y_label: str, kind: str, settings: dict[float, Setting]
) -> Panel:
    present = {x: results[setting] for x, setting in settings.items() if setting in results}
    lines = []
    for name in POLICIES:
        figures = [(x, _figure(found[name], kind)) for x, found in present.items() if name in found]
        if figures:
            points = [(x, None if one is None else one.value) for x, one in figures]
            band = [(x, one.low, one.high) for x, one in figures if one is not None] if kind in KINDS else ()
            lines.append(Line(label=name, points=points, band=band))
    y_range = (0.0, 1.0) if kind in KINDS else (0.2, 10.0) if kind == "time" else (1.0, MOST_COST)
    return Panel(title=title, x_label=x_label, y_label=y_label, lines=lines, y_range=y_range, is_log=kind not in KINDS)


def _figure(tally: Tally, kind: str) -> Figure | None:
    cost = tally.cost if tally.cost is not None and tally.cost.value <= MOST_COST else None
    time = None if tally.time is None else Figure(tally.time, tally.time, tally.time)
    return {"solved": tally.solved_rate, "false": tally.false_rate, "cost": cost, "time": time}[kind]
