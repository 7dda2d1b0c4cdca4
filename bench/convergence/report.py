"""The tables: all of them for bench/convergence/tables.txt, the comparison for docs/benchmarks-convergence.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from bench.convergence import recorded
from bench.convergence.accounts import BUDGET
from bench.convergence.campaign import (
    CHANCES,
    CHOSEN_ON,
    COMPARED,
    OURS,
    REPEAT,
    REPORTED,
    SPREAD,
    TIMES,
    UNSOLVABLE,
    VARIATIONS,
    Results,
    spread,
    unsolvable,
    usual,
)
from bench.convergence.figures import plots
from bench.convergence.goals import missed, too_dear
from bench.convergence.jobs import SHAPES
from bench.convergence.measured import measured
from bench.convergence.tally import Tally

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "benchmarks-convergence.md"
TABLES = Path(__file__).with_name("tables.txt")
BEGIN, END = "<!-- made by make bench-convergence -->", "<!-- end -->"
NAME, CELL = 36, 22
SHAPE, PAIR = 24, 10
SEEDS = 40
"""Orders in which the recorded answers are drawn."""


def table(results: Results, family: str = REPORTED) -> Iterator[str]:
    """One block for each shape, one line for each policy, one cell for each chance."""
    for shape in SHAPES:
        shown = [setting for chance in CHANCES if (setting := usual(shape, chance, family)) in results]
        if not shown:
            continue
        yield f"{shape.title:<{NAME}}" + "".join(f"{f'p = {one.traits.chance:g}':>{CELL}}" for one in shown)
        yield f"{'seeds ' + family:<{NAME}}" + f"{'done':>8}{'lie':>4}{'cost':>5}{'time':>5}" * len(shown)
        for name in shown[0].policies:
            yield f"{name:<{NAME}}" + "".join(_cell(results[one][name]) for one in shown)
        yield ""


def _cell(tally: Tally) -> str:
    """Solved and falsely done, per cent; cost of each job solved, and time, as multiples of the least."""
    cost, time = _cost(tally), _number(tally.time)
    return f"{100 * tally.solved_rate.value:>8.0f}{100 * tally.false_rate.value:>4.0f}{cost:>5}{time:>5}"


def _cost(tally: Tally) -> str:
    return _number(None if tally.cost is None else tally.cost.value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def comparison(results: Results) -> Iterator[str]:
    """Ours beside the loop that repeats: solved, cost and time, for each shape and chance."""
    for title, figure in _COMPARED_FIGURES.items():
        yield f"{f'{title}, ours/repeat':<{SHAPE}}" + "".join(f"{f'p = {one:g}':>{PAIR}}" for one in CHANCES)
        for shape in SHAPES:
            pairs = [results[one] for chance in CHANCES if (one := usual(shape, chance, REPORTED)) in results]
            cells = (f"{figure(one[OURS])}/{figure(one[REPEAT])}" for one in pairs)
            yield f"{shape.title:<{SHAPE}}" + "".join(f"{one:>{PAIR}}" for one in cells)


def _solved(tally: Tally) -> str:
    return f"{100 * tally.solved_rate.value:.0f}"


_COMPARED_FIGURES: dict[str, Callable[[Tally], str]] = {
    "solved, %": _solved,
    "cost": _cost,
    "time": lambda tally: _number(tally.time),
}


def goals(results: Results) -> Iterator[str]:
    for family in (CHOSEN_ON, REPORTED):
        found = list(missed(results, family))
        yield f"ours beside repeat, seeds {family}: {len(found)} misses in {len(SHAPES) * len(CHANCES)} settings"
        yield from (f"  {one}" for one in found)


def difficulties(results: Results, families: Sequence[str] = (CHOSEN_ON, REPORTED)) -> Iterator[str]:
    """Ways of unlike difficulty: solved, and units done, ours and repeat."""
    for model, fit in measured().items():
        told = f"as measured on {model}: Beta({fit.alpha:.2f}, {fit.beta:.2f})"
        yield f"{told}, log-likelihood {fit.likelihood:.0f}; one chance for all: {fit.constant:.0f}"
    names = ["", "", *measured()]
    yield f"{'':<{NAME}}" + "".join(f"{one:>30}" for one in names)
    heads = [f"mean {chance:g}, Beta({chance * by:.2g}, {(1 - chance) * by:.2g})" for chance, by in SPREAD]
    yield f"{'solved %/units % (cost)':<{NAME}}" + "".join(f"{one:>30}" for one in heads)
    for family in families:
        for shape in SHAPES:
            chosen = [spread(shape, *one, family) for one in SPREAD]
            if all(one in results for one in chosen):
                for name in COMPARED:
                    cells = "".join(f"{_spread_cell(results[one][name]):>30}" for one in chosen)
                    yield f"{f'{family}: {shape.title}, {name.split()[0]}':<{NAME}}{cells}"


def _spread_cell(tally: Tally) -> str:
    cost = _cost(tally)
    return f"{100 * tally.solved_rate.value:.0f}/{100 * tally.units:.0f} ({cost})"


def hopeless(results: Results) -> Iterator[str]:
    """Jobs that cannot be done: what is spent until it ends, and how often ours says why."""
    yield f"{'unsolvable: spent, ours/repeat':<{NAME}}" + "".join(f"{f'p = {one:g}':>24}" for one in UNSOLVABLE)
    for shape in SHAPES:
        chosen = [unsolvable(shape, chance) for chance in UNSOLVABLE]
        if all(one in results for one in chosen):
            yield f"{shape.title:<{NAME}}" + "".join(f"{_spent(results[one]):>24}" for one in chosen)
    found = list(too_dear(results))
    yield f"more than half of what repeating spends: {len(found)}"
    yield from (f"  {one}" for one in found)


def _spent(found: dict[str, Tally]) -> str:
    ours, repeat = found[OURS], found[REPEAT]
    return f"{ours.spent:.1f}/{repeat.spent:.1f} blocked {100 * ours.blocked / ours.jobs:.0f} %"


def assumptions(results: Results) -> Iterator[str]:
    yield f"{'solved/cost, ours and repeat':<56}"
    for words, points in VARIATIONS.items():
        cells = [
            f"{x:g}: {_short(results[one][OURS])} {_short(results[one][REPEAT])}"
            for x, one in points.items()
            if one in results
        ]
        yield f"{words:<56}" + "".join(f"{one:>34}" for one in cells)


def _short(tally: Tally) -> str:
    false = f" ({tally.false} false)" if tally.false else ""
    return f"{100 * tally.solved_rate.value:.0f}/{_cost(tally)}{false}"


def real_answers(seeds: int = SEEDS) -> Iterator[str]:
    """Mean number of tasks solved."""
    tasks = len(recorded.answers())
    contenders = {
        OURS: recorded.solved_by_ours,
        REPEAT: recorded.solved_by_repeat,
        "least failed first": recorded.solved_by_turns,
    }
    yield f"{f'recorded answers: solved of {tasks}':<{NAME}}" + "".join(
        f"{f'{one * tasks} attempts':>{CELL}}" for one in recorded.BUDGETS
    )
    for name, solve in contenders.items():
        for family in (CHOSEN_ON, REPORTED):
            means = [
                tasks * fmean(solve(f"{family}{number}", one).units for number in range(seeds))
                for one in recorded.BUDGETS
            ]
            yield f"{f'{family}: {name}':<{NAME}}" + "".join(f"{one:>{CELL}.1f}" for one in means)


# --- the page ----------------------------------------------------------------------------------------------------


def blocks(results: Results) -> Iterator[list[str]]:
    yield list(table(results))
    yield [line for line in table(results, CHOSEN_ON) if line]
    yield list(goals(results))
    yield list(difficulties(results))
    yield list(hopeless(results))
    yield list(assumptions(results))


def page_blocks(results: Results) -> Iterator[list[str]]:
    """What a person reads; the rest is in `TABLES`."""
    yield list(comparison(results))
    yield list(goals(results))
    yield list(difficulties(results, (REPORTED,)))
    yield list(hopeless(results))
    yield list(assumptions(results))


def section(shown: Iterable[Sequence[str]], jobs: int) -> str:
    pictures = [
        f"![{words}]({name})"
        for name, words in (
            ("convergence-solved.svg", "Jobs truly solved, by chance of an attempt, for six shapes of graphs"),
            ("convergence-false.svg", "Jobs falsely called done, for the same"),
            ("convergence-cost.svg", "Cost of all jobs divided by the number of jobs solved, for the same"),
            ("convergence-time.svg", "Time of the jobs solved, for the same"),
            ("convergence-assumptions.svg", "Jobs truly solved, and their cost, when the assumptions are varied"),
        )
    ]
    parts = [line for block in shown for line in ("```text", *block, "```", "")]
    more = f"{jobs * TIMES} for the first policy and the loop that repeats on the seeds {REPORTED}"
    lines = [f"{jobs} jobs of each setting, {more}; {BUDGET} attempts for each part.", "", *parts]
    return "\n".join([*lines, *(line for one in pictures for line in (one, ""))])


def with_section(page: str, new: str) -> str:
    """Everything outside of the markers stays as it is."""
    before, rest = page.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}\n{new}{END}{after}"


def write(results: Results, printed: Sequence[Sequence[str]], jobs: int) -> list[Path]:
    written = {PAGE: with_section(PAGE.read_text(), section(page_blocks(results), jobs))}
    written[TABLES] = "\n".join("\n".join(block).rstrip("\n") + "\n" for block in printed)
    written |= {DOCS / name: text for name, text in plots(results).items()}
    for path, text in written.items():
        path.write_text(text)
    return list(written)
