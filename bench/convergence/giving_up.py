"""Giving up early or late: what a job that cannot be done costs, and what that patience brings where it can be done.

`HOPELESS` and `HARDER` are multiplied by the same factor. Nothing else changes. The last rows have another rule: a unit
is given up after a fixed number of equal failures of each choice. The best of these numbers, chosen afterwards, shows
what counting equal failures can achieve. The jobs are those on which the constants were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from statistics import fmean

from aotloop.core.graph.units import choices_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.policy import stop_reasons, turns
from bench.convergence.campaign import CHOSEN_ON, MODERATE, OURS, REPEAT, Setting, tallies
from bench.convergence.constants import Value, exchanged
from bench.convergence.jobs import SHAPES
from bench.convergence.luck import Traits
from bench.convergence.tally import Tally

JOBS = 60
FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 99.0)
NEVER = {"HOPELESS": 99, "HARDER": 999, "MOST": 1, "max_stall_count": 99, "max_iterations": 999}
"""No unit is given up, and no stall ends a run: only the budget does."""
EQUAL = (10, 15, 20, 28, 40)
"""Failures of each choice."""
_RULE = "is_hopeless"
COSTS = {"unsolvable .2": 0.2, "unsolvable .5": 0.5}
GAINS = {"p = .1": (0.1, None), "p = .2": (0.2, None), "Beta .2": (0.2, MODERATE), "Beta .35": (0.35, MODERATE)}
WIDTH = 22

Row = dict[str, list[Tally]]
"""By column, one for each shape."""


def _settings(policies: tuple[str, ...]) -> dict[str, list[Setting]]:
    made: dict[str, list[Setting]] = {}
    for name, chance in COSTS.items():
        traits = Traits(chance=chance)
        made[name] = [
            Setting(shape=one, traits=traits, family=CHOSEN_ON, solvable=False, policies=policies) for one in SHAPES
        ]
    for name, (chance, by) in GAINS.items():
        traits = Traits(chance=chance, spread=by)
        made[name] = [Setting(shape=one, traits=traits, family=CHOSEN_ON, policies=policies) for one in SHAPES]
    return made


def times(factor: float) -> tuple[Value, ...]:
    return tuple(Value(name, factor * getattr(turns, name)) for name in ("HOPELESS", "HARDER"))


def measured(values: tuple[Value, ...] | None, jobs: int = JOBS) -> Row:
    """None: of the loop that repeats, which never gives up."""
    policy = OURS if values is not None else REPEAT
    with ExitStack() as stack:
        for value in values or ():
            stack.enter_context(exchanged(value))
        return {name: [tallies(one, jobs)[policy] for one in chosen] for name, chosen in _settings((policy,)).items()}


@contextmanager
def _given_up_after(equal: int) -> Iterator[None]:
    def is_hopeless(graph: Graph, atom_id: str, share: float = 1) -> bool:
        return min(graph.atoms[choice].alike for choice in choices_of(graph, atom_id)) >= share * equal

    before = getattr(stop_reasons, _RULE)
    setattr(stop_reasons, _RULE, is_hopeless)
    try:
        yield
    finally:
        setattr(stop_reasons, _RULE, before)


def measured_after(equal: int, jobs: int = JOBS) -> Row:
    with _given_up_after(equal):
        return {
            name: [tallies(setting, jobs)[OURS] for setting in chosen] for name, chosen in _settings((OURS,)).items()
        }


def table(jobs: int = JOBS, *, processes: int | None = None) -> Iterator[str]:
    """Of what repeating spends, least and most of six shapes; points solved more or less, mean and worst of six."""
    yield f"{'seeds ' + CHOSEN_ON + ', patience times':<22}" + "".join(f"{name:>{WIDTH}}" for name in (*COSTS, *GAINS))
    ours = {f"{factor:<21.3g}{'*' if factor == 1 else ' '}": times(factor) for factor in FACTORS}
    ours["never given up"] = tuple(Value(name, value) for name, value in NEVER.items())
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        repeat, *rows = pool.map(partial(measured, jobs=jobs), (None, *ours.values()))
        fixed = list(pool.map(partial(measured_after, jobs=jobs), EQUAL))
    names = (*ours, *(f"{equal} equal failures" for equal in EQUAL))
    for name, row in zip(names, (*rows, *fixed), strict=True):
        yield f"{name:<22}" + _cells(row, repeat)


def _cells(row: Row, repeat: Row) -> str:
    cells = [_share(row[name], repeat[name]) for name in COSTS]
    cells += [_points(row[name], repeat[name]) for name in GAINS]
    return "".join(f"{cell:>{WIDTH}}" for cell in cells)


def _share(ours: list[Tally], repeat: list[Tally]) -> str:
    shares = [one.spent / other.spent for one, other in zip(ours, repeat, strict=True)]
    return f"{min(shares):.2f} to {max(shares):.2f}"


def _points(ours: list[Tally], repeat: list[Tally]) -> str:
    points = [100 * (one.solved_rate.value - other.solved_rate.value) for one, other in zip(ours, repeat, strict=True)]
    return f"{fmean(points):+.1f}, worst {min(points):+.1f}"
