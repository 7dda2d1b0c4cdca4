"""The comparison of policies: its model is as stated, its policies are what they are called, its figures are sound."""

from __future__ import annotations

import pytest
from bench.convergence.accounts import BUDGET, CHECK, START, Account
from bench.convergence.agents import Agents, Habits
from bench.convergence.campaign import OURS, POLICIES, REPEAT
from bench.convergence.graphs import COMMIT, loop_of
from bench.convergence.jobs import SHAPES, Job, Shape, Unit, job_of
from bench.convergence.luck import Luck, Traits
from bench.convergence.ours import DEFAULTS, ours
from msgspec.structs import replace

from aotloop.core.limits import limits_of
from aotloop.core.model import Constraints
from aotloop.simulator import simulate

FEW = 12
ALL_OURS = [name for name in POLICIES if name.startswith("aotloop")]
CHECKED = [name for name in POLICIES if name != "repeat, believe 'done'"]
LAYERED, LATE, LARGE = SHAPES[2], SHAPES[4], SHAPES[5]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)


def luck(seed: str, chance: float, **more: float) -> Luck:
    return Luck(seed, Traits(chance=chance, **more))


def jobs(shape: Shape, number: int = FEW, impossible: float = 0.3, *, solvable: bool = True) -> list[tuple[str, Job]]:
    return [(f"t{one}", job_of(shape, f"t{one}", impossible, solvable=solvable)) for one in range(number)]


def fixed(*units: Unit) -> Job:
    return Job(units=units)


# --- the model ---------------------------------------------------------------------------------------------------


@shapes
def test_every_job_has_a_solution(shape: Shape) -> None:
    """An agent that always succeeds finds it; so it is there."""
    for seed, job in jobs(shape):
        assert ours(job, luck(seed, 1.0)).solved, seed


@shapes
def test_an_unsolvable_job_is_the_same_but_for_one_unit(shape: Shape) -> None:
    for (seed, job), (_, hopeless) in zip(jobs(shape), jobs(shape, solvable=False), strict=True):
        unlike = [pair for pair in zip(job.units, hopeless.units, strict=True) if pair[0] != pair[1]]
        assert len(unlike) == 1, seed
        assert not any(unlike[0][1].possible)
        assert not ours(hopeless, luck(seed, 1.0)).solved


def test_what_is_impossible_at_a_small_chance_is_so_at_a_greater_one() -> None:
    for seed, job in jobs(LAYERED, impossible=0.2):
        worse = job_of(LAYERED, seed, 0.6)
        assert [unit.needs for unit in job.units] == [unit.needs for unit in worse.units]
        pairs = [
            pair
            for one, two in zip(job.units, worse.units, strict=True)
            for pair in zip(one.possible, two.possible, strict=True)
        ]
        assert all(before or not after for before, after in pairs)


@pytest.mark.parametrize("more", [{}, {"spread": 0.85}, {"learning": 0.2}], ids=str)
def test_the_nth_attempt_at_a_part_comes_out_alike_whatever_else_was_drawn(more: dict[str, float]) -> None:
    one, other = luck("seed", 0.5, **more), luck("seed", 0.5, **more)
    for number in range(100):
        other.claims(number)
        other.understands(number)
        other.passes(number, truly=True)
        other.successes([(1, 1, 1)])
        assert one.successes([(0, 0, 0)]) == other.successes([(0, 0, 0)])


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_meets_the_same_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the n-th attempt at a part comes to is the same for it as for a policy that draws nothing else."""
    met: dict[tuple[int, ...], list[float]] = {}
    draw = Luck.draw

    def noted(self: Luck, kind: str, *about: int) -> float:
        drawn = draw(self, kind, *about)  # type: ignore[arg-type]
        if kind == "part":
            met.setdefault(about, []).append(drawn)
        return drawn

    monkeypatch.setattr(Luck, "draw", noted)
    POLICIES[name](job_of(LARGE, "t0"), luck("t0", 0.4))
    monkeypatch.undo()
    assert len(met) > 5
    for part, drawn in met.items():
        alone = luck("t0", 0.4)
        assert drawn == [alone.draw("part", *part) for _ in drawn]


def test_luck_is_fair() -> None:
    fair = luck("seed", 0.3, false=0.2, flaky=0.1, blind=0.05)
    many = 20_000
    assert sum(sum(fair.successes([(0, 0, 0)])) for _ in range(many)) / many == pytest.approx(0.3, abs=0.015)
    assert sum(fair.claims(0) for _ in range(many)) / many == pytest.approx(0.2, abs=0.015)
    assert sum(fair.passes(0, truly=True) for _ in range(many)) / many == pytest.approx(0.9, abs=0.015)
    assert sum(fair.passes(0, truly=False) for _ in range(many)) / many == pytest.approx(0.05, abs=0.015)
    assert {fair.way(0, 3) for _ in range(100)} == {0, 1, 2}


def test_a_spread_keeps_the_mean_and_makes_ways_unlike() -> None:
    chances = [luck("seed", 0.29, spread=0.85).chance_of(unit, 0) for unit in range(4000)]
    assert sum(chances) / len(chances) == pytest.approx(0.29, abs=0.02)
    assert sum(one < 0.01 for one in chances) / len(chances) > 0.2
    assert sum(one > 0.95 for one in chances) / len(chances) > 0.04


def test_a_failure_teaches_where_agents_learn() -> None:
    taught, other = luck("seed", 0.1, learning=0.5), luck("seed", 0.1)
    assert sum(sum(taught.successes([(0, 0, 0)])) for _ in range(40)) > 30
    assert sum(sum(other.successes([(0, 0, 0)])) for _ in range(40)) < 15


def test_whoever_succeeds_with_a_small_chance_does_with_a_greater_one() -> None:
    low, high = luck("seed", 0.4), luck("seed", 0.6)
    drawn = [(low.successes([(0, 0, 0)])[0], high.successes([(0, 0, 0)])[0]) for _ in range(200)]
    assert all(more or not less for less, more in drawn)
    assert (False, True) in drawn


def test_a_probe_that_finds_out_nothing_condemns_only_with_the_chance_of_a_false_report() -> None:
    clueless, honest = luck("seed", 0.0, false=0.5), luck("seed", 0.0, false=0.0)
    assert {clueless.judges(0, 0, possible=True) for _ in range(50)} == {True, False}
    assert all(honest.judges(0, 0, possible=one) for one in (True, False) for _ in range(50))
    assert not luck("seed", 1.0).judges(0, 0, possible=False)


@pytest.mark.parametrize("name", POLICIES)
@shapes
def test_no_policy_makes_more_attempts_than_the_budget_has(shape: Shape, name: str) -> None:
    for seed, job in jobs(shape, 3):
        for chance in (0.05, 0.5):
            assert POLICIES[name](job, luck(seed, chance)).attempts <= BUDGET * job.least


def test_an_agent_wears_out_only_within_one_start() -> None:
    worn = luck("seed", 1.0, wear=1.0)
    assert worn.successes([(0, 0, part) for part in range(3)]) == [True, False, False]


def test_units_count_as_done_only_with_all_that_they_need() -> None:
    job = fixed(*(Unit(number=one, needs=(one - 1,) if one else (), possible=(True,)) for one in range(4)))
    assert job.share_of([0, 1, 3]) == 0.5
    assert job.share_of([1, 2, 3]) == 0


# --- the policies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
@shapes
def test_where_nothing_fails_each_policy_needs_the_least(shape: Shape, name: str) -> None:
    easy = replace(shape, late=False)
    for seed, job in jobs(easy, 3, impossible=0.0):
        ended = POLICIES[name](job, luck(seed, 1.0))
        units, least = len(job.units), job.least
        checks = {
            "repeat, believe 'done'": 0,
            REPEAT: units,
            "aotloop, atoms without checks": units,  # the gate has tried the base case, so it is tried at the end only
        }
        assert (ended.solved, ended.claimed, ended.attempts, ended.units) == (True, True, least, 1)
        rest = ended.cost * least - least - checks.get(name, 2 * units) * CHECK
        if name == "aotloop, one agent at a time":
            assert rest < START * units / 2  # it sits through several
        elif name in ALL_OURS and "no sittings" not in name:
            assert rest <= START * units + 0.001
        else:
            assert rest == pytest.approx(START * (1 if name.startswith("repeat") else units))


@pytest.mark.parametrize("name", CHECKED)
@shapes
def test_a_policy_that_checks_never_calls_done_what_is_not(shape: Shape, name: str) -> None:
    for seed, job in jobs(shape, 5):
        for chance in (0.2, 0.8):
            ended = POLICIES[name](job, luck(seed, chance, false=0.5))
            assert ended.claimed == ended.solved, (seed, chance)


def test_a_policy_that_believes_calls_done_what_is_not() -> None:
    believing = POLICIES["repeat, believe 'done'"]
    assert sum(believing(job, luck(seed, 0.5, false=0.3)).is_false for seed, job in jobs(LAYERED)) > FEW / 2
    honest = [believing(job, luck(seed, 0.5, false=0.0)) for seed, job in jobs(LAYERED)]
    assert all(one.solved for one in honest)


def test_an_impossible_first_way_is_left_by_ours_and_not_by_a_policy_that_only_retries() -> None:
    job = fixed(
        Unit(number=0, needs=(), possible=(False, True)), Unit(number=1, needs=(0,), possible=(False, False, True))
    )
    solved = {name: policy(job, luck("seed", 0.95)).solved for name, policy in POLICIES.items()}
    assert solved[OURS]
    assert not solved["retry only"]


def test_a_way_that_turns_out_wrong_later_is_left_by_ours_and_not_by_a_policy_that_does_not_go_back() -> None:
    job = fixed(
        Unit(number=0, needs=(), possible=(True, True)),
        Unit(number=1, needs=(0,), possible=(True,), spoiled_by=frozenset({(0, 0)})),
    )
    solved = {name: policy(job, luck("seed", 0.95)).solved for name, policy in POLICIES.items()}
    assert solved[OURS]
    assert not solved["retry only"]
    assert not solved["each way once"]
    loop = loop_of(job, DEFAULTS)
    simulate(loop, Agents(job, luck("seed", 0.95), Account(job), Habits()), commit=COMMIT)
    assert loop.or_groups["ways of 0"].selected == "U0W1"
    assert "U1W0" in {entry.atom for entry in loop.trail if entry.type == "failure"}  # it was what told


def test_what_a_failed_attempt_left_is_gone_on_with_unless_it_leads_nowhere() -> None:
    job = fixed(Unit(number=0, needs=(), possible=(True,), parts=6))
    seeds = [f"t{number}" for number in range(30)]
    warm = [ours(job, luck(one, 0.5)) for one in seeds]
    cold = [ours(job, luck(one, 0.5), habits=Habits(warm=False)) for one in seeds]
    trapped = [ours(job, luck(one, 0.5, traps=0.3)) for one in seeds]
    assert sum(one.solved for one in warm) >= 28
    assert sum(one.solved for one in cold) < 15  # the chance of one try is a 64th
    assert sum(one.solved for one in trapped) > 15
    assert max(one.attempts for one in trapped) > max(one.attempts for one in warm)


def test_a_false_done_of_an_atom_without_a_check_is_repaired_in_the_end() -> None:
    job = fixed(*(Unit(number=one, needs=(), possible=(True,)) for one in range(6)))
    ended = [ours(job, luck(f"t{seed}", 0.5, false=1.0), habits=Habits(checked=False)) for seed in range(20)]
    assert all(one.solved and one.claimed for one in ended)
    assert max(one.attempts for one in ended) > 6


def test_noisy_checks_cost_attempts_and_no_truth() -> None:
    ended = [ours(job, luck(seed, 0.6, flaky=0.1, blind=0.02)) for seed, job in jobs(LAYERED)]
    assert all(one.solved and one.claimed for one in ended)
    assert not any(one.is_false for one in ended)


def test_the_machine_itself_gives_up_where_its_limits_say_so() -> None:
    job = fixed(*(Unit(number=one, needs=(), possible=(True,)) for one in range(3)))
    never = [ours(job, luck("seed", 0.0), one) for one in (DEFAULTS, Constraints(max_total_attempts=7))]
    assert never[0].attempts <= 3 * limits_of(DEFAULTS).attempts_per_atom
    assert never[1].attempts == 7
    assert never[1].reason.startswith("limit: 7 attempts")


def test_three_agents_need_less_time_than_one_and_no_more_attempts_beyond_noise() -> None:
    pairs = [(ours(job, luck(seed, 0.6)), ours(job, luck(seed, 0.6), Constraints(max_parallel_agents=1)))
             for seed, job in jobs(LAYERED)]  # fmt: skip
    together, alone = ([pair[side] for pair in pairs] for side in (0, 1))
    assert sum(one.time for one in together) < 0.6 * sum(one.time for one in alone)
    assert sum(one.attempts for one in together) < 1.1 * sum(one.attempts for one in alone)


def test_probes_that_a_person_asked_for_are_made_and_paid() -> None:
    job = fixed(Unit(number=0, needs=(), possible=(False, True)))
    ended = ours(job, luck("seed", 1.0), habits=Habits(probed=True))
    assert ended.solved
    assert 1.3 < ended.cost < 2.5
