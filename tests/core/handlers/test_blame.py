"""An earlier choice is to blame if it is named with good reason or twice, or if patience is at its end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Backtracked, Effect, Retry
from aotloop.core.events import AtomFailed, AtomStarted
from aotloop.core.graph.board import Board
from aotloop.core.handlers.blame import blame_any, blame_earlier
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Constraints, Decomposition, Loop, OrGroup
from tests.core.generated import errors_of
from tests.loops import a_loop, atom


def fail(loop: Loop, atom_id: str, *because_of: str, reason: str = "it broke") -> list[Effect]:
    advance(loop, AtomStarted(atom=atom_id))
    return advance(loop, AtomFailed(atom=atom_id, reason=reason, at="noon", because_of=because_of))


def three_groups(*more: Atom, **terms: Any) -> Loop:
    """Group b rests on a; c on nothing. Z needs b, W needs c."""
    return a_loop(
        atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a"),
        atom("B1", "A1", or_group="b", status="resolved"), atom("B2", "A1", or_group="b"),
        atom("C1", or_group="c", status="resolved"), atom("C2", or_group="c"),
        atom("Z", "B1"), atom("W", "C1"), *more, constraints=Constraints(max_attempts=9), **terms,
    )  # fmt: skip


def slow(loop: Loop) -> Loop:
    """Atoms of this loop usually need twenty attempts: after a few failures, a first hint does not count."""
    loop.control = replace(loop.control, needed=18)
    return loop


def selected(loop: Loop) -> list[str]:
    return [group.selected for group in loop.or_groups.values()]


# --- hints -------------------------------------------------------------------------------------------------------


def test_a_hint_is_obeyed_the_second_time_the_same_is_said() -> None:
    loop = slow(three_groups())
    assert fail(loop, "Z", "A1") == [Retry(atom="Z", attempts=1, allowed=9)]
    assert (selected(loop), loop.or_groups["a"].hints) == (["A1", "B1", "C1"], {"A1": ("Z",)})
    (switched,) = fail(loop, "Z", "A1", reason="the schema has no such column")
    assert switched == Backtracked(or_group="a", left="A1", selected="A2", reset=("A1", "B1", "Z"), undone=("A1", "B1"))
    group = loop.or_groups["a"]
    assert (group.hints, group.blames, group.blamed) == ({}, {"A1": 1}, {"A1": ()})
    assert loop.trail[-1].reason == "Z failed: the schema has no such column"
    assert errors_of(loop) == []


@pytest.mark.parametrize(("failures", "is_obeyed"), [(8, False), (9, True)])
def test_the_first_hint_counts_if_the_atom_has_failed_half_as_often_as_usual(failures: int, is_obeyed: bool) -> None:
    loop = slow(three_groups())
    loop.atoms[6] = replace(loop.atoms[6], failures=failures)
    fail(loop, "Z", "A1")
    assert (selected(loop)[0], loop.or_groups["a"].hints) == (("A2", {}) if is_obeyed else ("A1", {"A1": ("Z",)}))


def test_in_a_loop_that_is_new_the_first_hint_counts_at_once() -> None:
    loop = three_groups()
    fail(loop, "Z", "A1")
    assert (selected(loop)[0], loop.or_groups["a"].blames) == ("A2", {"A1": 1})


def test_failures_of_all_choices_of_the_unit_that_gives_the_hint_count() -> None:
    loop = slow(three_groups())
    loop.atoms[2] = replace(loop.atoms[2], status="pending", failures=4)
    loop.atoms[3] = replace(loop.atoms[3], failures=5)
    fail(loop, "B1", "A1")
    assert selected(loop)[0] == "A2"


@pytest.mark.parametrize(("blames", "chosen"), [({"A2": 1}, "A1"), ({"A1": 1, "A2": 1}, "A1"), ({"A1": 1}, "A2")])
def test_where_every_other_choice_was_blamed_the_first_hint_does_not_count(blames: dict[str, int], chosen: str) -> None:
    loop = three_groups()
    loop.or_groups["a"] = replace(loop.or_groups["a"], blames=blames)
    fail(loop, "Z", "A1")
    assert selected(loop)[0] == chosen
    if chosen == "A1":
        fail(loop, "Z", "A1")
        assert selected(loop)[0] == "A2", "the second one does"


def test_a_single_choice_that_was_never_blamed_is_enough() -> None:
    loop = three_groups(atom("A3", or_group="a"))
    loop.or_groups["a"] = replace(loop.or_groups["a"], blames={"A2": 1})
    fail(loop, "Z", "A1")
    assert selected(loop)[0] == "A3"


def test_the_second_time_counts_whichever_atom_says_it() -> None:
    loop = slow(three_groups(atom("Y", "B1")))
    assert [type(effect) for effect in fail(loop, "Z", "B1")] == [Retry]
    assert (selected(loop), loop.or_groups["b"].hints) == (["A1", "B1", "C1"], {"B1": ("Z",)})
    assert [type(effect) for effect in fail(loop, "Y", "B1")] == [Backtracked]


def test_two_hints_at_two_choices_are_said_once_each() -> None:
    loop = slow(three_groups())
    fail(loop, "Z", "A1")
    fail(loop, "Z", "B1")
    assert selected(loop) == ["A1", "B1", "C1"]
    assert (loop.or_groups["a"].hints, loop.or_groups["b"].hints) == ({"A1": ("Z",)}, {"B1": ("Z",)})


def test_a_choice_that_was_left_is_blamed_together_with_earlier_groups_that_the_atom_rests_on() -> None:
    loop = slow(three_groups())
    for _ in range(2):
        fail(loop, "Z", "B1")
    assert selected(loop) == ["A1", "B2", "C1"]
    assert loop.or_groups["b"].blamed == {"B1": ("a",)}


@pytest.mark.parametrize(
    "named",
    [
        "C1",  # it does not rest on it
        "A2",  # not selected
        "Z",  # itself
        "W",  # no choice
        "nobody",
    ],
)
def test_a_hint_that_names_nothing_the_atom_rests_on_is_not_kept(named: str) -> None:
    loop = three_groups()
    before = dict(loop.or_groups)
    for _ in range(2):
        fail(loop, "Z", named)
    assert loop.or_groups == before


def test_a_choice_does_not_blame_its_own_group_by_a_hint() -> None:
    loop = three_groups()
    loop.atoms[2] = replace(loop.atoms[2], status="pending")
    fail(loop, "B1", "B1")
    assert loop.or_groups["b"].hints == {}


def test_a_choice_without_others_cannot_be_left() -> None:
    loop = a_loop(
        atom("A1", or_group="a", status="resolved"), atom("Z", "A1"),
        or_groups={"a": OrGroup(choices=("A1", "later"), selected="A1")},
    )  # fmt: skip
    fail(loop, "Z", "A1")
    assert loop.or_groups["a"].hints == {}


def test_a_part_of_the_selected_choice_stands_for_it() -> None:
    split = Decomposition(parent="B1", children=("P",), reason="parts")
    deeper = Decomposition(parent="P", children=("Q",), reason="parts")
    loop = slow(three_groups(*(atom(one, "A1", status="resolved") for one in "PQ"), decompositions=[split, deeper]))
    fail(loop, "Z", "Q")
    assert loop.or_groups["b"].hints == {"B1": ("Z",)}
    fail(loop, "Z", "B1")
    assert selected(loop) == ["A1", "B2", "C1"]


def test_the_least_failed_of_the_others_is_taken_even_if_it_has_had_its_turn() -> None:
    loop = a_loop(
        atom("A1", or_group="a", status="resolved"),
        atom("A2", or_group="a", failures=3), atom("A3", or_group="a", failures=1), atom("Z", "A1"),
        constraints=Constraints(max_attempts=9),
    )  # fmt: skip
    loop.or_groups["a"] = replace(loop.or_groups["a"], failed=("A2", "A3"), hints={"A1": ("Z",)})
    fail(loop, "Z", "A1")
    assert (loop.or_groups["a"].selected, loop.or_groups["a"].round) == ("A3", 1)


def test_a_choice_that_is_no_atom_yet_is_not_taken_instead() -> None:
    loop = three_groups()
    loop.or_groups["a"] = replace(loop.or_groups["a"], choices=("later", "A1", "A2"), hints={"A1": ("Z",)})
    fail(loop, "Z", "A1")
    assert loop.or_groups["a"].selected == "A2"


def test_two_choices_that_are_named_twice_are_both_left() -> None:
    loop = slow(three_groups(atom("V", "A1", "C1")))
    for _ in range(2):
        effects = fail(loop, "V", "A1", "C1")
    assert [one.or_group for one in effects if isinstance(one, Backtracked)] == ["a", "c"]
    assert selected(loop) == ["A2", "B1", "C2"]


def test_repairs_of_the_same_item_speak_for_it_though_they_are_other_atoms() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("R", repairs="tests"),
        constraints=Constraints(max_attempts=9),
    )  # fmt: skip
    slow(loop)
    fail(loop, "R", "X")
    assert loop.or_groups["g"].hints == {"X": ("tests",)}
    loop.atoms[2] = atom("S", repairs="tests")
    (switched,) = fail(loop, "S", "X")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, switched.dropped) == ("Y", ("S",))


def test_a_hint_counts_before_a_turn_is_over_and_a_hint_said_once_changes_nothing_else() -> None:
    loop = slow(three_groups())
    fail(loop, "Z", "A1")
    assert (loop.atoms[6].attempts, loop.atoms[6].failures) == (1, 1)
    other = slow(three_groups())
    fail(other, "Z")
    assert loop.atoms == other.atoms


# --- at the end of patience --------------------------------------------------------------------------------------


def test_the_latest_group_switches_first_and_every_combination_has_its_turn() -> None:
    loop = three_groups()
    seen = []
    for _ in range(4):
        seen.append(tuple(selected(loop)[:2]))
        (switched,) = blame_earlier(Board(loop), "Z", "why not", "noon")
        assert isinstance(switched, Backtracked)
        assert errors_of(loop) == []
    assert len(set(seen)) == 4, "each combination of a and b once"
    assert selected(loop)[2] == "C1", "Z does not rest on c"
    assert loop.or_groups["a"].round + loop.or_groups["b"].round > 0, "then another round begins"


def test_without_reopening_it_ends_when_every_combination_has_had_its_turn() -> None:
    loop = three_groups()
    switches = 0
    while blame_earlier(Board(loop), "Z", "why not", "noon", reopen=False):
        switches += 1
        assert errors_of(loop) == []
    assert switches == 3


def test_the_groups_reopened_are_those_it_rests_on_and_no_others() -> None:
    loop = three_groups()
    for name, other in (("a", "A2"), ("b", "B2"), ("c", "C2")):
        loop.or_groups[name] = replace(loop.or_groups[name], failed=(other,))
    blame_earlier(Board(loop), "Z", "why not", "noon")
    assert [loop.or_groups[name].round for name in "abc"] == [1, 1, 0]
    assert selected(loop) == ["A1", "B2", "C1"]
    assert loop.or_groups["c"].failed == ("C2",)


def test_its_own_group_is_not_to_blame() -> None:
    loop = three_groups()
    blame_earlier(Board(loop), "B1", "why not", "noon")
    assert selected(loop) == ["A2", "B1", "C1"]
    assert blame_earlier(Board(loop), "C1", "why not", "noon") == []


def test_a_choice_that_does_not_need_the_failing_atom_is_a_way_around_it() -> None:
    loop = a_loop(atom("N"), atom("X", "N", or_group="g"), atom("Y", "N", or_group="g"), atom("V", or_group="g"))
    (switched,) = blame_earlier(Board(loop), "N", "why not", "noon")
    assert isinstance(switched, Backtracked)
    assert (switched.left, switched.selected) == ("X", "V")


def test_a_way_around_that_has_had_its_turn_is_opened_again() -> None:
    loop = a_loop(atom("N"), atom("X", "N", or_group="g"), atom("V", or_group="g"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], failed=("V",))
    assert blame_earlier(Board(loop.snapshot()), "N", "why not", "noon", reopen=False) == []
    blame_earlier(Board(loop), "N", "why not", "noon")
    assert (loop.or_groups["g"].selected, loop.or_groups["g"].round) == ("V", 1)


def test_the_choice_that_a_failing_part_belongs_to_may_give_way_to_one_that_needs_the_part_too() -> None:
    loop = a_loop(
        atom("C"), atom("X", or_group="g"), atom("Y", "C", or_group="g"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
    )  # fmt: skip
    (switched,) = blame_earlier(Board(loop), "C", "why not", "noon", reopen=False)
    assert isinstance(switched, Backtracked)
    assert switched.selected == "Y"


def test_the_least_failed_choice_of_the_group_is_taken() -> None:
    loop = a_loop(
        atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a", failures=1), atom("A3", or_group="a"),
        atom("Z", "A1"),
    )  # fmt: skip
    blame_earlier(Board(loop), "Z", "why not", "noon")
    assert loop.or_groups["a"].selected == "A3"


def test_what_is_left_is_blamed_with_a_dated_reason() -> None:
    loop = three_groups()
    (switched,) = blame_any(Board(loop), "2 tests fail", "noon")
    assert isinstance(switched, Backtracked)
    group = loop.or_groups[switched.or_group]
    assert (group.failed, list(group.blamed), group.blames) == ((), [switched.left], {switched.left: 1})
    assert (loop.trail[-1].reason, loop.trail[-1].timestamp) == ("the base case failed: 2 tests fail", "noon")
    assert loop.trail[-1].selected == switched.selected


def test_for_the_base_case_any_required_group_may_be_to_blame_and_each_combination_has_its_turn() -> None:
    loop = three_groups()
    seen = set()
    for _ in range(8):
        seen.add(tuple(selected(loop)))
        assert len(blame_any(Board(loop), "why not", "noon")) == 1
        assert errors_of(loop) == []
    assert len(seen) == 8


def test_without_alternatives_nothing_is_to_blame() -> None:
    group = OrGroup(choices=("X", "later"), selected="X")
    loop = a_loop(atom("A1"), atom("X", or_group="g"), atom("Z", "X"), or_groups={"g": group})
    assert blame_any(Board(loop), "why not", "noon") == []
    assert blame_earlier(Board(loop), "Z", "why not", "noon") == []
    assert loop.or_groups["g"] == group


def test_a_group_that_nothing_required_rests_on_is_left_alone() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"),
        atom("Q", or_group="h", status="resolved"), atom("R", "X", or_group="h"),
    )  # fmt: skip
    blame_any(Board(loop), "why not", "noon")
    assert selected(loop) == ["X", "R"], "h switches, and g is required only now"
