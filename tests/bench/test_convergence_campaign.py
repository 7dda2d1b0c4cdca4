"""A campaign depends on its seeds alone, its figures are sound, and the page holds what it printed."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from bench.convergence import constants, giving_up
from bench.convergence.accounts import Account
from bench.convergence.campaign import (
    CHANCES,
    CHOSEN_ON,
    COMPARED,
    LATE,
    LAYERED,
    OURS,
    POLICIES,
    REPEAT,
    REPORTED,
    SPREAD,
    campaign,
    settings,
    spread,
    tallies,
    unsolvable,
    usual,
)
from bench.convergence.figures import plots
from bench.convergence.goals import Compared
from bench.convergence.jobs import SHAPES, Job, Shape, Unit
from bench.convergence.report import (
    BEGIN,
    END,
    PAGE,
    TABLES,
    comparison,
    difficulties,
    hopeless,
    section,
    table,
    with_section,
)
from bench.convergence.tally import Tally, wilson

from aotloop.core import limits
from aotloop.core.policy import turns

NOISE = 0.2
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)


def test_a_campaign_depends_on_nothing_but_its_seeds() -> None:
    setting = usual(LATE, 0.5, CHOSEN_ON)
    alone, together = campaign([setting], 6, processes=1), campaign([setting], 6, processes=2)
    assert alone == together
    other = tallies(usual(LATE, 0.5), 6)
    assert {name: other[name] for name in alone[setting]} != alone[setting]


@shapes
def test_a_greater_chance_does_not_make_it_worse_beyond_noise(shape: Shape) -> None:
    rows = [tallies(usual(shape, chance), 6) for chance in (0.2, 0.5, 0.95)]
    for name in POLICIES:
        low, middle, high = (row[name].solved_rate.value for row in rows)
        assert low <= middle + NOISE, name
        assert middle <= high + NOISE, name


def test_every_shape_and_chance_is_asked_for_once_in_each_family() -> None:
    asked = settings()
    assert len(asked) == len(set(asked))
    families = (CHOSEN_ON, REPORTED)
    assert {usual(shape, chance, one) for shape in SHAPES for chance in CHANCES for one in families} <= set(asked)


def test_intervals_are_wilsons() -> None:
    figure = wilson(8, 10)
    assert (figure.value, round(figure.low, 3), round(figure.high, 3)) == (0.8, 0.490, 0.943)
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == 1


def test_the_cost_of_a_solved_job_includes_those_that_were_not() -> None:
    account = Account(Job(units=(Unit(number=0, needs=(), possible=(True,)),)))
    account.work(3)
    solved, failed = account.end(solved=True, claimed=True), account.end(solved=False, claimed=False)
    tally = Tally.of([solved, failed, failed])
    assert tally.cost is not None
    assert (tally.cost.value, tally.attempts, tally.false, tally.spent) == (9.0, 3, 0, 3.0)
    assert Tally.of([failed]).cost is None


def test_each_goal_that_is_missed_is_named() -> None:
    good = Compared(points=-2.0, cost=1.02, time=0.6, false=0)
    assert good.misses(LAYERED, 0.5) == []
    bad = Compared(points=-2.1, cost=1.03, time=0.61, false=1)
    assert len(bad.misses(LAYERED, 0.5)) == 4
    assert len(bad.misses(SHAPES[0], 0.95)) == 2  # a chain has no width, and its atoms are checked twice


def test_a_constant_is_exchanged_for_a_measurement_only() -> None:
    before = turns.PATIENCE, limits.EFFORTS["normal"]
    few = constants.measured(constants.Value(constants.PER_ATOM, 1), 2)
    assert few["chain .1"].solved == few["late .2"].solved == 0
    constants.measured(constants.Value("PATIENCE", 3), 1)
    assert (turns.PATIENCE, limits.EFFORTS["normal"]) == before
    for name, values in constants.VALUES.items():
        assert sum(constants.Value(name, one).is_in_use for one in values) == 1, name


# --- the report --------------------------------------------------------------------------------------------------


def test_the_tables_have_a_line_for_every_policy_and_the_plots_a_label() -> None:
    chosen = [usual(shape, chance) for shape in SHAPES for chance in (0.5, 0.95)]
    chosen += [spread(LAYERED, *one) for one in SPREAD]
    chosen += [unsolvable(LAYERED, chance) for chance in (0.2, 0.5, 0.8)]
    results = campaign(chosen, 2, processes=1)
    lines = list(table(results))
    for name in POLICIES:
        assert sum(line.startswith(f"{name:<36}") for line in lines) == len(SHAPES)
    assert sum("layered, 12 units" in line for line in (*difficulties(results), *hopeless(results))) >= 3
    for drawn in plots(results).values():
        assert drawn.startswith("<svg")
        assert "NaN" not in drawn
    assert plots(results)["convergence-solved.svg"].count(">aotloop, one agent at a time</text>") == 1
    assert "```text" in section([lines], 2)
    assert sum("layered, 12 units" in line for line in comparison(results)) == len(("solved", "cost", "time"))


def test_only_what_is_between_the_markers_is_rewritten() -> None:
    assert with_section(f"above\n{BEGIN}\nold\n{END}\nbelow", "new\n") == f"above\n{BEGIN}\nnew\n{END}\nbelow"
    page = PAGE.read_text()
    assert page.count(BEGIN) == page.count(END) == 1


def test_the_tables_have_every_policy_with_no_false_done_of_ours() -> None:
    rows = [line for line in TABLES.read_text().splitlines() if re.match(r"aotloop.* \d+ +\d+ +(-|\d)", line)]
    assert len(rows) >= len(SHAPES) * sum(name.startswith(OURS) for name in POLICIES)
    for row in rows:
        cells = re.findall(r"(\d+) +(\d+) +(?:-|[\d.]+) +(?:-|[\d.]+)", row)
        assert len(cells) == len(CHANCES), row
        assert {false for _, false in cells} == {"0"}, row


def test_the_page_compares_with_the_figures_of_the_tables() -> None:
    blocks = TABLES.read_text().partition("seeds a")[0].split("\n\n")
    for block in blocks[: len(SHAPES)]:
        name = block[:36].strip()
        cells = {
            line[:36].strip(): re.findall(r"(\d+) +\d+ +(-|[\d.]+) +(-|[\d.]+)", line) for line in block.splitlines()
        }
        ours, repeat = cells[OURS], cells[REPEAT]
        wanted = [[f"{a[one]}/{b[one]}" for a, b in zip(ours, repeat, strict=True)] for one in range(3)]
        shown = [
            line.split()[-len(CHANCES) :] for line in PAGE.read_text().splitlines() if re.match(rf"{name} +\d", line)
        ]
        assert [row for row in shown if row in wanted] == wanted, name


def test_the_quick_table_is_printed_in_one_command() -> None:
    command = [sys.executable, "-m", "bench.convergence", "--quick", "--jobs", "1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PAGE.parents[1]).stdout
    assert printed.splitlines()[0].startswith("chain, 10 units")
    assert "jobs simulated in" in printed


def test_the_two_policies_that_are_compared_have_more_jobs_on_the_seeds_that_are_reported() -> None:
    found = tallies(usual(LATE, 0.95), 2, times=3)
    assert {name: one.jobs for name, one in found.items() if name in COMPARED} == dict.fromkeys(COMPARED, 6)
    assert {one.jobs for name, one in found.items() if name not in COMPARED} == {2}
    assert {one.jobs for one in tallies(usual(LATE, 0.95, CHOSEN_ON), 2, times=3).values()} == {2}


def test_the_sooner_a_unit_is_given_up_the_less_a_job_costs_that_cannot_be_done() -> None:
    before = turns.HOPELESS, turns.HARDER
    soon, late = (giving_up.measured(giving_up.times(factor), 2) for factor in (1 / 16, 99))
    assert before == (turns.HOPELESS, turns.HARDER)
    assert all(one.spent < other.spent for one, other in zip(soon["unsolvable .5"], late["unsolvable .5"], strict=True))
    assert sum(one.solved for one in soon["p = .2"]) < sum(one.solved for one in late["p = .2"])
    fixed = giving_up.measured_after(1, 2)  # the first failure of a unit ends the hope for it
    assert all(
        one.spent <= other.spent for one, other in zip(fixed["unsolvable .5"], soon["unsolvable .5"], strict=True)
    )
    assert sum(one.solved for one in fixed["p = .2"]) == 0
