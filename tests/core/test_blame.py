"""What was given up together with a choice may be tried again when that choice is left, and not before."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.core.blame import free_after_switch, free_what_is_out_of_order, give_up, without
from aotloop.core.board import Board
from aotloop.core.model import Loop, OrGroup, TrailEntry
from tests.loops import a_loop, atom


def groups(**blamed: dict[str, tuple[str, ...]]) -> Loop:
    """Groups a, b, c and d, in this order, of three choices each; the first is selected."""
    atoms = [atom(f"{name}{number}", or_group=name) for name in "abcd" for number in (1, 2, 3)]
    loop = a_loop(*atoms)
    for name, given_up in blamed.items():
        choices = loop.or_groups[name].choices
        loop.or_groups[name] = OrGroup(choices=choices, selected=choices[0], blamed=given_up)
    return loop


def test_only_what_was_given_up_together_with_it_is_freed_in_all_later_groups() -> None:
    loop = groups(b={"b2": ("a",)}, c={"c2": ("b",)}, d={"d2": ("a", "b"), "d3": ("c",)})
    free_after_switch(Board(loop), "a", "noon")
    assert [loop.or_groups[name].blamed for name in "bcd"] == [{}, {"c2": ("b",)}, {"d3": ("c",)}]
    assert loop.trail == []


def test_where_the_selected_one_is_given_up_the_first_that_was_freed_is_taken_on_record() -> None:
    loop = groups(b={"b1": ("z",), "b2": ("a",), "b3": ("a",)})
    free_after_switch(Board(loop), "a", "noon")
    assert (loop.or_groups["b"].selected, loop.or_groups["b"].blamed) == ("b2", {"b1": ("z",)})
    assert loop.trail == [TrailEntry(or_group="b", selected="b2", reason="possible again", timestamp="noon")]


def test_where_the_selected_one_stays_given_up_and_nothing_is_free_it_stays_selected() -> None:
    loop = groups(b={"b1": ("z",), "b2": ("z",), "b3": ("z",)}, c={"c1": ("a",)})
    free_after_switch(Board(loop), "a", "noon")
    assert [loop.or_groups[name].selected for name in "bc"] == ["b1", "c1"]
    assert loop.trail == []


@pytest.mark.parametrize(
    ("others", "is_kept"),
    [(("a",), True), (("a", "b"), True), (("d",), False), (("a", "d"), False), (("z",), False), (("c",), False)],
)
def test_only_earlier_groups_share_in_a_blame(others: tuple[str, ...], is_kept: bool) -> None:
    loop = groups(c={"c2": others, "c3": ("a",)})
    before = loop.or_groups["c"]
    free_what_is_out_of_order(Board(loop))
    assert list(loop.or_groups["c"].blamed) == (["c2", "c3"] if is_kept else ["c3"])
    assert (loop.or_groups["c"] is before) == is_kept


@pytest.mark.parametrize(
    ("rests_on", "given_up"), [({"c"}, {"failed": ("c1",)}), ({"a", "c", "d"}, {"blamed": {"c1": ("a",)}})]
)
def test_a_choice_is_given_up_for_good_only_if_it_rests_on_no_earlier_group(
    rests_on: set[str], given_up: dict[str, Any]
) -> None:
    loop = groups()
    give_up(Board(loop), "c1", rests_on)
    assert loop.or_groups["c"] == OrGroup(choices=("c1", "c2", "c3"), selected="c1", **given_up)


def test_what_is_no_choice_cannot_be_given_up() -> None:
    loop = a_loop(atom("A"))
    give_up(Board(loop), "A", set())
    assert loop.or_groups == {}


def test_a_race_is_not_won_any_more_by_the_winner_that_was_given_up_and_by_no_other() -> None:
    race = OrGroup(choices=("X", "Y"), selected="X", speculative=True, won="X")
    assert without(race, "X", (), for_good=True).won is None
    assert without(race, "Y", (), for_good=True).won == "X"
    failed = without(race, "Y", (), for_good=True)
    assert without(failed, "Y", (), for_good=True) is failed
