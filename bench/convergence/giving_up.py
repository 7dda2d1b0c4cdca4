"""Giving up early or late: what a job that cannot be done costs, and what that patience brings where it can be done.

`HOPELESS` and `HARDER` are multiplied by the same factor. Nothing else changes. The jobs are those on which the
constants were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from statistics import fmean

from aotloop.core.policy import turns
from bench.convergence.campaign import CHOSEN_ON, MODERATE, OURS, REPEAT, Setting, tallies
from bench.convergence.constants import Value, exchanged
from bench.convergence.jobs import SHAPES
from bench.convergence.luck import Traits
from bench.convergence.tally import Tally

JOBS = 60
FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 99.0)
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


def measured(factor: float | None, jobs: int = JOBS) -> Row:
    """None: of the loop that repeats, which never gives up."""
    policy = OURS if factor is not None else REPEAT
    with ExitStack() as stack:
        for name in ("HOPELESS", "HARDER") if factor is not None else ():
            stack.enter_context(exchanged(Value(name, (factor or 1) * getattr(turns, name))))
        return {name: [tallies(one, jobs)[policy] for one in chosen] for name, chosen in _settings((policy,)).items()}


def table(jobs: int = JOBS, *, processes: int | None = None) -> Iterator[str]:
    """Of what repeating spends, least and most of six shapes; points solved more or less, mean and worst of six."""
    yield f"{'seeds ' + CHOSEN_ON + ', patience times':<22}" + "".join(f"{name:>{WIDTH}}" for name in (*COSTS, *GAINS))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        repeat, *rows = pool.map(partial(measured, jobs=jobs), (None, *FACTORS))
    for factor, row in zip(FACTORS, rows, strict=True):
        mark = "*" if factor == 1 else " "
        cells = [_share(row[name], repeat[name]) for name in COSTS]
        cells += [_points(row[name], repeat[name]) for name in GAINS]
        yield f"{factor:<21.3g}{mark}" + "".join(f"{one:>{WIDTH}}" for one in cells)


def _share(ours: list[Tally], repeat: list[Tally]) -> str:
    shares = [one.spent / other.spent for one, other in zip(ours, repeat, strict=True)]
    return f"{min(shares):.2f} to {max(shares):.2f}"


def _points(ours: list[Tally], repeat: list[Tally]) -> str:
    points = [100 * (one.solved_rate.value - other.solved_rate.value) for one, other in zip(ours, repeat, strict=True)]
    return f"{fmean(points):+.1f}, worst {min(points):+.1f}"
