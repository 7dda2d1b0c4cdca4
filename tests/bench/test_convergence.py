"""The comparison of policies: its model is as stated, its policies are what they are called, its figures are sound."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from bench.convergence.accounts import BUDGET, CHECK, START, Account
from bench.convergence.campaign import CHANCES, FAMILIES, Setting, campaign, policies, settings, tallies
from bench.convergence.jobs import SHAPES, Job, Shape, Unit, job_of
from bench.convergence.luck import Luck
from bench.convergence.ours import Agents, loop_of, ours, patient
from bench.convergence.report import BEGIN, END, PAGE, families, plots, section, table, with_section
from bench.convergence.tally import Tally, wilson
from msgspec.structs import replace

from aotloop.core.model import Constraints
from aotloop.simulator import simulate

FEW = 12
OURS = [name for name in policies() if name.startswith("aotloop")]
CHECKED = [name for name in policies() if name != "repeat, believe 'done'"]
NOISE = 0.2
LAYERED, LATE, LARGE = SHAPES[2], SHAPES[4], SHAPES[5]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)


def jobs(shape: Shape, number: int = FEW, **more: float) -> list[tuple[str, Job]]:
    return [(f"t{one}", job_of(shape, f"t{one}", **more)) for one in range(number)]


def fixed(*units: Unit) -> Job:
    return Job(units=units)


# --- the model ---------------------------------------------------------------------------------------------------


@shapes
def test_every_job_has_a_solution(shape: Shape) -> None:
    """An agent that always succeeds and is patient finds it; so it is there."""
    for seed, job in jobs(shape):
        assert ours(job, Luck(seed, 1.0), patient(1)).solved, seed


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


def test_the_nth_attempt_at_a_part_comes_out_alike_whatever_else_was_drawn() -> None:
    one, other = Luck("seed", 0.5), Luck("seed", 0.5)
    for number in range(100):
        other.claims(number)
        other.successes([(1, 1, 1)])
        assert one.successes([(0, 0, 0)]) == other.successes([(0, 0, 0)])


def test_luck_is_fair() -> None:
    luck = Luck("seed", 0.3, 0.2)
    many = 20_000
    assert sum(sum(luck.successes([(0, 0, 0)])) for _ in range(many)) / many == pytest.approx(0.3, abs=0.015)
    assert sum(luck.claims(0) for _ in range(many)) / many == pytest.approx(0.2, abs=0.015)
    assert {luck.way(0, 3) for _ in range(100)} == {0, 1, 2}


def test_whoever_succeeds_with_a_small_chance_does_with_a_greater_one() -> None:
    low, high = Luck("seed", 0.4), Luck("seed", 0.6)
    drawn = [(low.successes([(0, 0, 0)])[0], high.successes([(0, 0, 0)])[0]) for _ in range(200)]
    assert all(more or not less for less, more in drawn)
    assert (False, True) in drawn


def test_a_probe_that_finds_out_nothing_condemns_only_with_the_chance_of_a_false_report() -> None:
    clueless, honest = Luck("seed", 0.0, 0.5), Luck("seed", 0.0, 0.0)
    assert {clueless.judges(0, 0, possible=True) for _ in range(50)} == {True, False}
    assert all(honest.judges(0, 0, possible=one) for one in (True, False) for _ in range(50))
    assert not Luck("seed", 1.0).judges(0, 0, possible=False)


@pytest.mark.parametrize("name", policies())
@shapes
def test_nobody_makes_more_attempts_than_the_budget_has(shape: Shape, name: str) -> None:
    for seed, job in jobs(shape, 4):
        for chance in (0.05, 0.5):
            assert policies()[name](job, Luck(seed, chance)).attempts <= BUDGET * job.least


def test_an_agent_wears_out_only_within_one_start() -> None:
    luck = Luck("seed", 1.0, wear=1.0)
    assert luck.successes([(0, 0, part) for part in range(3)]) == [True, False, False]


# --- the policies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", policies())
@shapes
def test_where_nothing_fails_everybody_needs_the_least(shape: Shape, name: str) -> None:
    easy = replace(shape, late=False)
    for seed, job in jobs(easy, 4, impossible=0.0):
        ended = policies()[name](job, Luck(seed, 1.0))
        units, least = len(job.units), job.least
        starts = 1 if name.startswith("repeat") else units
        checks = {
            "repeat, believe 'done'": 0,
            "repeat until checks pass": units,
            "aotloop, atoms without checks": 2 * units,
        }
        of_ours = 3 * units if name in OURS else 2 * units  # the base case is tried before any work, too
        assert (ended.solved, ended.claimed, ended.attempts) == (True, True, least)
        assert ended.cost * least == pytest.approx(least + starts * START + checks.get(name, of_ours) * CHECK)


@pytest.mark.parametrize("name", CHECKED)
@shapes
def test_whoever_checks_never_calls_done_what_is_not(shape: Shape, name: str) -> None:
    for seed, job in jobs(shape):
        for chance in (0.2, 0.5, 0.8):
            ended = policies()[name](job, Luck(seed, chance, 0.5))
            assert ended.claimed == ended.solved, (seed, chance)


def test_whoever_believes_calls_done_what_is_not() -> None:
    believing = policies()["repeat, believe 'done'"]
    assert sum(believing(job, Luck(seed, 0.5, 0.3)).is_false for seed, job in jobs(LAYERED)) > FEW / 2
    honest = [believing(job, Luck(seed, 0.5, 0.0)) for seed, job in jobs(LAYERED)]
    assert all(one.solved for one in honest)


def test_an_impossible_first_way_is_left_by_ours_and_not_by_those_who_only_retry() -> None:
    job = fixed(
        Unit(number=0, needs=(), possible=(False, True)), Unit(number=1, needs=(0,), possible=(False, False, True))
    )
    solved = {name: policy(job, Luck("seed", 0.95)).solved for name, policy in policies(tries=4).items()}
    assert solved["aotloop"]
    assert solved["aotloop, default limits"]
    assert not solved["retry only"]
    assert not solved["first choice only"]


def test_a_way_that_turns_out_wrong_later_is_left_by_ours_and_not_by_those_who_do_not_go_back() -> None:
    job = fixed(
        Unit(number=0, needs=(), possible=(True, True)),
        Unit(number=1, needs=(0,), possible=(True,), spoiled_by=frozenset({(0, 0)})),
    )
    solved = {name: policy(job, Luck("seed", 0.95)).solved for name, policy in policies().items()}
    assert solved["aotloop"]
    assert not solved["retry only"]
    assert not solved["each way once"]
    loop = loop_of(job, patient())
    simulate(loop, Agents(job, Luck("seed", 0.95), Account(job), checked=True))
    assert loop.or_groups["ways of 0"].selected == "U0W1"
    assert "U1W0" in {entry.atom for entry in loop.trail if entry.type == "failure"}  # it was what told


def test_a_unit_too_large_is_decomposed_by_ours() -> None:
    job = fixed(Unit(number=0, needs=(), possible=(True,), parts=6))
    loop = loop_of(job, patient())
    simulated = simulate(loop, Agents(job, Luck("t0", 0.5), Account(job), checked=True))
    assert simulated.status == "completed"
    assert len(loop.decompositions[0].children) == 6
    solved = {
        name: sum(policies()[name](job, Luck(f"t{seed}", 0.5)).solved for seed in range(40))
        for name in ("aotloop", "retry only")
    }
    assert solved["aotloop"] > 36
    assert solved["retry only"] < 12  # the chance of one try is a 64th


def test_a_false_done_of_an_atom_without_a_check_is_repaired_in_the_end() -> None:
    job = fixed(*(Unit(number=one, needs=(), possible=(True,)) for one in range(6)))
    ended = [ours(job, Luck(f"t{seed}", 0.5, 1.0), patient(), checked=False) for seed in range(20)]
    assert all(one.solved and one.claimed for one in ended)
    assert max(one.attempts for one in ended) > 6


def test_the_machine_itself_gives_up_where_its_limits_say_so() -> None:
    job = fixed(Unit(number=0, needs=(), possible=(True,)))
    never = Luck("seed", 0.0)
    assert ours(job, never, Constraints()).attempts == Constraints().max_attempts
    assert ours(job, never, patient(7)).attempts == 7


# --- the campaign ------------------------------------------------------------------------------------------------


def test_a_campaign_depends_on_nothing_but_its_seeds() -> None:
    setting = Setting(shape=LATE, chance=0.5)
    alone, together = campaign([setting], 6, processes=1), campaign([setting], 6, processes=2)
    assert alone == together
    assert tallies(replace(setting, family=FAMILIES[1]), 6) != alone[setting]


@shapes
def test_a_greater_chance_does_not_make_it_worse_beyond_noise(shape: Shape) -> None:
    rows = [tallies(Setting(shape=shape, chance=chance), 10) for chance in (0.3, 0.6, 0.9)]
    for name in policies():
        low, middle, high = (row[name].solved_rate.value for row in rows)
        assert low <= middle + NOISE, name
        assert middle <= high + NOISE, name


def test_every_shape_and_chance_is_asked_for_once_in_each_family() -> None:
    asked = settings()
    assert len(asked) == len(set(asked))
    usual = [
        Setting(shape=shape, chance=chance, family=one) for shape in SHAPES for chance in CHANCES for one in FAMILIES
    ]
    assert set(usual) <= set(asked)


def test_intervals_are_wilsons() -> None:
    figure = wilson(8, 10)
    assert (figure.value, round(figure.low, 3), round(figure.high, 3)) == (0.8, 0.490, 0.943)
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == 1


def test_the_cost_of_a_solved_job_includes_those_that_were_not() -> None:
    account = Account(fixed(Unit(number=0, needs=(), possible=(True,))))
    account.work(3)
    solved, failed = account.end(solved=True, claimed=True), account.end(solved=False, claimed=False)
    tally = Tally.of([solved, failed, failed])
    assert tally.cost is not None
    assert (tally.cost.value, tally.attempts, tally.false) == (9.0, 3, 0)
    assert Tally.of([failed]).cost is None


# --- the report --------------------------------------------------------------------------------------------------


def test_the_table_has_a_line_for_every_policy_and_the_plots_a_label() -> None:
    chosen = [one for one in settings() if one.shape == LAYERED and one.chance in (0.2, 0.5, 0.6)]
    results = campaign([*chosen, *(Setting(shape=one, chance=0.5) for one in SHAPES)], 2, processes=1)
    lines = [*table(results), *families(results)]
    for name in policies():
        assert sum(line.startswith(f"{name:<31}") for line in lines) == len(SHAPES) + 1
    for drawn in plots(results).values():
        assert drawn.startswith("<svg")
        assert drawn.count(">aotloop, default limits</text>") == 1
    assert "```text" in section(results, 2)


def test_only_what_is_between_the_markers_is_rewritten() -> None:
    assert with_section(f"above\n{BEGIN}\nold\n{END}\nbelow", "new\n") == f"above\n{BEGIN}\nnew\n{END}\nbelow"
    page = PAGE.read_text()
    assert page.count(BEGIN) == page.count(END) == 1


def test_the_page_shows_every_policy_with_no_false_done_of_ours() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("aotloop") and "±" in line]
    assert len(rows) == len(OURS) * len(SHAPES)
    for row in rows:
        assert set(re.findall(r"±\d+ +(\d+)", row)) == {"0"}


def test_the_quick_table_is_printed_in_one_command() -> None:
    command = [sys.executable, "-m", "bench.convergence", "--quick", "--jobs", "1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PAGE.parents[1]).stdout
    assert printed.splitlines()[0].startswith("chain, 10 units")
    assert "jobs simulated in" in printed
