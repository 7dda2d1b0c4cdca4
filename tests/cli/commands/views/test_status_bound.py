"""`aot status` also says how many attempts were made and can still be made, as numbers that a person understands."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from aotloop.core.model import Constraints, Loop
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def after(loop: Loop, **counted: int) -> Loop:
    loop.control = replace(loop.control, **counted)
    return loop


def test_it_says_how_many_attempts_there_can_be_at_most(project: Path) -> None:
    write_loop(project, after(a_loop(atom("A1", attempts=1, failures=1), atom("A2", "A1")), tried=1))
    facts = aot("status", "--json").json
    assert (facts["attempts_left_at_most"], facts["attempts_allowed"], facts["tried"]) == (19, 20, 1)
    assert "\n1 attempt so far · at most 19 more attempts\n" in aot("status").out


def test_what_atoms_needed_is_told_once_it_is_more_than_one_each(project: Path) -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", status="resolved"), atom("A3"))
    write_loop(project, after(loop, tried=2, won=2, needed=2))
    assert "2 attempts so far · at most 28 more" in aot("status").out
    write_loop(project, after(loop, tried=7, won=2, needed=5))
    assert "7 attempts so far, 2.5 for each resolved atom · at most 23 more" in aot("status").out


def test_json_has_effort_and_every_limit(project: Path) -> None:
    limits = Constraints(effort="high", max_stall_count=9, max_cost_usd=2.5)
    write_loop(project, a_loop(atom("A1"), constraints=limits))
    facts = aot("status", "--json").json
    assert facts["effort"] == "high"
    assert facts["constraints"] == {
        "max_iterations": 60,
        "max_parallel_agents": 3,
        "max_stall_count": 9,
        "max_attempts": 3,
        "max_total_attempts": None,
        "attempts_per_atom": 30,
        "max_depth": 3,
        "max_children": 8,
        "max_cost_usd": 2.5,
        "max_runtime": None,
        "verify_each_iteration": False,
    }
    assert not {"growth_magnitude", "attempts_left_magnitude"} & facts.keys()


def test_failures_are_told_by_turn_and_in_all(project: Path) -> None:
    write_loop(
        project,
        a_loop(
            atom("A1", or_group="way", attempts=1, failures=5, alike=2),
            atom("A2", or_group="way", failures=4),
            atom("A3", attempts=2, failures=2),
            atom("A4"),
            atom("A5", failures=3, status="resolved"),
        ),
    )
    listed = aot("atom", "list").out
    for told in (
        "A1  do A1  ready, failed 1 of 2 in this turn, 5 in all\n",
        "A2  do A2  group way has selected A1, not A2, failed 4 times\n",
        "A3  do A3  ready, failed 2 times\n",
        "A4  do A4  ready\n",
    ):
        assert told in listed, listed
    failed = aot("status", "--json").json["failed_atoms"]
    assert failed == {
        "A1": {"in_this_turn": 1, "in_all": 5, "alike": 2},
        "A2": {"in_this_turn": 0, "in_all": 4, "alike": 0},
        "A3": {"in_this_turn": 2, "in_all": 2, "alike": 0},
    }
    assert "attempts    failed 1 of 2 in this turn, 5 in all\n" in aot("atom", "show", "A1").out


def test_in_a_completed_loop_there_are_none(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), status="completed"))
    assert "more attempt" not in aot("status").out
    assert aot("status", "--json").json["attempts_left_at_most"] == 0


def test_of_ten_thousand_atoms_it_can_be_told_too(project: Path) -> None:
    atoms = (atom(f"A{number}", *([f"A{number - 3}"] if number > 3 else [])) for number in range(1, 10_001))
    write_loop(project, a_loop(*atoms))
    ran = aot("status")
    assert ran.code == 0
    assert "at most 100,000 more attempts" in ran.out
