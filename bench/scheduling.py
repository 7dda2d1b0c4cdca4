"""How long a run takes against the least possible: no schedule beats max(critical path, work / slots).

Random layered graphs of 50 atoms: 5 to 10 layers, every atom needs 1 to 3 of the layer before, durations lognormal with
sigma 1. Ours runs in the simulator, where attempts take their true durations, which it does not know: without estimates
it goes by how many atoms follow, with rough ones (off by a lognormal factor, sigma 0.3) by how long they take. Waves,
for comparison: as many ready atoms as there are slots, in the order of the file; wait for all of them; repeat.
The columns are minutes of the simulated world; the ratio is the mean over the graphs of one seed, the note has another.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import fmean

import msgspec
from msgspec.structs import replace

from aotloop.core.model import Atom, Loop
from aotloop.simulator import AllGoesWell, simulate
from bench.events import layered
from bench.measure import Row

GRAPHS, ATOMS = 200, 50
FEWEST_LAYERS, MOST_LAYERS, MOST_NEEDS = 5, 10, 3
SPREAD, ROUGHNESS = 1.0, 0.3
SLOTS = (3, 8, 32)
SEED, OTHER_SEED = 1, 2
WAYS = ("without estimates", "with rough estimates", "in waves")
GOALS = {(3, "without estimates"): "goal: at most 1.11", (3, "with rough estimates"): "goal: at most 1.03"}

Needs = dict[str, tuple[str, ...]]
Minutes = dict[str, float]


class Makespan(Row, frozen=True):
    mean: float = 1.0

    @property
    def ratio(self) -> float:
        return self.mean

    def line(self) -> str:
        return f"{self.name:<58} {self.ours:>9.3f} {self.other:>9.3f}  {self.ratio:>6.3f}x the least {self.goal}"


class Outcome(msgspec.Struct, frozen=True):
    """Of one graph: minutes by way of scheduling, and the least possible."""

    taken: dict[str, float]
    least: float


def rows() -> Iterator[Row]:
    for slots in SLOTS:
        outcomes, others = outcomes_of(SEED, slots), outcomes_of(OTHER_SEED, slots)
        for way in WAYS:
            notes = [GOALS.get((slots, way), ""), f"seed {OTHER_SEED}: {_mean_ratio(others, way):.3f}"]
            if way != "in waves":
                worse = sum(one.taken[way] > one.taken["in waves"] * (1 + 1e-9) for one in (*outcomes, *others))
                notes.append(f"slower than waves: {worse} of {2 * GRAPHS}")
            yield Makespan(
                f"makespan {way}, {slots} slots / least possible",
                fmean(one.taken[way] for one in outcomes),
                fmean(one.least for one in outcomes),
                "; ".join(filter(None, notes)),
                "other",
                _mean_ratio(outcomes, way),
            )


def _mean_ratio(outcomes: list[Outcome], way: str) -> float:
    return fmean(one.taken[way] / one.least for one in outcomes)


def outcomes_of(seed: int, slots: int) -> list[Outcome]:
    random = Random(seed)
    return [_outcome(random, slots) for _ in range(GRAPHS)]


def _outcome(random: Random, slots: int) -> Outcome:
    needs = _needs(random)
    minutes = {one: random.lognormvariate(0, SPREAD) for one in needs}
    rough = {one: taken * random.lognormvariate(0, ROUGHNESS) for one, taken in minutes.items()}
    taken = {
        "without estimates": _simulated(needs, minutes, {}, slots),
        "with rough estimates": _simulated(needs, minutes, rough, slots),
        "in waves": _in_waves(needs, minutes, slots),
    }
    return Outcome(taken, max(_critical_path(needs, minutes), sum(minutes.values()) / slots))


def _needs(random: Random) -> Needs:
    """In the order of the file, which is that of the layers."""
    layers = random.randint(FEWEST_LAYERS, MOST_LAYERS)
    of_layer = sorted([*range(layers), *(random.randrange(layers) for _ in range(ATOMS - layers))])
    members: list[list[str]] = [[] for _ in range(layers)]
    needs: Needs = {}
    for number, layer in enumerate(of_layer):
        before = members[layer - 1] if layer else []
        needs[f"A{number}"] = tuple(random.sample(before, min(random.randint(1, MOST_NEEDS), len(before))))
        members[layer].append(f"A{number}")
    return needs


def _simulated(needs: Needs, minutes: Minutes, estimates: Minutes, slots: int) -> float:
    simulated = simulate(_loop(needs, estimates, slots), AllGoesWell(minutes))
    if simulated.status != "completed":
        raise RuntimeError(simulated.reason)
    return simulated.minutes


def _loop(needs: Needs, estimates: Minutes, slots: int) -> Loop:
    loop = layered(0)
    limits = replace(loop.objective.constraints, max_parallel_agents=slots, max_iterations=10**9)
    loop.objective = replace(loop.objective, constraints=limits)
    loop.atoms = [
        Atom(id=one, description="work", status="pending", depends_on=before, estimate=estimates.get(one))
        for one, before in needs.items()
    ]
    return loop


def _in_waves(needs: Needs, minutes: Minutes, slots: int) -> float:
    done: set[str] = set()
    now = 0.0
    while len(done) < len(needs):
        wave = [one for one, before in needs.items() if one not in done and done.issuperset(before)][:slots]
        now += max(minutes[one] for one in wave)
        done.update(wave)
    return now


def _critical_path(needs: Needs, minutes: Minutes) -> float:
    ends: Minutes = {}
    for one, before in needs.items():
        ends[one] = minutes[one] + max((ends[needed] for needed in before), default=0.0)
    return max(ends.values())
