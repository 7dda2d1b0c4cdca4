"""Every policy at the same jobs with the same luck: for each shape, each chance, and two families of seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import msgspec

from aotloop.core.model import Constraints
from bench.convergence.accounts import BUDGET, Ended
from bench.convergence.jobs import IMPOSSIBLE, SHAPES, Job, Shape, job_of
from bench.convergence.luck import FALSE, STUBBORN, WEAR, Luck
from bench.convergence.others import (
    each_way_once,
    first_choice_only,
    repeat_and_believe,
    repeat_until_checked,
    retry_only,
)
from bench.convergence.ours import ours, patient
from bench.convergence.tally import Tally

Policy = Callable[[Job, Luck], Ended]
CHANCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FAMILIES = ("a", "b")
JOBS = 100
"""In each family."""
VARIED = SHAPES[2]
AT_CHANCE = 0.6
"""Where everything else is varied."""
IMPOSSIBLES = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75)
FALSES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
WEARS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
STUBBORNS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
TRIES = (1, 2, 3, 4, 6, 8, 10)


def policies(tries: int = BUDGET) -> dict[str, Policy]:
    """`tries`: of each way, for those who count them."""
    return {
        "aotloop": partial(ours, limits=patient(tries)),
        "aotloop, default limits": partial(ours, limits=Constraints()),
        "aotloop, atoms without checks": partial(ours, limits=patient(tries), checked=False),
        "repeat until checks pass": repeat_until_checked,
        "repeat, believe 'done'": repeat_and_believe,
        "retry only": partial(retry_only, tries=tries),
        "each way once": each_way_once,
        "first choice only": first_choice_only,
    }


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One point of one plot, for all policies."""

    shape: Shape
    chance: float
    family: str = FAMILIES[0]
    impossible: float = IMPOSSIBLE
    false: float = FALSE
    wear: float = WEAR
    stubborn: float = STUBBORN
    tries: int = BUDGET


VARIATIONS: dict[str, dict[float, Setting]] = {
    "chance that a way is impossible": {
        one: Setting(shape=VARIED, chance=AT_CHANCE, impossible=one) for one in IMPOSSIBLES
    },
    "chance of a false 'done'": {one: Setting(shape=VARIED, chance=AT_CHANCE, false=one) for one in FALSES},
    "loss of chance with each part since an agent's start": {
        one: Setting(shape=VARIED, chance=AT_CHANCE, wear=one) for one in WEARS
    },
    "chance that a fresh agent takes the first way again": {
        one: Setting(shape=VARIED, chance=AT_CHANCE, stubborn=one) for one in STUBBORNS
    },
    "tries of each way": {one: Setting(shape=VARIED, chance=AT_CHANCE, tries=one) for one in TRIES},
}
"""Everything that was set arbitrarily and matters, varied: what stands below the plot, and its points."""

Results = dict[Setting, dict[str, Tally]]


def settings() -> list[Setting]:
    of_chance = [
        Setting(shape=shape, chance=chance, family=family)
        for family in FAMILIES
        for shape in SHAPES
        for chance in CHANCES
    ]
    others = [one for varied in VARIATIONS.values() for one in varied.values()]
    return list(dict.fromkeys([*of_chance, *others]))


def campaign(chosen: Iterable[Setting], jobs: int = JOBS, *, processes: int | None = None) -> Results:
    """What comes out does not depend on how many processes there are."""
    chosen = list(chosen)
    if processes == 1:
        return {setting: tallies(setting, jobs) for setting in chosen}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = pool.map(partial(tallies, jobs=jobs), chosen)
        return dict(zip(chosen, done, strict=True))


def tallies(setting: Setting, jobs: int) -> dict[str, Tally]:
    seeds = [f"{setting.family}{number}" for number in range(jobs)]
    made = [job_of(setting.shape, seed, setting.impossible) for seed in seeds]
    return {
        name: Tally.of(
            [
                policy(job, Luck(seed, setting.chance, setting.false, setting.wear, setting.stubborn))
                for seed, job in zip(seeds, made, strict=True)
            ]
        )
        for name, policy in policies(setting.tries).items()
    }
