"""A failure is bad luck for a turn; then another choice has its turn, and at the end of patience an earlier one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import Added, Backtracked, Effect, Exhausted, Retry
from aotloop.core.events import AlternativeSought, AtomFailed, AtomProbed, AtomResolved, AtomStarted
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Binding, Constraints, Decomposition, Loop, OrGroup, TrailEntry
from aotloop.core.policy.turns import patience
from aotloop.errors import IllegalEvent
from tests.core.generated import errors_of
from tests.core.refusing import refused
from tests.loops import a_large_loop as a_loop
from tests.loops import atom

PATIENT = patience(a_loop(atom("A1")))
"""Of a loop in which nothing was resolved yet."""


def fail(loop: Loop, atom_id: str, reason: str = "it broke", **more: Any) -> list[Effect]:
    if Graph(loop).why_not_ready(atom_id) is None:
        advance(loop, AtomStarted(atom=atom_id))
    return advance(loop, AtomFailed(atom=atom_id, reason=reason, at="noon", **more))


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


def choices(*, speculative: bool = False, attempts: int = 2, x: Any = "in_progress", y: Any = "pending") -> Loop:
    loop = a_loop(
        atom("X", or_group="store", status=x),
        atom("Y", or_group="store", status=y),
        constraints=Constraints(max_attempts=attempts),
    )
    loop.or_groups["store"] = replace(loop.or_groups["store"], speculative=speculative)
    return loop


def ways(*ids: str, attempts: int = 1, **more: Any) -> Loop:
    """Choices of one group, none of which was tried."""
    return a_loop(*(atom(one, or_group="g", **more) for one in ids), constraints=Constraints(max_attempts=attempts))


# --- bad luck ----------------------------------------------------------------------------------------------------


def test_a_failure_is_recorded_counted_and_leaves_no_result() -> None:
    half = {"A1": Binding(summary="half of it"), "A0": Binding(summary="did A0")}
    loop = a_loop(atom("A0", status="resolved"), atom("A1", "A0", status="in_progress"), bindings=half)
    assert fail(loop, "A1", "the tests are red") == [Retry(atom="A1", attempts=1, allowed=2)]
    assert loop.control.tried == 1
    loop.control = a_loop(atom("A1")).control
    assert loop == a_loop(
        atom("A0", status="resolved"),
        atom("A1", "A0", attempts=1, failures=1, alike=1),
        trail=[TrailEntry(reason="the tests are red", timestamp="noon", type="failure", atom="A1", attempt=1)],
    )


def test_after_a_failure_the_atom_can_start_again() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    fail(loop, "A1")
    assert Graph(loop).ready() == ["A1"]


def test_an_atom_without_alternatives_is_tried_again_whatever_its_failures() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_attempts=2))
    seen = [effect for _ in range(5) for effect in fail(loop, "A1")]
    assert seen == [Retry(atom="A1", attempts=number, allowed=2) for number in (1, 2, 1, 4, 1)]
    assert (loop.atoms[0].attempts, loop.atoms[0].failures) == (1, 5)
    assert [entry.attempt for entry in loop.trail] == [1, 2, 3, 4, 5]
    for _ in range(5 * PATIENT):
        fail(loop, "A1")
        assert Graph(loop).ready() == ["A1"]


def test_with_turns_of_one_attempt_it_is_tried_again_too() -> None:
    loop = a_loop(atom("A1", status="in_progress"), constraints=Constraints(max_attempts=1))
    assert fail(loop, "A1") == [Retry(atom="A1", attempts=1, allowed=1)]
    assert loop.atoms[0].attempts == 0


def test_the_failure_of_a_choice_names_its_group_in_the_trail() -> None:
    loop = choices()
    assert fail(loop, "X") == [Retry(atom="X", attempts=1, allowed=2)]
    assert (loop.trail[0].or_group, loop.trail[0].selected, loop.trail[0].type) == ("store", None, "failure")
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="X")
    assert errors_of(loop) == []


@pytest.mark.parametrize(("won", "needed", "length"), [(0, 0, 2), (3, 3, 1), (1, 4, 3)])
def test_the_length_of_a_turn_follows_what_atoms_needed_so_far(won: int, needed: int, length: int) -> None:
    loop = ways("X", "Y", attempts=9)
    loop.control = replace(loop.control, won=won, needed=needed)
    for _ in range(length - 1):
        assert [type(one) for one in fail(loop, "X")] == [Retry]
    assert [type(one) for one in fail(loop, "X")] == [Backtracked]


# --- turns -------------------------------------------------------------------------------------------------------


def test_a_choice_whose_turn_is_over_gives_way_to_the_next() -> None:
    loop = choices()
    fail(loop, "X")
    assert fail(loop, "X") == [Backtracked(or_group="store", left="X", selected="Y", reset=("X",))]
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X",), seen=("Y",))
    assert loop.atoms[0] == atom("X", or_group="store", failures=2, alike=2)
    assert Graph(loop).ready() == ["Y"]
    assert errors_of(loop) == []


def test_the_trail_of_a_backtrack_is_the_failure_and_then_the_selection() -> None:
    loop = choices(attempts=1)
    fail(loop, "X", "out of memory")
    assert loop.trail == [
        TrailEntry(or_group="store", reason="out of memory", timestamp="noon", type="failure", atom="X", attempt=1),
        TrailEntry(or_group="store", selected="Y", reason="X failed: out of memory", timestamp="noon"),
    ]


def test_choices_take_turns_in_their_order_and_those_not_yet_atoms_are_skipped() -> None:
    loop = ways("X", "Y", "Z")
    loop.or_groups["g"] = OrGroup(choices=("ghost", "X", "Y", "Z"), selected="X")
    turns = []
    for _ in range(7):
        group = loop.or_groups["g"]
        turns.append((group.selected, group.round, group.failed))
        fail(loop, group.selected)
    assert turns == [
        ("X", 0, ()), ("Y", 0, ("X",)), ("Z", 0, ("X", "Y")),
        ("X", 1, ("Z",)), ("Y", 1, ("Z", "X")),
        ("Z", 2, ("Y",)), ("X", 2, ("Y", "Z")),
    ]  # fmt: skip


def test_the_choice_that_failed_least_is_next_not_the_next_in_the_file() -> None:
    loop = ways("X", "Y", "Z")
    loop.atoms[1] = replace(loop.atoms[1], failures=3)
    fail(loop, "X")
    assert loop.or_groups["g"].selected == "Z"


def test_a_choice_that_has_still_failed_least_goes_on_in_a_new_round() -> None:
    loop = ways("X", "Y")
    loop.atoms[1] = replace(loop.atoms[1], failures=3)
    loop.or_groups["g"] = replace(loop.or_groups["g"], failed=("Y",))
    assert fail(loop, "X") == [Retry(atom="X", attempts=1, allowed=1)]
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X", round=1)
    assert loop.atoms[0].attempts == 0


def test_partial_work_is_gone_on_with_and_no_round_begins() -> None:
    loop = ways("X", "Y")
    assert fail(loop, "X", progress=True) == [Retry(atom="X", attempts=1, allowed=1)]
    assert loop.atoms[0] == atom("X", or_group="g", failures=1, alike=1, partial=True)
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X")
    fail(loop, "X")
    assert loop.atoms[0].partial, "what was there is still there"


def test_partial_work_goes_first_only_as_long_as_patience_lasts() -> None:
    loop = ways("X", "Y")
    fails = 0
    while loop.or_groups["g"].selected == "X":
        fail(loop, "X", progress=True)
        fails += 1
    assert fails == PATIENT


def test_a_group_with_no_other_atom_is_tried_again() -> None:
    loop = ways("X")
    loop.or_groups["g"] = OrGroup(choices=("X", "X_alt"), selected="X")
    assert fail(loop, "X") == [Retry(atom="X", attempts=1, allowed=1)]
    assert loop.or_groups["g"] == OrGroup(choices=("X", "X_alt"), selected="X", round=1)
    assert errors_of(loop) == []


def test_nothing_is_left_for_good() -> None:
    loop = ways("X", "Y", "Z", attempts=2)
    for _ in range(200):
        fail(loop, loop.or_groups["g"].selected)
        group = loop.or_groups["g"]
        assert group.selected not in group.failed
        assert group.selected not in group.blamed
        assert Graph(loop).ready() == [group.selected]
    counts = [one.failures for one in loop.atoms]
    assert max(counts) - min(counts) <= 2, "all have their share"


def test_a_final_failure_ends_the_turn_at_once_and_another_goes_next_whatever_it_has_failed() -> None:
    loop = ways("X", "Y", "Z", attempts=9)
    loop.atoms[1] = replace(loop.atoms[1], failures=7)
    loop.atoms[2] = replace(loop.atoms[2], failures=8)
    (switched,) = fail(loop, "X", final=True)
    assert isinstance(switched, Backtracked)
    assert switched.selected == "Y"


def test_a_final_failure_without_alternatives_is_tried_again() -> None:
    """When something else has changed; the conduct of a run sees to that."""
    loop = a_loop(atom("A1"), constraints=Constraints(max_attempts=9))
    assert fail(loop, "A1", final=True) == [Retry(atom="A1", attempts=1, allowed=2)]
    assert loop.atoms[0].attempts == 0


def test_a_final_failure_of_the_only_choice_that_is_an_atom_is_tried_again_too() -> None:
    loop = ways("X")
    loop.or_groups["g"] = OrGroup(choices=("X", "later"), selected="X")
    assert fail(loop, "X", final=True) == [Retry(atom="X", attempts=1, allowed=1)]


def test_an_agent_may_ask_for_a_probe_before_the_next_attempt_and_a_failed_probe_is_over() -> None:
    loop = a_loop(atom("A1"), atom("A2", probe=True))
    fail(loop, "A1", wants_probe=True)
    fail(loop, "A2")
    assert [one.probe for one in loop.atoms] == [True, False]


# --- patience ----------------------------------------------------------------------------------------------------


def two_groups() -> Loop:
    """A1 or A2; on it B1 or B2."""
    return a_loop(
        atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a"),
        atom("B1", "A1", or_group="b"), atom("B2", "A1", or_group="b"),
        constraints=Constraints(max_attempts=1),
    )  # fmt: skip


def test_at_the_end_of_patience_an_earlier_choice_is_to_blame() -> None:
    loop = two_groups()
    fails = 0
    while loop.or_groups["a"].selected == "A1":
        fail(loop, loop.or_groups["b"].selected)
        fails += 1
    assert fails == 2 * PATIENT, "each choice of the failing group has had its patience"
    group = loop.or_groups["a"]
    assert (group.selected, group.blamed, group.blames, group.failed) == ("A2", {"A1": ()}, {"A1": 1}, ())
    assert [(one.failures, one.attempts) for one in loop.atoms[2:]] == [(0, 0), (0, 0)], "other ground, no failures"
    assert loop.trail[-1].reason in {"B1 failed: it broke", "B2 failed: it broke"}


def test_before_the_end_of_patience_nothing_earlier_is_to_blame() -> None:
    loop = two_groups()
    loop.atoms[2] = replace(loop.atoms[2], failures=2 * PATIENT - 2)
    fail(loop, "B1")
    assert loop.or_groups["a"].selected == "A1"
    loop.atoms[3] = replace(loop.atoms[3], failures=2 * PATIENT - 2)
    fail(loop, "B2")
    assert loop.or_groups["a"].selected == "A2"


def test_before_an_earlier_choice_is_to_blame_each_alternative_has_a_turn_on_this_ground() -> None:
    loop = two_groups()
    loop.atoms[2] = replace(loop.atoms[2], failures=9 * PATIENT)
    fail(loop, "B1")
    assert (loop.or_groups["a"].selected, loop.or_groups["b"].selected) == ("A1", "B2")
    fail(loop, "B2")
    assert loop.or_groups["a"].selected == "A2"


def test_a_unit_that_an_earlier_choice_is_blamed_for_and_that_does_not_rest_on_it_goes_on_with_its_next_choice() -> (
    None
):
    loop = a_loop(
        *(atom(one, or_group="n", failures=9 * PATIENT) for one in ("N1", "N2")),
        atom("X", "N1", or_group="g"), atom("Y", "N1", or_group="g"), atom("V", or_group="g"),
        constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    loop.or_groups["n"] = replace(loop.or_groups["n"], failed=("N2",))
    effects = fail(loop, "N1")
    assert [one.or_group for one in effects if isinstance(one, Backtracked)] == ["g", "n"]
    assert (loop.or_groups["g"].selected, loop.or_groups["n"].selected) == ("V", "N2")


def test_within_a_turn_nothing_is_to_blame_though_patience_is_over() -> None:
    loop = a_loop(
        atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a"), atom("Z", "A1", failures=99),
        constraints=Constraints(max_attempts=2),
    )  # fmt: skip
    assert [type(one) for one in fail(loop, "Z")] == [Retry]
    assert [type(one) for one in fail(loop, "Z")] == [Backtracked]


# --- races -------------------------------------------------------------------------------------------------------


def a_race() -> Loop:
    return choices(speculative=True, attempts=1, x="in_progress", y="in_progress")


def test_a_racer_that_fails_leaves_the_others_running() -> None:
    loop = a_race()
    assert fail(loop, "Y") == []
    assert statuses(loop) == {"X": "in_progress", "Y": "pending"}
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="X", failed=("Y",), speculative=True)
    assert [entry.type for entry in loop.trail] == ["failure"]
    assert errors_of(loop) == []


def test_when_the_selected_racer_fails_another_is_selected_and_goes_on_running() -> None:
    loop = a_race()
    assert fail(loop, "X") == [Backtracked(or_group="store", left="X", selected="Y", reset=("X",))]
    assert statuses(loop) == {"X": "pending", "Y": "in_progress"}
    assert loop.or_groups["store"].selected == "Y"


@pytest.mark.parametrize("order", [("X", "Y"), ("Y", "X")])
def test_a_race_that_all_lose_is_run_again(order: tuple[str, str]) -> None:
    loop = a_race()
    for one in order:
        fail(loop, one)
    group = loop.or_groups["store"]
    assert group.round == 1
    assert group.selected not in group.failed
    assert errors_of(loop) == []
    for _ in range(10):
        assert Graph(loop).ready() != []
        fail(loop, Graph(loop).ready()[0])


def test_a_racer_that_may_try_again_is_ready_again() -> None:
    loop = choices(speculative=True, attempts=2, x="in_progress", y="in_progress")
    assert fail(loop, "Y") == [Retry(atom="Y", attempts=1, allowed=2)]
    assert Graph(loop).ready() == ["Y"]


def test_a_racer_whose_failure_is_final_has_had_its_turn() -> None:
    loop = choices(speculative=True, attempts=2, x="in_progress", y="in_progress")
    assert fail(loop, "Y", final=True) == []
    assert loop.or_groups["store"].failed == ("Y",)


@pytest.mark.parametrize(
    ("given_up", "rounds"),
    [
        ({"failed": ("X", "Z")}, 1),
        ({"blamed": {"X": ()}, "failed": ("Z",)}, 1),
        ({"failed": ("Z",)}, 0),
        ({}, 0),
    ],
)
def test_a_race_begins_again_when_the_selected_racer_had_its_turn_too(given_up: dict[str, Any], rounds: int) -> None:
    group = OrGroup(choices=("X", "Y", "Z"), selected="X", speculative=True, **given_up)
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g", status="in_progress"), atom("Z", or_group="g"),
        or_groups={"g": group}, constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    assert fail(loop, "Y") == []
    assert loop.or_groups["g"].round == rounds
    assert loop.or_groups["g"].failed == (() if rounds else (*group.failed, "Y"))


def test_the_first_racer_to_be_resolved_settles_the_group() -> None:
    loop = a_race()
    loop.atoms.append(atom("Q", "X"))
    advance(loop, AtomResolved(atom="Y", summary="done"))
    assert loop.or_groups["store"].selected == "Y"
    assert loop.or_groups["store"].failed == ()
    assert Graph(loop).ready() == ["Q"]


@pytest.mark.parametrize(("winner", "loser"), [("X", "Y"), ("Y", "X")])
def test_who_lost_a_race_is_pending_again_without_a_result(winner: str, loser: str) -> None:
    loop = a_race()
    loop.bindings[loser] = Binding(summary="half of it")
    advance(loop, AtomResolved(atom=winner, summary="done"))
    assert statuses(loop) == {winner: "resolved", loser: "pending"}
    assert set(loop.bindings) == {winner}
    assert Graph(loop).ready() == []


def test_a_late_result_does_not_change_who_settled_the_group() -> None:
    loop = choices(speculative=True, x="resolved", y="in_progress")
    loop.atoms.append(atom("Q", "X", status="resolved"))
    with suppress(IllegalEvent):
        advance(loop, AtomResolved(atom="Y", summary="late"))
    assert loop.or_groups["store"].selected == "X"
    assert statuses(loop)["Q"] == "resolved"


# --- parents -----------------------------------------------------------------------------------------------------


def checked_parent(status: Any = "pending", child: Any = "resolved") -> Loop:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    check = AtomCheck(type="command", value="true")
    return a_loop(atom("P", status=status, check=check), atom("C", status=child), decompositions=[split])


def test_a_parent_whose_parts_are_done_can_fail_its_own_check() -> None:
    loop = checked_parent()
    (added,) = fail(loop, "P", "the parts do not fit")
    assert (loop.atoms[0].status, loop.atoms[0].attempts) == ("pending", 1)
    repair = loop.atoms[-1]
    assert added == Added(atoms=(repair.id,))
    assert (repair.repairs, repair.depends_on, "the parts do not fit" in repair.description) == ("P", (), True)
    assert Graph(loop).ready() == [repair.id]
    assert Graph(loop).waits_for("P") == [repair.id]


def test_a_parent_whose_parts_are_not_done_cannot_fail() -> None:
    loop = checked_parent(child="pending")
    with refused(loop, "P is pending; it allows: abandon, start"):
        fail(loop, "P")


def test_a_parent_that_is_resolved_cannot_fail() -> None:
    loop = checked_parent(status="resolved")
    with refused(loop, "P is resolved"):
        fail(loop, "P")


def test_a_parent_is_repaired_with_patience_and_then_nothing_is_left_to_try() -> None:
    loop = checked_parent()
    for number in range(1, PATIENT):
        (added,) = fail(loop, "P", "the parts do not fit")
        assert added == Added(atoms=(f"A{number}",))
        advance(loop, AtomStarted(atom=f"A{number}"))
        advance(loop, AtomResolved(atom=f"A{number}", summary="mended"))
    assert fail(loop, "P", "the parts do not fit") == [Exhausted(atom="P")]
    assert Graph(loop).is_exhausted("P")


def worn_out(**group: Any) -> Loop:
    """A choice in parts that fails its own check for the last time that patience allows."""
    loop = a_loop(
        atom("X", or_group="store", attempts=PATIENT - 1, failures=PATIENT - 1),
        atom("Y", or_group="store"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
    )
    loop.or_groups["store"] = replace(loop.or_groups["store"], **group)
    return loop


def test_a_choice_that_was_decomposed_and_fails_its_check_gives_way_with_its_parts() -> None:
    loop = worn_out()
    switched = Backtracked(or_group="store", left="X", selected="Y", reset=("X", "C"), undone=("C",))
    assert fail(loop, "X") == [switched]
    assert statuses(loop) == {"X": "pending", "Y": "pending", "C": "pending"}
    assert loop.bindings == {}
    assert Graph(loop).ready() == ["Y"]


def test_a_choice_in_parts_gives_way_even_to_one_that_has_had_its_turn() -> None:
    loop = worn_out(failed=("Y",))
    (switched,) = fail(loop, "X")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, loop.or_groups["store"].round) == ("Y", 1)


def test_of_a_choice_in_parts_an_untried_alternative_comes_before_an_earlier_group() -> None:
    for failed, expected in (((), ("A1", "Y")), (("Y",), ("A2", "X"))):
        loop = worn_out(failed=failed)
        loop.atoms += [atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a")]
        loop.atoms[0] = replace(loop.atoms[0], depends_on=("A1",))
        loop.or_groups["a"] = OrGroup(choices=("A1", "A2"), selected="A1")
        fail(loop, "X")
        assert (loop.or_groups["a"].selected, loop.or_groups["store"].selected) == expected


def test_a_decomposed_choice_that_failed_gives_way_before_a_later_group_that_only_needs_it() -> None:
    """Else it would stay selected although it has failed, which no file may say."""
    loop = a_loop(
        atom("part", status="resolved"),
        atom("disk", or_group="store", attempts=PATIENT),
        atom("memory", or_group="store"),
        atom("page", "disk", or_group="face"),
        atom("terminal", or_group="face"),
        decompositions=[Decomposition(parent="disk", children=("part",), reason="parts")],
    )
    (effect,) = sought(loop, "disk")
    assert isinstance(effect, Backtracked)
    assert (effect.or_group, effect.left, effect.selected) == ("store", "disk", "memory")
    assert errors_of(loop) == []


def test_a_part_of_two_decomposed_choices_makes_neither_stay_selected_and_failed() -> None:
    parts = [Decomposition(parent=one, children=("part",), reason="parts") for one in ("disk", "page")]
    loop = a_loop(
        atom("part"),
        atom("memory", or_group="store"),
        atom("disk", or_group="store", attempts=PATIENT),
        atom("page", or_group="face"),
        atom("terminal", or_group="face"),
        decompositions=parts,
    )
    loop.or_groups["store"] = replace(loop.or_groups["store"], selected="disk")
    sought(loop, "disk")
    assert loop.or_groups["store"].selected == "memory"
    assert errors_of(loop) == []


# --- what is not tried again as it is ----------------------------------------------------------------------------


def sought(loop: Loop, atom_id: str) -> list[Effect]:
    return advance(loop, AlternativeSought(atom=atom_id, reason="it is spent", at="noon"))


@pytest.mark.parametrize("atom_id", ["gone", "A1", "A2", "A3"])
def test_an_alternative_is_sought_only_for_an_atom_that_failed(atom_id: str) -> None:
    failed: dict[str, Any] = {"failures": 1}
    loop = a_loop(atom("A1"), atom("A2", status="in_progress", **failed), atom("A3", status="resolved", **failed))
    with refused(loop, f"{atom_id} is no atom that failed"):
        sought(loop, atom_id)


def test_an_alternative_is_another_choice_of_its_group() -> None:
    loop = ways("X", "Y", failures=1)
    (switched,) = sought(loop, "X")
    assert isinstance(switched, Backtracked)
    assert loop.or_groups["g"].selected == "Y"
    assert loop.trail[-1].reason == "X failed: it is spent"


def of_commands(y: str | None, **group: Any) -> Loop:
    """X is a command that failed; Y is another, or an agent does it."""
    loop = a_loop(atom("X", or_group="g", run="make", failures=1), atom("Y", or_group="g", run=y, failures=1))
    loop.or_groups["g"] = replace(loop.or_groups["g"], **group)
    return loop


def test_an_agent_may_do_better_in_another_turn_and_a_command_does_not() -> None:
    for y, expected in (("make", "X"), (None, "Y")):
        loop = of_commands(y, failed=("Y",))
        effects = sought(loop, "X")
        assert loop.or_groups["g"].selected == expected
        assert (effects == [Exhausted(atom="X")]) is (y is not None)
    untried = of_commands("make")
    sought(untried, "X")
    assert untried.or_groups["g"].selected == "Y"


@pytest.mark.parametrize(
    ("y", "z", "expected"),
    [
        ({}, {}, "Y"),
        ({"depends_on": ("B",)}, {}, "Z"),
        ({"id": "P"}, {}, "Z"),  # it was decomposed
        ({"id": "P"}, {"depends_on": ("B",)}, "P"),
        ({"depends_on": ("B",)}, {"run": "ninja"}, "Y"),
    ],
)
def test_of_agents_choices_that_had_their_turn_one_that_can_start_now_is_taken_first(
    y: dict[str, Any], z: dict[str, Any], expected: str
) -> None:
    others = (replace(atom("Y", or_group="g"), **y), replace(atom("Z", or_group="g"), **z))
    loop = a_loop(
        atom("B"), atom("C"), atom("X", or_group="g", run="make", failures=1), *others,
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")] if "id" in y else [],
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], failed=tuple(one.id for one in others))
    sought(loop, "X")
    assert loop.or_groups["g"].selected == expected


def test_for_a_choice_that_is_not_selected_no_other_is_sought_in_its_group() -> None:
    loop = ways("X", "Y", failures=1)
    assert sought(loop, "Y") == [Exhausted(atom="Y")]


def test_without_a_choice_in_its_group_an_earlier_one_is_to_blame_and_else_nothing_is_left() -> None:
    loop = a_loop(atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a"), atom("Z", "A1", failures=1))
    (switched,) = sought(loop, "Z")
    assert isinstance(switched, Backtracked)
    assert loop.or_groups["a"].selected == "A2"
    alone = a_loop(atom("Z", failures=1))
    assert sought(alone, "Z") == [Exhausted(atom="Z")]


def test_the_failure_of_what_is_not_required_any_more_leads_nowhere() -> None:
    loop = a_loop(
        atom("A", status="in_progress"), atom("X", "A", or_group="g"), atom("Y", or_group="g"),
        constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], selected="Y")
    assert advance(loop, AtomFailed(atom="A", reason="it broke", at="noon")) == []
    assert loop.or_groups["g"].selected == "Y"


def test_a_repair_that_is_not_required_any_more_is_given_up_without_a_switch() -> None:
    loop = a_loop(
        atom("P"), atom("R", repairs="P", attempts=PATIENT), atom("X", "P", or_group="g"), atom("Y", or_group="g"),
        decompositions=[Decomposition(parent="P", children=("R",), reason="parts")],
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], selected="Y")
    assert sought(loop, "R") == []


# --- probes that say no ------------------------------------------------------------------------------------------


def probed(loop: Loop, atom_id: str) -> list[Effect]:
    return advance(loop, AtomProbed(atom=atom_id, feasible=False, findings="no way", at="noon"))


def test_a_no_before_the_first_attempt_counts_as_a_turn_and_rules_nothing_out() -> None:
    loop = a_loop(atom("A1"), *(atom(one, or_group="g") for one in "XYZ"))
    for one in ("A1", "Y", "X"):
        assert probed(loop, one) == []
    assert [(one.failures, one.attempts, one.probe) for one in loop.atoms] == [
        (2, 0, False), (2, 0, False), (2, 0, False), (0, 0, False)
    ]  # fmt: skip
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y", "Z"), selected="X")
    assert [(one.type, one.atom, one.reason, one.attempt) for one in loop.trail] == [
        ("failure", one, "not feasible: no way", None) for one in ("A1", "Y", "X")
    ]
    assert Graph(loop).ready() == ["A1", "X"]


def test_a_no_of_a_probe_that_was_started_ends_the_turn_and_is_never_final() -> None:
    loop = ways("X", "Y", "Z", attempts=9)
    advance(loop, AtomStarted(atom="X"))
    (switched,) = probed(loop, "X")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, loop.atoms[0].failures) == ("Y", 2)
    for _ in range(4):
        fail(loop, loop.or_groups["g"].selected)
    assert loop.or_groups["g"].selected == "X", "it comes back when it is its turn again"


@given(st.lists(st.sampled_from(["fails", "fails for good", "progresses", "says no"]), max_size=40), st.integers(1, 3))
def test_whatever_fails_a_group_goes_on_with_a_choice_that_has_not_had_its_turn(
    happens: list[str], attempts: int
) -> None:
    loop = ways("X", "Y", "Z", attempts=attempts)
    for what in happens:
        selected = loop.or_groups["g"].selected
        advance(loop, AtomStarted(atom=selected))
        if what == "says no":
            probed(loop, selected)
        else:
            event = AtomFailed(atom=selected, reason=what, at="noon")
            advance(loop, replace(event, final=what == "fails for good", progress=what == "progresses"))
        group = loop.or_groups["g"]
        assert Graph(loop).ready() == [group.selected]
        assert {*group.failed, *group.blamed} <= set(group.choices) - {group.selected}
        assert errors_of(loop) == []
    assert loop.control.tried == len(happens)
