"""The plan of a loop: what would run when, how wide, how long, and why it would not be enough. Nothing is changed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from msgspec.structs import replace

from aotloop.cli.ui.allowance import bound_as_data, bound_in_words, bound_of
from aotloop.cli.ui.dry_run_plan import Plan, plan_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Constraints, Decomposition, Loop, OrGroup
from tests.cli.repairs import LIMITS, worn_out
from tests.core.generated import deep_copy, errors_of, valid_loops
from tests.loops import a_loop, atom


def begins(plan: Plan) -> dict[str, float]:
    return {span.atom: span.begin for span in plan.spans}


def chain(length: int, **more: Any) -> Loop:
    return a_loop(*(atom(f"A{one}", *([f"A{one - 1}"] if one > 1 else [])) for one in range(1, length + 1)), **more)


def test_longest_remaining_path_first_and_slots_never_idle() -> None:
    plan = plan_of(
        a_loop(atom("A1", estimate=1.0), atom("A2", estimate=4.0), atom("A3", "A2", estimate=6.0), atom("A4")),
        {"max_parallel_agents": 2},
    )
    assert begins(plan) == {"A2": 0, "A1": 0, "A4": 1, "A3": 4}
    assert (plan.width, plan.makespan, plan.total_work) == (2, 10, 12)


def test_the_makespan_stands_beside_the_least_possible() -> None:
    wide = a_loop(*(atom(f"A{one}", estimate=3.0) for one in range(7)))
    three, many = plan_of(wide, {"max_parallel_agents": 3}), plan_of(wide, {"max_parallel_agents": 100})
    assert (three.lower_bound, three.makespan) == (7, 9)
    assert many.lower_bound == many.makespan == 3


def test_the_critical_path_goes_through_selected_choices_and_parts_but_names_no_parent() -> None:
    loop = a_loop(
        atom("A1", estimate=2.0),
        atom("A2", "A1", or_group="way", estimate=9.0),
        atom("A3", "A1", or_group="way", estimate=90.0),
        atom("A4", "A3", estimate=100.0),
        atom("A5", "A2", estimate=4.0),
        atom("A6", "A4", estimate=1.0),
        decompositions=[Decomposition(parent="A4", children=("A5",), reason="smaller")],
    )
    path = plan_of(loop).critical_path
    assert path.atoms == ("A1", "A2", "A5", "A6")
    assert path.length == 16


def test_of_racers_the_fastest_counts_and_the_others_are_cancelled() -> None:
    race = {"way": OrGroup(choices=("A1", "A2"), selected="A1", speculative=True)}
    atoms = [atom("A1", or_group="way", estimate=9.0), atom("A2", or_group="way", estimate=3.0)]
    plan = plan_of(a_loop(*atoms, atom("A3", "A1", estimate=1.0), or_groups=race))
    assert (plan.critical_path.atoms, plan.critical_path.length) == (("A2", "A3"), 4)
    assert (plan.makespan, plan.total_work) == (4, 4)
    assert [span.atom for span in plan.spans if span.is_cancelled] == ["A1"]


def test_lengths_are_in_atoms_if_none_has_an_estimate() -> None:
    assert plan_of(a_loop(atom("A1"), atom("A2", "A1"))).unit == "atoms"
    mixed = plan_of(a_loop(atom("A1", estimate=5.0), atom("A2", "A1")))
    assert (mixed.unit, mixed.unestimated, mixed.makespan) == ("minutes", 1, 6)


@pytest.mark.parametrize("status", ["pending", "stopped", "running"])
def test_only_what_is_left_is_planned(status: str) -> None:
    loop = a_loop(
        atom("A1", status="resolved"), atom("A2", "A1", status="in_progress"), atom("A3", "A2"), status=status
    )
    plan = plan_of(loop)
    assert plan.left == ("A2", "A3")
    assert [span.atom for span in plan.spans] == ["A2", "A3"]
    assert plan.reason is None


def test_a_requested_stop_or_redirect_does_not_keep_it_from_being_planned() -> None:
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, stop_requested=True, redirect_requested=True)
    assert plan_of(loop).reason is None


def test_there_is_nothing_to_do_in_a_completed_loop() -> None:
    plan = plan_of(a_loop(atom("A1"), status="completed"))
    assert (plan.left, plan.spans, plan.reason, plan.bound) == ((), (), None, 0)


def test_a_limit_that_is_reached_is_the_reason_and_what_would_be_needed_is_known() -> None:
    plan = plan_of(chain(5, constraints=Constraints(max_total_attempts=2)))
    assert plan.reason == "limit: 2 attempts of the 2 allowed"
    assert [span.atom for span in plan.spans] == ["A1", "A2"]
    assert (plan.bound, plan.attempts_needed, plan.makespan) == (2, 5, 5)
    assert plan_of(chain(5), {"max_total_attempts": 5}).reason is None
    assert plan_of(chain(5), {"max_total_attempts": 4}).reason is not None


def test_a_generation_is_so_long_that_one_is_enough_if_all_goes_well() -> None:
    assert plan_of(chain(50), {"max_iterations": 1}).reason is None


def test_iterations_that_were_had_before_count() -> None:
    loop = chain(3, constraints=Constraints(max_iterations=5))
    loop.control = replace(loop.control, iteration=4)
    plan = plan_of(loop)
    assert (plan.iterations.before, plan.iterations.planned, plan.iterations.needed) == (4, 1, 1)
    loop.control = replace(loop.control, iteration=5)
    plan = plan_of(loop)
    assert plan.reason == "limit: 5 iterations, as many as allowed"
    assert (plan.iterations.before, plan.iterations.planned, plan.iterations.needed) == (5, 0, 1)


def test_time_is_limited_only_where_every_atom_has_an_estimate() -> None:
    limits = Constraints(max_runtime="10m")
    known = plan_of(a_loop(atom("A1", estimate=20.0), atom("A2", "A1", estimate=5.0), constraints=limits))
    assert known.reason == "limit: its runtime of 10m is used up"
    assert plan_of(a_loop(atom("A1", estimate=20.0), atom("A2", "A1"), constraints=limits)).reason is None


def test_where_nothing_is_left_to_try_the_plan_says_so() -> None:
    plan = plan_of(a_loop(atom("A1", status="resolved"), worn_out("A2"), constraints=LIMITS))
    assert plan.reason is not None
    assert plan.reason.startswith("exhausted: ")
    assert (plan.iterations.needed, plan.attempts_needed) == (None, None)


def test_what_an_earlier_run_has_left_to_be_decided_is_decided_first() -> None:
    loop = a_loop(
        atom("A1", or_group="way", status="resolved", estimate=9.0),
        atom("A2", or_group="way", estimate=4.0),
        worn_out("A3"),
        constraints=LIMITS,
    )
    plan = plan_of(loop)
    assert (plan.left, plan.critical_path.atoms, plan.lower_bound, plan.makespan) == (("A2",), ("A2",), 4, 4)


@given(valid_loops())
def test_planning_any_valid_loop_changes_nothing_and_beats_no_lower_bound(loop: Loop) -> None:
    assume(not errors_of(loop))
    before = deep_copy(loop)
    plan = plan_of(loop, {"max_parallel_agents": 2})
    assert deep_copy(loop) == before
    assert plan.width <= 2
    if plan.iterations.needed is not None:
        assert plan.makespan >= plan.lower_bound


def test_the_makespan_of_random_graphs_is_never_below_the_bound_and_below_twice_of_it() -> None:
    random = Random(7)
    for _ in range(30):
        atoms = [
            atom(f"A{one}", *{f"A{random.randrange(one)}" for _ in range(min(one, 2))}, estimate=random.uniform(1, 9))
            for one in range(30)
        ]
        plan = plan_of(a_loop(*atoms), {"max_parallel_agents": 3, "max_iterations": 1000})
        assert plan.lower_bound <= plan.makespan * (1 + 1e-9)
        assert plan.makespan < 2 * plan.lower_bound  # Graham's bound for any schedule that never idles


# --- how many attempts -------------------------------------------------------------------------------------------


def test_the_bound_is_what_the_file_s_atoms_bring_and_what_was_tried_is_taken_off() -> None:
    loop = a_loop(atom("A1"), atom("A2", or_group="way"), atom("A3", or_group="way"))
    loop.control = replace(loop.control, tried=4)
    assert bound_of(loop) == attempts_left(loop) == 26
    assert bound_in_words(bound_of(loop)) == "at most 26 more attempts"
    assert bound_in_words(1) == "at most 1 more attempt"
    assert bound_in_words(64_000) == "at most 64,000 more attempts"


def test_the_bound_of_a_plan_is_that_of_the_limits_it_is_made_with() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    assert plan_of(loop).bound == 20
    assert plan_of(loop, {"effort": "low"}).bound == 8
    assert plan_of(loop, {"max_total_attempts": 7}).bound == 7
    assert plan_of(loop, {"effort": "high", "max_total_attempts": 7}).bound == 7


def test_a_plan_that_has_too_few_attempts_says_so_and_is_known_to_its_end() -> None:
    loop = chain(3)
    loop.control = replace(loop.control, tried=4)
    plan = plan_of(loop, {"max_total_attempts": 6})
    assert plan.reason == "limit: 6 attempts of the 6 allowed"
    assert (plan.bound, plan.attempts_needed, len(plan.spans)) == (2, 3, 2)


def test_a_program_gets_one_number_and_none_is_left_in_a_completed_loop() -> None:
    many = bound_as_data(bound_of(a_loop(*(atom(f"A{number}", or_group=f"g{number // 3}") for number in range(300)))))
    assert many == {"attempts_left_at_most": 3000}
    assert bound_as_data(bound_of(a_loop(atom("A1"), status="completed"))) == {"attempts_left_at_most": 0}


def test_in_one_folder_only_commands_that_say_so_are_planned_at_once() -> None:
    alone = [atom(f"A{number}", run="make it") for number in range(4)]
    together = [atom(f"A{number}", run="make it", parallel=True) for number in range(4)]
    for atoms, in_place, slots, width in ((alone, False, 3, 3), (alone, True, 1, 1), (together, True, 3, 3)):
        plan = plan_of(a_loop(*atoms), in_place=in_place)
        assert (plan.slots, plan.width) == (slots, width)
