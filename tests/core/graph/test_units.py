"""How the choices of one unit have done so far, and whose turn it is next."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.graph.units import (
    LEAST_ALIKE,
    choices_of,
    failures_of_unit,
    is_hopeless,
    is_out_of_patience,
    is_promising,
    least_outcomes,
    next_in_line,
    not_tried_here,
    score,
)
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop, OrGroup
from tests.loops import a_large_loop as a_loop
from tests.loops import atom


def group_of(*choices: Atom, **more: Any) -> Graph:
    """Of these choices, and of one that is not an atom yet."""
    ids = tuple(one.id for one in choices)
    group = OrGroup(choices=(*ids, "later"), selected=ids[0], **more)
    return Graph(a_loop(*choices, atom("A1", failures=3), or_groups={"g": group}))


def choice(atom_id: str, **more: Any) -> Atom:
    return atom(atom_id, or_group="g", **more)


def order(graph: Graph, *ids: str) -> list[str]:
    return sorted(ids, key=lambda one: score(graph, "g", one))


def test_a_unit_is_an_atom_or_the_choices_that_are_atoms() -> None:
    graph = group_of(choice("X", failures=2), choice("Y", failures=5))
    assert (choices_of(graph, "Y"), choices_of(graph, "A1")) == (["X", "Y"], ["A1"])
    assert (failures_of_unit(graph, "X"), failures_of_unit(graph, "A1")) == (7, 3)


@pytest.mark.parametrize(("x", "y", "is_over"), [(72, 72, True), (143, 1, True), (143, 0, False), (72, 71, False)])
def test_patience_is_counted_per_choice_and_shared_by_them(x: int, y: int, is_over: bool) -> None:
    assert is_out_of_patience(group_of(choice("X", failures=x), choice("Y", failures=y)), "X") is is_over


def test_the_choice_that_failed_least_is_next_and_then_the_first_of_the_file() -> None:
    graph = group_of(choice("X", failures=2), choice("Y", failures=1), choice("Z", failures=1))
    assert order(graph, "X", "Z", "Y") == ["Y", "Z", "X"]


@pytest.mark.parametrize(("failures", "first"), [(11, "Y"), (12, "X"), (13, "X")])
def test_a_blame_counts_for_twelve_failures(failures: int, first: str) -> None:
    graph = group_of(choice("X"), choice("Y", failures=failures), blames={"X": 1})
    assert order(graph, "Y", "X")[0] == first


@pytest.mark.parametrize(
    ("failures", "blames", "is_first"), [(1, {}, True), (71, {}, True), (72, {}, False), (1, {"Y": 1}, False)]
)
def test_work_that_is_there_already_goes_first_for_a_while(
    failures: int, blames: dict[str, int], is_first: bool
) -> None:
    graph = group_of(choice("X"), choice("Y", failures=failures, partial=True), blames=blames)
    assert is_promising(graph, "Y") is is_first
    assert (order(graph, "X", "Y") == ["Y", "X"]) is is_first
    assert not is_promising(graph, "X")


def test_an_atom_without_alternatives_can_be_promising_too() -> None:
    assert is_promising(Graph(a_loop(atom("A1", partial=True))), "A1")


def with_usual(loop: Loop, *, won: int, needed: int) -> Graph:
    loop.control = replace(loop.control, won=won, needed=needed)
    return Graph(loop)


def test_a_generation_lasts_for_three_times_the_usual_at_worst_at_each_choice_of_the_widest_unit() -> None:
    loop = a_loop(atom("A1"), *(choice(one) for one in "XYZ"))
    assert least_outcomes(Graph(loop), ["A1", "X"]) == 3 * 6 * 3
    assert least_outcomes(Graph(loop), ["A1"]) == 3 * 6
    assert least_outcomes(with_usual(loop, won=2, needed=2), ["A1"]) == 8  # 3 · 8/3
    assert least_outcomes(with_usual(loop, won=3, needed=3), ["A1"]) == 7  # 3 · 9/4 = 6.75
    assert least_outcomes(with_usual(loop, won=3, needed=3), ["A1", "X"]) == 21  # 20.25


def test_a_generation_is_long_enough_for_an_attempt_at_each_alternative_of_all_that_is_unresolved() -> None:
    loop = a_loop(*(atom(f"A{number}") for number in range(30)), *(choice(one) for one in "XYZ"))
    ids = [f"A{number}" for number in range(30)]
    assert least_outcomes(Graph(loop), ids[:19]) == 19
    assert least_outcomes(Graph(loop), ids[:18]) == 18
    assert least_outcomes(Graph(loop), []) == 18
    assert least_outcomes(with_usual(loop, won=9, needed=9), [*ids, "X"]) == 33


@pytest.mark.parametrize(("x", "y", "expected"), [(54, 54, True), (54, 53, False), (53, 99, False), (999, 0, False)])
def test_a_unit_is_hopeless_when_its_choices_together_failed_alike_more_often_than_bad_luck_explains(
    x: int, y: int, expected: bool
) -> None:
    """1.5 · 12 · 6 for a loop in which nothing is resolved; each choice has its part of it."""
    assert is_hopeless(group_of(choice("X", alike=x), choice("Y", alike=y)), "Y") is expected


def test_a_share_of_that_may_be_enough() -> None:
    for alike, expected in ((53, False), (54, True)):
        assert is_hopeless(group_of(choice("X", alike=alike)), "X", 0.5) is expected


def test_next_in_line_is_the_best_of_the_others() -> None:
    graph = group_of(choice("X"), choice("Y", failures=2), choice("Z", failures=1))
    assert next_in_line(graph, "g") == "Z"
    assert next_in_line(group_of(choice("X")), "g") is None


@pytest.mark.parametrize(
    ("hardest", "share", "expected"), [(0, 1, True), (10, 1, True), (11, 1, False), (20, 0.5, True), (21, 0.5, False)]
)
def test_what_other_atoms_needed_until_they_were_resolved_is_not_hopeless_either(
    hardest: int, share: float, expected: bool
) -> None:
    loop = a_loop(atom("A1", alike=120), atom("A2", status="resolved", failures=hardest), atom("A3", failures=99))
    assert is_hopeless(Graph(loop), "A1", share) is expected


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({}, ["Z"]),
        ({"failed": ("Z",)}, []),
        ({"blamed": {"Z": ()}}, []),
        ({"speculative": True}, []),  # they all run at once
    ],
)
def test_choices_without_a_turn_on_this_ground_are_those_that_did_not_fail_here(
    group: dict[str, Any], expected: list[str]
) -> None:
    graph = group_of(choice("X", failures=9), choice("Y", failures=1), choice("Z"), **group)
    assert not_tried_here(graph, "X") == expected
    assert not_tried_here(graph, "A1") == []


def test_an_atom_is_no_alternative_to_itself() -> None:
    graph = group_of(choice("X"), choice("Y"))
    assert (not_tried_here(graph, "X"), not_tried_here(graph, "Y")) == (["Y"], [])


@pytest.mark.parametrize(
    ("attempts", "choices", "enough"),
    [(40, 1, 32), (41, 1, 33), (40, 2, 16), (40, 3, 11), (2, 1, LEAST_ALIKE), (2, 2, LEAST_ALIKE)],
)
def test_a_unit_that_has_had_four_fifths_of_all_attempts_for_itself_in_vain_is_hopeless(
    attempts: int, choices: int, enough: int
) -> None:
    for alike in (enough - 1, enough):
        loop = a_loop(*(choice(f"W{number}", alike=alike) for number in range(choices)))
        limits = replace(loop.objective.constraints, max_total_attempts=attempts)
        loop.objective = replace(loop.objective, constraints=limits)
        assert is_hopeless(Graph(loop), "W0") is (alike == enough)


def test_a_single_failure_is_never_hopeless() -> None:
    assert LEAST_ALIKE > 1
