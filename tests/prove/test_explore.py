"""The model checker itself: it explores, finds nothing wrong with the machine, and finds every fault planted in it."""

from __future__ import annotations

import pytest
from prove.campaign import SETTINGS
from prove.explore import explore
from prove.planted import FAULTS, Fault
from prove.planted.fault import SINGLE, none
from prove.shapes import shapes
from prove.worlds import explore_worlds

from aotloop.core.scheduler import decisions

MOST_STATES = 100
"""Of one loop; `make prove` looks at all of them."""


@pytest.mark.parametrize("name", SETTINGS)
def test_no_loop_of_two_atoms_breaks_a_law(name: str) -> None:
    for size in (1, 2):
        for shape in shapes(size):
            assert explore(shape, SETTINGS[name], most_states=MOST_STATES).found == []


def test_loops_of_three_atoms_break_no_law() -> None:
    every = (explore(shape, SETTINGS["one slot"], most_states=MOST_STATES // 2) for shape in shapes(3))
    found = [one for explored in every for one in explored.found]
    assert found == []


def test_if_some_combination_of_three_atoms_works_it_is_found() -> None:
    explored = [explore_worlds(shape) for shape in shapes(3) if shape.groups]
    assert [one.found for one in explored] == [[] for _ in explored]
    assert sum(one.loops for one in explored) > 400


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 5), (3, 57)])
def test_every_shape_is_there_once(size: int, count: int) -> None:
    assert len(list(shapes(size))) == count


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_planted_fault_is_found(fault: Fault) -> None:
    assert fault.find(100, 800, 4000) is not None


def test_a_planted_fault_that_only_breaks_itself_is_not_found() -> None:
    nonsense = Fault("Deciding", "returns nothing", ((decisions, "reach_limits", none),), (SINGLE,))
    with pytest.raises(AssertionError, match="the planted fault is broken itself: TypeError"):
        nonsense.find(100)


def test_there_is_a_fault_for_every_paragraph() -> None:
    paragraphs = {fault.paragraph for fault in FAULTS}
    assert len(FAULTS) >= 100
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert paragraphs == {
        "Required", "Ready", "Startable", "Slots", "Generations", "Progress and stall", "Failures", "Turns", "Patience",
        "Hints", "Rounds", "Giving up", "Backtracking", "Speculative", "Probes", "Decomposition", "Repairs",
        "Contraction", "Measure", "Deciding", "Epochs",
    }  # fmt: skip
