"""How much can still happen at most: reckoned by hand for small loops, and smaller with everything that is used up."""

from __future__ import annotations

from math import log10
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.measure import Measure, _most_product
from aotloop.core.model import (
    Atom,
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Decomposition,
    Loop,
    OrGroup,
    Verdict,
)
from tests.loops import a_loop, atom

CHECKED = AtomCheck(type="command", value="true")


def measured(*atoms: Atom, growth: bool = False, repaired: int = 0, **more: Any) -> Measure:
    """Two attempts; if it may grow, two parts on one level."""
    limits = {"max_attempts": 2, "max_children": 2, "max_depth": 1, **more.pop("limits", {})}
    loop = a_loop(*atoms, constraints=Constraints(**limits), **more)
    if repaired:
        verdict = Verdict(passed=False, objective_digest="d", at="noon", repair_rounds={"tests": repaired})
        loop.control = replace(loop.control, verdict=verdict)
    return Measure(loop, growth=growth)


def work(*atoms: Atom, **more: Any) -> int:
    """Without the four attempts at repairing the base case."""
    return measured(*atoms, **more).work - 4


# --- work --------------------------------------------------------------------------------------------------------


def test_every_atom_has_its_attempts_and_every_item_of_the_base_case_as_many_rounds_of_as_many() -> None:
    assert measured(atom("A")).value == (1, 2 * 2 + 2)
    item = ChecklistItem(item="x", check=Check(type="command", value="true"))
    both = BaseCase(checklist=(item, ChecklistItem(item="y", any_of=(item, item))))
    assert measured(atom("A"), base_case=both).work == 2 * 2 * 2 + 2
    assert measured(atom("A"), limits={"max_attempts": 3}).work == 3 * 3 + 3


def test_what_was_used_up_is_not_left() -> None:
    assert work(atom("A", attempts=1)) == 1
    assert work(atom("A", attempts=2)) == work(atom("A", attempts=5)) == 0
    assert work(atom("A", status="resolved")) == 0
    assert work(atom("A", status="in_progress")) == 2
    assert [measured(atom("A"), repaired=rounds).work for rounds in (1, 2, 3)] == [2 + 2, 2, 2]


def test_what_may_be_probed_is_one_more() -> None:
    assert work(atom("A", probe=True)) == 3
    assert work(atom("X", or_group="g"), atom("Y", or_group="g", findings="seen")) == 3 + 2
    assert work(atom("A", findings="seen")) == 2


def test_if_all_had_to_be_done_again_repairs_would_be_dropped() -> None:
    loop = measured(atom("A", attempts=1), atom("B", status="resolved"), atom("R", repairs="tests"), repaired=2)
    assert (loop.most_work, loop.work) == (4 + 2 + 2, 1 + 2)


# --- growth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "parts"), [(0, 0), (1, 2 * (2 + 1) + 2), (2, 2 * (2 * 2 + 1 + 2 * 3) + 2), (3, 2 * (5 + 2 * 11) + 2)]
)
def test_an_atom_that_may_be_decomposed_stands_for_all_its_parts(depth: int, parts: int) -> None:
    assert work(atom("A"), growth=True, limits={"max_depth": depth}) == 2 + parts


def test_what_is_done_in_one_piece_has_no_parts() -> None:
    assert work(atom("A", whole=True), growth=True) == 2
    assert work(atom("A", run="make"), growth=True) == 2
    race = {"g": OrGroup(choices=("A",), selected="A", speculative=True)}
    assert work(atom("A", or_group="g"), growth=True, or_groups=race) == 3
    assert work(atom("A", or_group="g"), growth=True) == 3 + 8


def a_parent(growth: bool, *, limits: dict[str, int] | None = None, **parent: Any) -> Measure:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    done = atom("C", status="resolved")
    return measured(atom("P", **parent), done, growth=growth, decompositions=[split], limits=limits or {})


def test_a_parent_may_have_to_be_done_in_one_piece_after_all() -> None:
    assert [a_parent(growth).work - 4 for growth in (False, True)] == [0, 2]
    assert a_parent(growth=True, whole=True).work - 4 == 0
    assert a_parent(growth=True, attempts=1).work - 4 == 1


def test_a_part_is_as_deep_as_its_whole_and_one_more() -> None:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    assert work(atom("P"), atom("C"), growth=True, decompositions=[split]) == 2 + 2
    assert work(atom("P"), atom("C"), growth=True, decompositions=[split], limits={"max_depth": 2}) == 2 + 2 + 8


def test_a_check_of_its_own_may_fail_when_the_parts_are_done() -> None:
    three = {"max_attempts": 3}
    assert a_parent(growth=False, limits=three, check=CHECKED).work - 9 == 2 * 3
    assert a_parent(growth=False, limits=three, check=CHECKED, attempts=1).work - 9 == 1 * 3
    assert a_parent(growth=False, limits=three, check=CHECKED, attempts=3).work - 9 == 0
    assert a_parent(growth=False, limits=three).work - 9 == 0
    assert work(atom("A", check=CHECKED)) == 2
    assert work(atom("A", check=CHECKED, attempts=1), growth=True) == 1 + 8 + 2
    assert a_parent(growth=False, limits=three, check=CHECKED, attempts=1).most_work - 9 == 2 * 3 + 3


# --- combinations ------------------------------------------------------------------------------------------------


def two_groups(**more: Any) -> Loop:
    """A rests on nothing, b on a; b comes first in the file."""
    groups = {
        "b": OrGroup(choices=("B1", "B2", "B3"), selected="B1"),
        "a": OrGroup(choices=("A1", "A2"), selected="A1", **more),
    }
    atoms = [atom(f"B{number}", "A1", or_group="b") for number in (1, 2, 3)]
    return a_loop(*atoms, atom("A1", or_group="a"), atom("A2", or_group="a"), or_groups=groups)


def test_untried_choices_are_the_digits_of_a_number_with_the_earliest_group_first() -> None:
    assert Measure(two_groups(), growth=False).combinations == (1 * 3 + 2) + 1
    assert Measure(two_groups(failed=("A2",)), growth=False).combinations == (0 * 3 + 2) + 1
    assert measured(atom("A")).combinations == 1


def test_every_combination_may_need_all_the_work_again() -> None:
    found = measured(atom("X", or_group="g"), atom("Y", or_group="g", attempts=1))
    assert (found.combinations, found.most_work, found.work) == (2, 4 + 6, 4 + 5)
    assert found.attempts_left == 1 * 10 + 9


@pytest.mark.parametrize(("depth", "growth"), [(0, 1), (1, 5), (2, 2 * 2 * 5**2 + 1)])
def test_growth_is_paid_for_in_advance(depth: int, growth: int) -> None:
    limits = {"max_depth": depth}
    assert measured(atom("A"), growth=True, limits=limits).combinations == growth
    assert measured(atom("A"), atom("B"), growth=True, limits=limits).combinations == growth * growth
    grouped = measured(atom("X", or_group="g"), atom("Y", or_group="g"), growth=True, limits=limits)
    assert grouped.combinations == (growth * growth - 1) * 2 + 1 + 1


def test_a_parent_pays_for_its_withdrawal() -> None:
    assert [a_parent(growth).combinations for growth in (False, True)] == [1, 2 * 1]
    assert a_parent(growth=True, whole=True).combinations == 1


def test_the_largest_product_of_numbers_that_add_up() -> None:
    assert [_most_product(parts) for parts in range(1, 10)] == [1, 2, 3, 4, 6, 9, 12, 18, 27]


# --- the power of ten --------------------------------------------------------------------------------------------


def test_without_growth_the_power_of_ten_is_that_of_the_bound() -> None:
    assert measured(atom("A")).magnitude() == pytest.approx(log10(6))
    assert Measure(two_groups(), growth=False).magnitude() == pytest.approx(log10(6) + log10(4 + 5 * 3))


@pytest.mark.parametrize(("depth", "log"), [(1, log10(4)), (2, 3 * log10(4)), (3, 7 * log10(4))])
def test_with_growth_it_is_reckoned_without_writing_the_number_out(depth: int, log: float) -> None:
    found = measured(atom("A"), growth=True, limits={"max_depth": depth})
    assert found.magnitude() == pytest.approx(log + log10(found.most_work))
    grouped = measured(atom("X", or_group="g"), atom("Y", or_group="g"), growth=True, limits={"max_depth": depth})
    assert grouped.magnitude() == pytest.approx(2 * log + log10(2) + log10(grouped.most_work))


def test_a_parent_counts_twice_in_it() -> None:
    found = a_parent(growth=True)
    assert found.magnitude() == pytest.approx(log10(2) + log10(found.most_work))
