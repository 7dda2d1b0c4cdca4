"""The campaign: every policy at the same jobs with the same luck, for each shape, chance and assumption.

There are families of seeds. The constants of aotloop.core.policy.turns were chosen on the families a and b. All
reported figures are measured on d, which was not used before; an earlier version was reported on c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import msgspec

from aotloop.core.model import Constraints
from bench.convergence.accounts import Ended
from bench.convergence.agents import Habits
from bench.convergence.jobs import IMPOSSIBLE, SHAPES, Job, Shape, job_of
from bench.convergence.luck import Luck, Traits
from bench.convergence.measured import measured
from bench.convergence.others import each_way_once, repeat_and_believe, repeat_until_checked, retry_only
from bench.convergence.ours import ours
from bench.convergence.tally import Tally

Policy = Callable[[Job, Luck], Ended]
OURS, REPEAT = "aotloop", "repeat until checks pass"
POLICIES: dict[str, Policy] = {
    OURS: ours,
    "aotloop, one agent at a time": partial(ours, limits=Constraints(max_parallel_agents=1)),
    "aotloop, cold retries, no sittings": partial(ours, habits=Habits(warm=False, sitting=1)),
    "aotloop, atoms without checks": partial(ours, habits=Habits(checked=False)),
    REPEAT: repeat_until_checked,
    "repeat, believe 'done'": repeat_and_believe,
    "retry only": retry_only,
    "each way once": each_way_once,
}
COMPARED = (OURS, REPEAT)
CHANCES = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
CHOSEN_ON, REPORTED = "a", "d"
JOBS = 100
"""Of each setting."""
TIMES = 4
"""So many times as many for the two policies that are compared, on the seeds that are reported."""
LAYERED, LATE, LARGE = SHAPES[2], SHAPES[4], SHAPES[5]
AT = 0.5
"""The chance at which everything else is varied."""
MODERATE = 4.0
"""The sum of the parameters of a Beta distribution that is less extreme than those of real models."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a table, or one point of a plot, for some policies."""

    shape: Shape
    traits: Traits
    family: str = REPORTED
    impossible: float = IMPOSSIBLE
    solvable: bool = True
    policies: tuple[str, ...] = tuple(POLICIES)


def usual(shape: Shape, chance: float, family: str = REPORTED) -> Setting:
    policies = tuple(POLICIES) if family == REPORTED else COMPARED
    return Setting(shape=shape, traits=Traits(chance=chance), family=family, policies=policies)


def spread(shape: Shape, chance: float, by: float, family: str = REPORTED) -> Setting:
    return Setting(shape=shape, traits=Traits(chance=chance, spread=by), family=family, policies=COMPARED)


def unsolvable(shape: Shape, chance: float) -> Setting:
    return Setting(shape=shape, traits=Traits(chance=chance), solvable=False, policies=COMPARED)


def _varied(name: str, values: tuple[float, ...], shape: Shape = LAYERED) -> dict[float, Setting]:
    policies = (OURS, "aotloop, atoms without checks", REPEAT, "repeat, believe 'done'", "retry only")
    return {one: Setting(shape=shape, traits=Traits(chance=AT, **{name: one}), policies=policies) for one in values}


VARIATIONS: dict[str, dict[float, Setting]] = {
    "chance that a way is impossible": {
        one: Setting(shape=LAYERED, traits=Traits(chance=AT), impossible=one) for one in (0.0, 0.3, 0.6)
    },
    "chance of a false 'done'": _varied("false", (0.0, 0.2, 0.4)),
    "loss of chance with each part since an agent's start": _varied("wear", (0.0, 0.1, 0.2)),
    "chance that a fresh agent takes the first way again": _varied("stubborn", (0.0, 0.4, 0.8)),
    "share of what is lacking that a failure teaches": _varied("learning", (0.0, 0.1, 0.3)),
    "chance of a wrong hint": _varied("misleading", (0.0, 0.15, 0.3), LATE),
    "chance that what is left leads nowhere": _varied("traps", (0.0, 0.1, 0.2), LARGE),
    "checks that fail without reason": _varied("flaky", (0.0, 0.05, 0.1)),
    "checks that pass without reason": _varied("blind", (0.0, 0.02, 0.05)),
}
"""Everything that was set arbitrarily and matters, varied: what stands below the plot, and its points."""
UNSOLVABLE = (0.2, 0.5, 0.8)
SPREAD = ((0.2, MODERATE), (0.35, MODERATE), *((one.mean, one.spread) for one in measured().values()))
"""Mean chance, and sum of the parameters; the last are those of the models whose answers are recorded."""

Results = dict[Setting, dict[str, Tally]]


def settings() -> list[Setting]:
    families = (CHOSEN_ON, REPORTED)
    chosen = [usual(shape, chance, family) for family in families for shape in SHAPES for chance in CHANCES]
    chosen += [spread(shape, *one, family) for family in families for shape in SHAPES for one in SPREAD]
    chosen += [unsolvable(shape, chance) for shape in SHAPES for chance in UNSOLVABLE]
    chosen += [one for varied in VARIATIONS.values() for one in varied.values()]
    return list(dict.fromkeys(chosen))


def campaign(chosen: Iterable[Setting], jobs: int = JOBS, *, times: int = 1, processes: int | None = None) -> Results:
    """What comes out does not depend on how many processes there are."""
    chosen = list(chosen)
    if processes == 1:
        return {setting: tallies(setting, jobs, times) for setting in chosen}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = pool.map(partial(tallies, jobs=jobs, times=times), chosen)
        return dict(zip(chosen, done, strict=True))


def tallies(setting: Setting, jobs: int, times: int = 1) -> dict[str, Tally]:
    return {
        name: Tally.of([_ended(setting, name, number) for number in range(jobs * _times(setting, name, times))])
        for name in setting.policies
    }


def _times(setting: Setting, policy: str, times: int) -> int:
    return times if setting.family == REPORTED and policy in COMPARED else 1


def _ended(setting: Setting, policy: str, number: int) -> Ended:
    seed = f"{setting.family}{number}"
    job = job_of(setting.shape, seed, setting.impossible, solvable=setting.solvable)
    return POLICIES[policy](job, Luck(seed, setting.traits))
