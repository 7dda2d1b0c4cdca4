"""The table, the plots, and the section of docs/benchmarks-convergence.md that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.convergence.accounts import BUDGET
from bench.convergence.campaign import AT_CHANCE, CHANCES, FAMILIES, VARIATIONS, VARIED, Results, Setting, policies
from bench.convergence.jobs import SHAPES, Shape
from bench.convergence.tally import Figure, Tally
from bench.plots import Line, Panel, svg

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "benchmarks-convergence.md"
BEGIN, END = "<!-- made by make bench-convergence -->", "<!-- end -->"
SHOWN = (0.2, 0.5, 0.8, 0.95)
COMPARED = 0.5
NAME, CELL, TITLE = 31, 30, 25
COST, MOST_COST = "cost per job solved", 100.0


def table(results: Results, family: str = FAMILIES[0]) -> Iterator[str]:
    """One block for each shape, one line for each policy, one cell for each chance."""
    for shape in SHAPES:
        shown = [Setting(shape=shape, chance=chance, family=family) for chance in SHOWN]
        present = [setting for setting in shown if setting in results]
        if present:
            yield f"{shape.title:<{NAME}}" + "".join(f"{f'p = {one.chance:g}':>{CELL}}" for one in present)
            yield f"{'':<{NAME}}" + f"{'solved false tried cost time':>{CELL}}" * len(present)
            for name in policies():
                yield f"{name:<{NAME}}" + "".join(_cell(results[one][name]) for one in present)
            yield ""


def _cell(tally: Tally) -> str:
    """Per cent with half of its interval, per cent, attempts, multiples of the least."""
    solved = tally.solved_rate
    rate = f"{100 * solved.value:.0f}±{50 * (solved.high - solved.low):.0f}"
    tried, cost, time = (
        "-" if one is None else f"{one:.{digits}f}"
        for one, digits in ((tally.attempts, 0), (tally.cost and tally.cost.value, 1), (tally.time, 1))
    )
    return f"{rate:>{CELL - 22}} {100 * tally.false_rate.value:>5.0f} {tried:>5} {cost:>4} {time:>4}"


def families(results: Results) -> Iterator[str]:
    """The same drawn again: solved in one family of seeds, and in the other."""
    shapes = [shape for shape in SHAPES if all(one in results for one in _pair(shape))]
    titles = "".join(f"{shape.title:>{TITLE}}" for shape in shapes)
    yield f"{f'solved, p = {COMPARED:g}, seeds ' + '/'.join(FAMILIES):<{NAME}}{titles}"
    for name in policies():
        rates = [[100 * results[one][name].solved_rate.value for one in _pair(shape)] for shape in shapes]
        yield f"{name:<{NAME}}" + "".join(f"{f'{one:.0f}/{other:.0f}':>{TITLE}}" for one, other in rates)
    yield f"pairs of intervals, at any p, that do not overlap: {_disagreements(results)}"


def _pair(shape: Shape) -> list[Setting]:
    return [Setting(shape=shape, chance=COMPARED, family=family) for family in FAMILIES]


def _disagreements(results: Results) -> str:
    """Of 95 % intervals with the same true value, fewer than one pair in a hundred is apart."""
    apart = pairs = 0
    for shape in SHAPES:
        for chance in CHANCES:
            both = [Setting(shape=shape, chance=chance, family=family) for family in FAMILIES]
            if all(one in results for one in both):
                for name in policies():
                    one, two = (results[setting][name].solved_rate for setting in both)
                    pairs += 1
                    apart += one.high < two.low or two.high < one.low
    return f"{apart} of {pairs}"


# --- plots -------------------------------------------------------------------------------------------------------


def plots(results: Results) -> dict[str, str]:
    """By name of the file."""
    by_chance = "chance of an attempt"
    kinds = {"solved": "truly solved", "false": "falsely called done"}
    drawn = {
        f"convergence-{kind}.svg": svg(
            f"Jobs {words}, by policy and chance of an attempt",
            [_panel(results, shape.title, by_chance, words, kind, _of_chance(shape)) for shape in SHAPES],
        )
        for kind, words in kinds.items()
    }
    drawn["convergence-cost.svg"] = svg(
        "Cost for each job solved, by policy and chance of an attempt",
        [_panel(results, one.title, by_chance, COST, "cost", _of_chance(one)) for one in SHAPES],
    )
    drawn["convergence-assumptions.svg"] = svg(
        "What changes with the assumptions",
        [
            _panel(results, f"{VARIED.title}, p = {AT_CHANCE:g}", words, label, kind, points)
            for words, points in VARIATIONS.items()
            for kind, label in (("solved", kinds["solved"]), ("cost", COST))
        ],
        columns=2,
    )
    return drawn


def _of_chance(shape: Shape) -> dict[float, Setting]:
    return {chance: Setting(shape=shape, chance=chance) for chance in CHANCES}


def _panel(
    results: Results, title: str, x_label: str, y_label: str, kind: str, settings: dict[float, Setting]
) -> Panel:
    lines = []
    for name in policies():
        figures = [(x, _figure(results[setting][name], kind)) for x, setting in settings.items() if setting in results]
        lines.append(
            Line(
                label=name,
                points=[(x, None if one is None else one.value) for x, one in figures],
                band=[(x, one.low, one.high) for x, one in figures if one is not None] if kind != "cost" else (),
            )
        )
    return Panel(
        title=title,
        x_label=x_label,
        y_label=y_label,
        lines=lines,
        y_range=(1.0, MOST_COST) if kind == "cost" else (0.0, 1.0),
        is_log=kind == "cost",
    )


def _figure(tally: Tally, kind: str) -> Figure | None:
    cost = tally.cost if tally.cost is not None and tally.cost.value <= MOST_COST else None
    return {"solved": tally.solved_rate, "false": tally.false_rate, "cost": cost}[kind]


# --- the page ----------------------------------------------------------------------------------------------------


def section(results: Results, jobs: int) -> str:
    pictures = [
        f"![{words}]({name})"
        for name, words in (
            ("convergence-solved.svg", "Jobs truly solved, by chance of an attempt, for six shapes of graphs"),
            ("convergence-false.svg", "Jobs falsely called done, for the same"),
            ("convergence-cost.svg", "Cost of all jobs divided by the number of jobs solved, for the same"),
            ("convergence-assumptions.svg", "Jobs truly solved, and their cost, when the assumptions are varied"),
        )
    ]
    lines = [f"{jobs} jobs of each shape, {BUDGET} attempts for each part.", "", "```text", *table(results)]
    return "\n".join([*lines, *families(results), "```", "", *_spaced(pictures)])


def _spaced(paragraphs: Sequence[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in (paragraph, "")]


def with_section(page: str, new: str) -> str:
    """Everything outside of the markers stays as it is."""
    before, rest = page.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}\n{new}{END}{after}"


def write(results: Results, jobs: int) -> list[Path]:
    written = {PAGE: with_section(PAGE.read_text(), section(results, jobs))}
    written |= {DOCS / name: text for name, text in plots(results).items()}
    for path, text in written.items():
        path.write_text(text)
    return list(written)
