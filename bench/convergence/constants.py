"""The effect of each constant of the policy: the same jobs with other values, on the seeds of the choice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context

import msgspec
from msgspec.structs import replace

from aotloop.core import limits
from aotloop.core.policy import turns
from bench.convergence.campaign import CHOSEN_ON, LARGE, LATE, LAYERED, MODERATE, OURS, Setting, tallies
from bench.convergence.jobs import SHAPES, Shape
from bench.convergence.luck import Traits
from bench.convergence.tally import Tally

JOBS = 40
PER_ATOM = "attempts_per_atom"
OF_EFFORT = (PER_ATOM, "max_stall_count", "max_iterations")
VALUES: dict[str, tuple[float, ...]] = {
    "PATIENCE": (3, 6, 12, 24),
    "SHARE": (2, 4, 8),
    "BLAME": (0, 4, 12, 24),
    "SWEEPS": (1, 3, 6),
    "HINT": (0.0, 0.5, 2.0, 99.0),
    "HOPELESS": (0.4, 0.8, 1.5, 3.0),
    "HARDER": (0, 6, 12, 24),
    "MOST": (0.5, 0.8, 1.0),
    "VAIN": (0.0, 2.0, 99.0),
    "DOUBLING": (0.0, 0.5, 0.75),
    PER_ATOM: (4, 6, 8, 10, 15),
}
"""Those in use, and others."""


def _setting(shape: Shape, chance: float, *, solvable: bool = True, **more: float) -> Setting:
    traits = Traits(chance=chance, **more)
    return Setting(shape=shape, traits=traits, family=CHOSEN_ON, solvable=solvable, policies=(OURS,))


TRIED: dict[str, Setting] = {
    "chain .1": _setting(SHAPES[0], 0.1),
    "layered .1": _setting(LAYERED, 0.1),
    "late .2": _setting(LATE, 0.2),
    "late .2, wrong hints": _setting(LATE, 0.2, misleading=0.3),
    "late .95": _setting(LATE, 0.95),
    "large .2": _setting(LARGE, 0.2),
    "large .35, traps": _setting(LARGE, 0.35, traps=0.15),
    "chain .35, Beta": _setting(SHAPES[0], 0.35, spread=MODERATE),
    "large .35, Beta": _setting(LARGE, 0.35, spread=MODERATE),
    "unsolvable .5": _setting(LAYERED, 0.5, solvable=False),
}


class Value(msgspec.Struct, frozen=True):
    name: str
    value: float

    @property
    def is_in_use(self) -> bool:
        return self.value == _in_use(self.name)


def _in_use(name: str) -> float:
    found: float = getattr(limits.EFFORTS["normal"] if name in OF_EFFORT else turns, name)
    return found


@contextmanager
def exchanged(one: Value) -> Iterator[None]:
    """In this process; what was resolved before is forgotten."""
    before, effort = _in_use(one.name), limits.EFFORTS["normal"]
    if one.name in OF_EFFORT:
        limits.EFFORTS["normal"] = replace(effort, **{one.name: int(one.value)})
    else:
        setattr(turns, one.name, one.value)
    limits.limits_of.cache_clear()
    try:
        yield
    finally:
        limits.EFFORTS["normal"] = effort
        if one.name not in OF_EFFORT:
            setattr(turns, one.name, before)
        limits.limits_of.cache_clear()


def measured(one: Value, jobs: int = JOBS) -> dict[str, Tally]:
    with exchanged(one):
        return {name: tallies(setting, jobs)[OURS] for name, setting in TRIED.items()}


def table(jobs: int = JOBS, *, processes: int | None = None) -> Iterator[str]:
    """Solved, per cent, and cost for each job solved; of the unsolvable ones, what is spent."""
    values = [Value(name, value) for name, alternatives in VALUES.items() for value in alternatives]
    yield f"{'seeds ' + CHOSEN_ON + ', solved/cost':<26}" + "".join(f"{name:>22}" for name in TRIED)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for one, found in zip(values, pool.map(partial(measured, jobs=jobs), values), strict=True):
            mark = "*" if one.is_in_use else " "
            yield f"{one.name + ' ' + format(one.value, 'g'):<25}{mark}" + "".join(
                f"{_cell(found[name], solvable=setting.solvable):>22}" for name, setting in TRIED.items()
            )


def _cell(tally: Tally, *, solvable: bool) -> str:
    if not solvable:
        return f"{tally.spent:.1f}"
    cost = "-" if tally.cost is None else f"{tally.cost.value:.1f}"
    return f"{100 * tally.solved_rate.value:.0f}/{cost}"
