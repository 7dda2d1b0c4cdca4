"""Once per generation it is asked whether anything got smaller; if not, that is a stall."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import AtomProbed, GenerationBegan
from aotloop.core.machine import advance
from aotloop.core.model import Generation, Loop
from tests.core.happenings import after_one, decompose, end, fail, judged, resolve, stalls
from tests.loops import a_loop, atom

# --- counting ----------------------------------------------------------------------------------------------------


def test_an_iteration_is_counted_when_a_generation_begins() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, GenerationBegan())
    advance(loop, GenerationBegan())
    assert loop.control.iteration == 2


def test_at_its_end_the_unresolved_are_counted_and_what_was_noted_is_forgotten() -> None:
    loop = after_one()
    resolve(loop, "A1")
    assert loop.control.generation == Generation(resolved=1)
    end(loop)
    assert (loop.control.prev_pending_count, loop.control.generation) == (2, Generation())


def test_a_loop_that_does_not_run_notes_nothing() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    resolve(loop, "A1")
    assert loop.control.generation == Generation()


# --- progress ----------------------------------------------------------------------------------------------------


def test_fewer_unresolved_atoms_are_progress() -> None:
    loop = after_one(stall_count=3)
    resolve(loop, "A1")
    assert stalls(loop) == 0


def test_nothing_at_all_and_nothing_but_a_failure_are_stalls() -> None:
    loop = after_one(stall_count=3)
    assert stalls(loop) == 4
    fail(loop, "A1")
    assert stalls(loop) == 5


def test_one_alternative_less_is_progress() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"), max_attempts=1)
    fail(loop, "X")
    assert stalls(loop) == 0


def test_an_alternative_that_turned_out_to_be_infeasible_is_one_less() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"))
    advance(loop, AtomProbed(atom="Y", feasible=False, findings="no such API", at="noon"))
    assert stalls(loop) == 0


def test_a_verdict_with_a_new_minimum_of_failing_items_is_progress() -> None:
    loop = after_one()
    judged(loop, "a", "b")
    assert stalls(loop) == 2, "the first one has nothing to be compared with"
    judged(loop, "a")
    assert stalls(loop) == 0
    judged(loop, "b")
    assert stalls(loop) == 1, "as few as before"
    judged(loop, "a", "b")
    judged(loop, "b")
    assert stalls(loop) == 2, "fewer than the last, but not than ever"


def test_a_minimum_for_another_objective_says_nothing() -> None:
    loop = after_one()
    judged(loop, "a", "b", "c")
    loop.objective = replace(loop.objective, goal="Another")
    judged(loop, "a")
    assert stalls(loop) == 2


def test_resolving_repairs_is_no_progress_by_itself() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", repairs="tests"), atom("A3", repairs="lint"))
    for expected, repair in ((1, "A2"), (2, "A3")):
        resolve(loop, repair)
        assert stalls(loop) == expected


def test_in_the_first_generation_a_resolved_atom_is_progress_and_nothing_is_a_stall() -> None:
    for resolved, expected in (("A1", 0), (None, 1)):
        loop = a_loop(atom("A1"), atom("A2"))
        assert loop.control.prev_pending_count == -1
        if resolved is not None:
            resolve(loop, resolved)
        assert stalls(loop) == expected


def test_in_the_first_generation_growth_is_neither() -> None:
    for resolved in ((), ("A2",)):
        loop = a_loop(atom("A1"), atom("A2"))
        loop.control = replace(loop.control, stall_count=1)
        decompose(loop, "A1", "B1", "B2")
        for one in resolved:
            resolve(loop, one)
        assert stalls(loop) == 1
        assert loop.control.generation.grew_before == (() if resolved else ("A1",))


# --- stalls ------------------------------------------------------------------------------------------------------


def two_ways(**limits: Any) -> Loop:
    return after_one(atom("X", or_group="g"), atom("Y", or_group="g"), stall_count=0, **limits)


@pytest.mark.parametrize("most", [2, 3, 4])
def test_one_stall_before_the_last_a_backtrack_is_forced(most: int) -> None:
    loop = two_ways(max_stall_count=most)
    seen: list[Effect] = []
    for _ in range(most - 1):
        assert seen == []
        fail(loop, "X")
        seen = end(loop)
    assert seen == [Backtracked(or_group="g", left="X", selected="Y", reset=("X",))]
    assert loop.control.stall_count == most - 1


def test_without_alternatives_nothing_is_forced_and_stalls_go_on_being_counted() -> None:
    loop = after_one(atom("A1"), stall_count=0, max_stall_count=2)
    fail(loop, "A1")
    assert (end(loop), loop.control.stall_count) == ([], 1)
    fail(loop, "A1")
    assert (end(loop), loop.control.stall_count) == ([], 2)


def test_with_one_stall_allowed_nothing_is_forced_before() -> None:
    loop = two_ways(max_stall_count=1)
    fail(loop, "X")
    assert (end(loop), loop.control.stall_count) == ([], 1)


def test_progress_forces_nothing_though_the_count_was_high() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1"), stall_count=2, max_stall_count=3)
    resolve(loop, "A1")
    assert (end(loop), loop.control.stall_count) == ([], 0)


def test_after_a_generation_that_left_nothing_unresolved_nothing_can_become_less() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("R", repairs="tests"))
    loop.control = replace(loop.control, prev_pending_count=0, generation=Generation(resolved=1))
    assert stalls(loop) == 1
