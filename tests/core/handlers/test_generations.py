"""Once per generation it is asked whether anything got smaller; if not, that is a stall."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aotloop.core.events import AtomProbed, BranchSwitched, GenerationBegan
from aotloop.core.graph.board import Board
from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.generations import is_begun, lasts
from aotloop.core.machine import advance
from aotloop.core.model import Decomposition, Generation
from aotloop.core.policy.turns import patience
from tests.core.happenings import TOO_OFTEN, after_one, decompose, end, fail, judged, resolve, stalls, too_often
from tests.loops import a_loop, atom

LEAST = least_outcomes(Graph(a_loop(atom("A1"))), ["A1"])
"""How long one lasts for a single atom, as long as nothing was resolved."""

# --- how long one lasts ------------------------------------------------------------------------------------------


def test_an_iteration_is_counted_when_a_generation_begins() -> None:
    loop = a_loop(atom("A1"))
    for number in (1, 2):
        advance(loop, GenerationBegan())
        assert loop.control.iteration == number
        end(loop)


def test_a_generation_that_was_begun_and_not_judged_goes_on_under_its_number() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, GenerationBegan())
    fail(loop, "A1")
    before = loop.control
    advance(loop, GenerationBegan())
    assert loop.control is before
    assert (loop.control.iteration, loop.control.generation) == (1, Generation(outcomes=1, least=LEAST))


def test_a_generation_lasts_until_so_many_attempts_have_ended_that_bad_luck_does_not_explain_it() -> None:
    loop = a_loop(*(atom(one, or_group="g") for one in "XYZ"), atom("A1"))
    advance(loop, GenerationBegan())
    assert loop.control.generation.least == 3 * LEAST
    for _ in range(3 * LEAST - 1):
        fail(loop, loop.or_groups["g"].selected)
        assert lasts(Board(loop))
    fail(loop, loop.or_groups["g"].selected)
    assert not lasts(Board(loop))


def test_repairs_are_what_is_unresolved_too() -> None:
    repairs = (atom(f"R{number}", repairs="tests") for number in range(LEAST + 1))
    loop = a_loop(atom("A1", status="resolved"), *repairs)
    advance(loop, GenerationBegan())
    assert loop.control.generation.least == LEAST + 1


def test_only_what_has_a_length_is_begun() -> None:
    assert not is_begun(Generation())
    assert not is_begun(Generation(outcomes=3, resolved=1))
    assert is_begun(Generation(least=1))


def test_its_length_is_fixed_when_it_begins_and_kept_with_what_happened_before() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    loop.control = replace(loop.control, generation=Generation(grew_before=("A9",), outcomes=2))
    advance(loop, GenerationBegan())
    assert loop.control.generation == Generation(grew_before=("A9",), outcomes=2, least=LEAST)
    resolve(loop, "A1")
    assert loop.control.generation.least == LEAST


# --- counting ----------------------------------------------------------------------------------------------------


def test_at_its_end_the_unresolved_are_counted_and_what_was_noted_is_forgotten() -> None:
    loop = after_one()
    resolve(loop, "A1")
    assert loop.control.generation == Generation(outcomes=1, resolved=1)
    end(loop)
    assert (loop.control.prev_pending_count, loop.control.fewest_unresolved) == (2, 2)
    assert loop.control.generation == Generation()


def test_a_loop_that_does_not_run_notes_nothing() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    resolve(loop, "A1")
    assert loop.control.generation == Generation()
    assert loop.control.tried == 1, "the attempt counts all the same"


# --- progress ----------------------------------------------------------------------------------------------------


def test_fewer_unresolved_atoms_than_ever_are_progress() -> None:
    loop = after_one(stall_count=3)
    resolve(loop, "A1")
    assert stalls(loop) == 0


def test_as_few_unresolved_atoms_as_once_before_are_no_progress() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1"))
    loop.atoms = [replace(one, failures=0) for one in loop.atoms]
    resolve(loop, "X")
    assert stalls(loop) == 0
    advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    loop.control = replace(loop.control, generation=Generation())
    too_often(loop)
    assert stalls(loop) == 1, "more than before"
    loop.atoms[1] = replace(loop.atoms[1], failures=0)
    resolve(loop, "Y")
    assert (stalls(loop), loop.control.fewest_unresolved) == (2, 1)


def test_nothing_at_all_and_nothing_but_a_failure_are_stalls() -> None:
    loop = after_one(stall_count=3)
    assert stalls(loop) == 4
    fail(loop, "A1")
    assert stalls(loop) == 5


def test_a_choice_that_is_selected_for_the_first_time_is_progress_and_a_second_time_is_not() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"), max_attempts=1)
    seen = []
    for one in ("X", "Y", "X", "Y"):
        fail(loop, one)
        seen.append(stalls(loop))
    assert seen == [0, 1, 2, 3]


def test_a_probe_that_says_no_is_no_progress() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"))
    advance(loop, AtomProbed(atom="Y", feasible=False, findings="no such API", at="noon"))
    assert stalls(loop) == 2


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
    tried = {"failures": TOO_OFTEN}
    loop = a_loop(
        atom("A1", status="resolved"), atom("A2", repairs="tests", **tried), atom("A3", repairs="lint", **tried)
    )
    for expected, repair in ((1, "A2"), (2, "A3")):
        resolve(loop, repair)
        assert stalls(loop) == expected


def test_with_nothing_to_be_compared_with_a_resolved_atom_is_progress_and_failures_are_a_stall() -> None:
    for resolved, expected in (("A1", 0), (None, 1)):
        loop = a_loop(atom("A1", failures=TOO_OFTEN), atom("A2", failures=TOO_OFTEN))
        assert loop.control.fewest_unresolved is None
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


def test_what_was_added_is_no_loss() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    assert loop.control.fewest_unresolved == 5
    end(loop)
    resolve(loop, "B1")
    assert stalls(loop) == 0


# --- stalls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tried", "is_stall"), [(0, False), (4, False), (10, False), (11, True)])
def test_nothing_stalls_as_long_as_something_that_is_ready_failed_no_more_often_than_bad_luck_explains(
    tried: int, is_stall: bool
) -> None:
    loop = after_one(*(atom(f"A{number}") for number in range(11)))
    for last in (0, patience(loop) - 1):
        loop.atoms = [
            replace(one, failures=TOO_OFTEN if number < tried else last) for number, one in enumerate(loop.atoms)
        ]
        loop.control = replace(loop.control, stall_count=1)
        assert [stalls(loop) for _ in range(3)] == ([2, 3, 4] if is_stall else [1, 1, 1])


def test_what_is_under_way_counts_like_what_is_ready_and_a_whole_does_not() -> None:
    loop = after_one(atom("A1"), atom("P"), atom("C"))
    loop.decompositions.append(Decomposition(parent="P", children=("C",), reason="parts"))
    loop.atoms[1] = replace(loop.atoms[1], failures=0)
    assert stalls(loop) == 2
    loop.atoms[0] = replace(loop.atoms[0], status="in_progress", failures=0)
    assert stalls(loop) == 2


def test_what_was_never_tried_but_waits_does_not_keep_a_loop_from_stalling() -> None:
    loop = after_one(atom("A1"), atom("A2", "A1"))
    loop.atoms[1] = replace(loop.atoms[1], failures=0)
    assert stalls(loop) == 2


def test_the_failures_of_all_choices_of_a_unit_count() -> None:
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"))
    loop.atoms[1] = replace(loop.atoms[1], failures=0)
    assert stalls(loop) == 2
    loop.atoms[0] = replace(loop.atoms[0], failures=patience(loop))
    assert stalls(loop) == 2


def test_progress_is_counted_though_something_was_never_tried() -> None:
    loop = after_one(stall_count=2)
    loop.atoms[1] = replace(loop.atoms[1], failures=0)
    resolve(loop, "A1")
    assert stalls(loop) == 0


def test_stalls_force_nothing() -> None:
    """Patience says when another choice is taken."""
    loop = after_one(atom("X", or_group="g"), atom("Y", or_group="g"), stall_count=0, max_stall_count=2)
    fail(loop, "X")
    assert (end(loop), loop.control.stall_count) == ([], 1)
    assert loop.or_groups["g"].selected == "X"


def test_after_a_generation_that_left_nothing_unresolved_nothing_can_become_less() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("R", repairs="tests", failures=TOO_OFTEN))
    loop.control = replace(loop.control, fewest_unresolved=0, generation=Generation(resolved=1))
    assert stalls(loop) == 1
