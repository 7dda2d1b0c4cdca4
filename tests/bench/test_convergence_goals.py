"""What is promised of our policy holds on a small sample, beside a loop that repeats until checks pass.

The whole is in docs/benchmarks-convergence.md. A sample is small: what is promised there within points is allowed
here within the noise of so few jobs, and no more.
"""

from __future__ import annotations

from statistics import fmean

import pytest
from bench.convergence import recorded
from bench.convergence.campaign import LARGE, LATE, LAYERED, OURS, REPEAT, Setting, tallies
from bench.convergence.goals import Compared
from bench.convergence.jobs import SHAPES, Shape
from bench.convergence.luck import Traits
from bench.convergence.tally import Tally

JOBS = 16
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)


def both(shape: Shape, jobs: int = JOBS, *, solvable: bool = True, **traits: float) -> tuple[Tally, Tally]:
    setting = Setting(
        shape=shape, traits=Traits(**traits), family="t", solvable=solvable, policies=(OURS, REPEAT)
    )  # fmt: skip
    found = tallies(setting, jobs)
    return found[OURS], found[REPEAT]


@pytest.mark.parametrize("chance", [0.35, 0.8])
@shapes
def test_with_default_limits_ours_solves_what_repeating_solves_for_no_more(shape: Shape, chance: float) -> None:
    ours, repeat = both(shape, chance=chance)
    compared = Compared.of(ours, repeat)
    assert ours.solved >= repeat.solved - 1
    assert ours.false == 0
    assert compared.cost is not None
    assert compared.time is not None
    assert compared.cost < 1.1
    assert compared.time < (0.65 if shape.width > 1 else 1.1)


@pytest.mark.parametrize("shape", [LAYERED, LARGE], ids=lambda shape: shape.title)
def test_with_a_small_chance_ours_solves_as_much(shape: Shape) -> None:
    ours, repeat = both(shape, chance=0.2)
    assert ours.solved >= repeat.solved - 1
    assert ours.false == 0


def test_large_units_are_solved_far_more_often_where_chances_are_smallest() -> None:
    ours, repeat = both(LARGE, 30, chance=0.1)
    assert ours.solved > repeat.solved + 2


def test_wrong_hints_harm_ours_less_than_repeating() -> None:
    ours, repeat = both(LATE, chance=0.2, misleading=0.3)
    assert ours.solved >= repeat.solved
    assert ours.spent < 0.9 * repeat.spent


def test_stubborn_and_tired_agents_harm_ours_less_than_repeating() -> None:
    for ours, repeat in (both(LAYERED, chance=0.5, stubborn=0.4), both(LAYERED, chance=0.5, wear=0.2)):
        assert ours.cost is not None
        assert repeat.cost is not None
        assert ours.cost.value < 0.9 * repeat.cost.value


@pytest.mark.parametrize("shape", [one for one in SHAPES if one != LARGE], ids=lambda shape: shape.title)
def test_an_unsolvable_job_is_recognised_for_half_of_what_repeating_spends(shape: Shape) -> None:
    ours, repeat = both(shape, solvable=False, chance=0.8)
    assert (ours.solved, ours.false) == (0, 0)
    assert ours.spent < 0.5 * repeat.spent
    assert ours.blocked >= JOBS / 2


def test_with_ways_of_unlike_difficulty_as_many_units_get_done() -> None:
    ours, repeat = both(LAYERED, 30, chance=0.2, spread=4.0)
    assert ours.units > repeat.units - 0.05
    assert ours.cost is not None
    assert repeat.cost is not None
    assert ours.solved >= repeat.solved - 3


# --- recorded answers --------------------------------------------------------------------------------------------


def test_the_recorded_answers_are_those_of_72_tasks_in_three_wordings() -> None:
    answers = recorded.answers()
    assert len(answers) == 72
    assert {len(wordings) for wordings in answers} == {3}
    assert {len(one) for wordings in answers for one in wordings} == {40}
    passed = sum(one.count(recorded.PASSED) for wordings in answers for one in wordings)
    assert passed / (72 * 3 * 40) == pytest.approx(0.54, abs=0.005)
    assert recorded.DATA.stat().st_size < 20_000


def test_each_recorded_answer_is_given_once_before_any_is_given_again() -> None:
    luck = recorded.RecordedLuck("t0")
    for task in (0, 40, 71):
        drawn = [luck.successes([(task, 1, 0)])[0] for _ in range(40)]
        assert sum(drawn) == recorded.answers()[task][1].count(recorded.PASSED)


@pytest.mark.parametrize(("budget", "least"), [(2, 48.3), (6, 54.3), (10, 56.4)])
def test_of_recorded_tasks_ours_solves_no_fewer_than_least_failed_first(budget: int, least: float) -> None:
    ended = [recorded.solved_by_ours(f"b{number}", budget) for number in range(6)]
    assert 72 * fmean(one.units for one in ended) >= least - 0.5
    assert max(one.attempts for one in ended) <= 72 * budget
