"""Slots are filled best first, refilled as soon as one is free, never more than there are; who clashes waits."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.core.effects import StartAttempt
from tests.core.scheduler.driving import Driver, begun
from tests.loops import a_loop, atom


def test_nothing_starts_before_the_base_case_was_tried() -> None:
    driver = Driver(a_loop(atom("A1")))
    driver.begin()
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.running == ["A1"]


def test_slots_are_filled_with_the_best_first_and_no_further() -> None:
    driver = begun(
        a_loop(atom("A1"), atom("A2"), atom("A3"), atom("A4", "A3"), atom("A5", "A4")), max_parallel_agents=2
    )
    assert driver.running == ["A3", "A1"]


def test_the_longest_remaining_path_is_weighted_by_estimates() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"), atom("A3", estimate=9.0))
    assert begun(loop, max_parallel_agents=1).running == ["A3"]


def test_a_slot_is_filled_again_as_soon_as_it_is_free_though_others_still_work() -> None:
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(1, 5))), max_parallel_agents=2)
    driver.resolve("A1")
    assert driver.running == ["A2", "A3"]
    driver.fail("A3")
    assert driver.running == ["A2", "A4"], "what was never tried comes before what failed"
    driver.resolve("A4")
    assert driver.running == ["A2", "A3"]


def test_a_slot_is_held_until_the_result_is_merged() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.done("A1")
    assert driver.running == []
    driver.merge()
    assert driver.running == ["A2"]


def test_what_a_merge_makes_ready_starts_at_once() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1"), atom("A3", "A1"), atom("A4")))
    assert driver.running == ["A1", "A4"]
    driver.resolve("A1")
    assert driver.running == ["A4", "A2", "A3"]


def test_slots_are_filled_while_something_is_verified() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    driver.resolve("A2")
    assert driver.verifying is not None
    assert driver.running == ["A3"]


@pytest.mark.parametrize(
    ("overriding", "expected"), [({"max_parallel_agents": 1}, 1), ({"max_parallel_agents": 4}, 4), ({}, 3)]
)
def test_limits_given_for_a_run_hold_instead_of_the_files(overriding: dict[str, Any], expected: int) -> None:
    loop = a_loop(*(atom(f"A{number}") for number in range(1, 6)))
    assert len(begun(loop, overriding=overriding, max_parallel_agents=3).running) == expected
    assert loop.objective.constraints.max_parallel_agents == 3


def test_attempts_are_numbered_on_from_where_the_driver_says_and_carry_the_epoch() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), first_attempt=7)
    assert driver.all(StartAttempt) == [
        StartAttempt(attempt=7, atom="A1", epoch=0, role="worker"),
        StartAttempt(attempt=8, atom="A2", epoch=0, role="worker"),
    ]


# --- clashes -----------------------------------------------------------------------------------------------------


def test_atoms_that_may_touch_the_same_files_do_not_run_at_once() -> None:
    loop = a_loop(atom("A1", touches=("src/a/**",)), atom("A2", touches=("src/**",)), atom("A3", touches=("docs/**",)))
    driver = begun(loop)
    assert driver.running == ["A1", "A3"]
    driver.done("A1")
    assert driver.running == ["A3"]
    driver.merge()
    assert driver.running == ["A3", "A2"]


def test_who_says_nothing_about_files_runs_beside_anybody() -> None:
    driver = begun(a_loop(atom("A1", touches=("src/**",)), atom("A2"), atom("A3")))
    assert driver.running == ["A1", "A2", "A3"]


def test_a_probe_changes_nothing_and_so_keeps_nobody_waiting() -> None:
    loop = a_loop(atom("A1", touches=("src/**",), probe=True), atom("A2", touches=("src/**",)))
    driver = begun(loop)
    assert driver.running == ["A1", "A2"]
    driver.probe("A1")
    assert driver.running == ["A2"]


def test_after_a_clash_that_is_over_the_one_that_waited_starts_even_if_the_other_failed() -> None:
    driver = begun(a_loop(atom("A1", touches=("a",)), atom("A2", touches=("a",))), max_attempts=1)
    driver.fail("A1")
    assert driver.running == ["A2"]


def test_beside_those_that_clash_whatever_comes_after_them_starts() -> None:
    loop = a_loop(
        *(atom(one, touches=("src/**",)) for one in ("A1", "A2", "A3")), atom("A4", touches=("docs/**",)), atom("A5")
    )
    assert begun(loop, max_parallel_agents=5).running == ["A1", "A4", "A5"]


def test_what_an_atom_touches_is_free_while_it_has_to_wait() -> None:
    driver = begun(a_loop(atom("A1", touches=("src/**",)), atom("A2", touches=("src/**",))))
    driver.wait("A1")
    assert driver.running == ["A2"]
