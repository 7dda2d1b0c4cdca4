"""How many attempts a loop may still make, at most: reckoned by hand, and smaller with every attempt that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.limits import limits_of
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_allowed, attempts_left, shares_of
from aotloop.core.model import Atom, Constraints, Decomposition, Loop
from aotloop.errors import IllegalEvent
from tests.core.generated import NOW, any_events, deep_copy, valid_loops
from tests.loops import a_loop, atom


def started(*atoms: Atom, **limits: Any) -> Loop:
    loop = a_loop(*atoms, status="pending", constraints=Constraints(**limits))
    advance(loop, events.LoopStarted())
    return loop


def test_each_atom_of_the_file_brings_its_share() -> None:
    loop = started(atom("A1"), *(atom(one, or_group="g") for one in "XY"))
    assert (loop.control.shares, attempts_allowed(loop), attempts_left(loop)) == (3, 30, 30)


def test_resolved_atoms_and_alternatives_bring_a_share_and_wholes_and_repairs_bring_none() -> None:
    loop = a_loop(
        atom("A1", status="resolved"), atom("X", or_group="g"), atom("Y", or_group="g"), atom("P"), atom("C"),
        atom("R", repairs="tests"), decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    assert shares_of(loop) == 4


def test_there_is_at_least_one_share() -> None:
    assert shares_of(a_loop(atom("R", repairs="tests"))) == 1


@pytest.mark.parametrize(("effort", "each"), [("low", 4), ("normal", 10), ("high", 30)])
def test_effort_says_how_large_a_share_is(effort: Any, each: int) -> None:
    assert attempts_allowed(started(atom("A1"), atom("A2"), effort=effort)) == 2 * each


def test_what_the_file_sets_is_the_limit_whatever_the_atoms_bring() -> None:
    assert attempts_allowed(started(atom("A1"), atom("A2"), max_total_attempts=7)) == 7


def test_limits_in_force_count_instead_of_the_files() -> None:
    loop = started(atom("A1"))
    limits = limits_of(Constraints(max_total_attempts=3))
    loop.control = replace(loop.control, tried=1)
    assert (attempts_allowed(loop, limits), attempts_left(loop, limits), attempts_left(loop)) == (3, 2, 9)


def test_before_it_starts_a_loop_has_what_it_would_start_with() -> None:
    loop = a_loop(atom("A1"), atom("A2"), status="pending")
    assert (loop.control.shares, attempts_left(loop)) == (None, 20)


def test_what_a_loop_adds_itself_brings_nothing() -> None:
    loop = started(atom("A1"))
    parts = tuple(events.Child(description="a part") for _ in range(3))
    advance(loop, events.AtomStarted(atom="A1"))
    advance(loop, events.AtomDecomposed(parent="A1", children=parts, reason="too much at once"))
    advance(loop, events.AtomAdded(description="one more"))
    assert (attempts_allowed(loop), attempts_left(loop)) == (10, 9)


def test_never_less_than_nothing_is_left() -> None:
    loop = started(atom("A1"))
    loop.control = replace(loop.control, tried=99)
    assert attempts_left(loop) == 0


OUTCOMES: dict[str, Callable[[str], events.Event]] = {
    "resolved": lambda one: events.AtomResolved(atom=one, summary="done"),
    "failed": lambda one: events.AtomFailed(atom=one, reason="it broke", at=NOW),
    "said no": lambda one: events.AtomProbed(atom=one, feasible=False, findings="no", at=NOW),
    "said yes": lambda one: events.AtomProbed(atom=one, feasible=True, findings="yes", at=NOW),
    "decomposed": lambda one: events.AtomDecomposed(
        parent=one, children=(events.Child(description="a part"),), reason="too much"
    ),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_attempt_with_an_outcome_counts_and_is_an_outcome_of_its_generation(outcome: str) -> None:
    loop = started(atom("A1"), atom("A2"))
    advance(loop, events.AtomStarted(atom="A1"))
    advance(loop, OUTCOMES[outcome]("A1"))
    assert (loop.control.tried, attempts_left(loop), loop.control.generation.outcomes) == (1, 19, 1)


@pytest.mark.parametrize("outcome", ["said no", "said yes", "decomposed"])
def test_what_happens_to_an_atom_that_is_not_under_way_is_no_attempt(outcome: str) -> None:
    loop = started(atom("A1"), atom("A2"))
    advance(loop, OUTCOMES[outcome]("A1"))
    assert (loop.control.tried, loop.control.generation.outcomes) == (0, 0)


def test_giving_up_without_a_result_counts_as_no_attempt() -> None:
    loop = started(atom("A1"))
    advance(loop, events.AtomStarted(atom="A1"))
    advance(loop, events.AtomAbandoned(atom="A1"))
    assert (loop.control.tried, attempts_left(loop)) == (0, 10)


def test_the_check_of_a_whole_is_no_attempt() -> None:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    loop = a_loop(atom("P"), atom("C", status="resolved"), decompositions=[split])
    advance(loop, events.AtomFailed(atom="P", reason="the parts do not fit", at=NOW))
    assert loop.control.tried == 0


def test_saying_again_that_it_is_resolved_is_no_attempt() -> None:
    loop = started(atom("A1"))
    advance(loop, events.AtomStarted(atom="A1"))
    for _ in range(2):
        advance(loop, events.AtomResolved(atom="A1", summary="done"))
    assert (loop.control.tried, loop.control.won, loop.control.needed) == (1, 1, 1)


@given(valid_loops(), st.data())
def test_nothing_that_the_loop_does_itself_makes_the_measure_larger(loop: Loop, data: st.DataObject) -> None:
    loop.control = replace(loop.control, status="pending", shares=None)
    advance(loop, events.LoopStarted())
    for _ in range(8):
        left, before = attempts_left(loop), deep_copy(loop)
        under_way = {one.id for one in loop.atoms if one.status == "in_progress"}
        event = data.draw(any_events(loop))
        try:
            advance(loop, event)
        except IllegalEvent:
            assert deep_copy(loop) == before
            continue
        is_outcome = isinstance(event, events.AtomFailed | events.AtomResolved) and event.atom in under_way
        assert attempts_left(loop) == max(left - is_outcome, 0) or isinstance(event, events.AtomDecomposed)
        assert attempts_left(loop) <= left
