"""A loop that is aligned again: as new, but for what was done and is still asked for."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Revert
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Control,
    Correction,
    Decomposition,
    Loop,
    OrGroup,
    TrailEntry,
    Verdict,
)
from aotloop.errors import IllegalEvent
from tests.core.generated import valid_loops
from tests.loops import a_loop, atom

SAID: dict[str, Any] = {"description": "aligned again", "at": "noon"}


def realign(loop: Loop, *atoms: Any, **more: Any) -> list[Any]:
    objective = more.pop("objective", replace(loop.objective, goal="Something else"))
    return advance(loop, events.Realigned(objective=objective, atoms=atoms, **more, **SAID))


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


def used(*atoms: Any, status: str = "stopped", **more: Any) -> Loop:
    """A loop with a past."""
    trail = [TrailEntry(type="failure", atom="A1", reason="broke", timestamp="dawn", attempt=1)]
    loop = a_loop(*atoms, trail=trail, **more)
    loop.control = replace(
        loop.control,
        status=status,
        iteration=7,
        stall_count=2,
        prev_pending_count=3,
        stop_requested=True,
        stop_reason="limit: time",
        run_id="r",
        epoch=4,
        session_id="s",
        cost_usd=12.5,
        objective_digest="d",
        last_sha="abc",
        verdict=Verdict(passed=status == "completed", objective_digest="d", at="dawn"),
        ran_seconds=99.0,
    )
    return loop


@pytest.mark.parametrize("status", ["pending", "running", "stopped", "completed"])
def test_it_waits_to_be_started_as_if_it_were_new(status: str) -> None:
    loop = used(atom("A1"), status=status)
    realign(loop, atom("A1"))
    assert loop.control == Control(
        status="pending",
        iteration=0,
        stall_count=0,
        prev_pending_count=-1,
        stop_requested=False,
        redirect_requested=False,
        epoch=5,  # so that no result of before counts
    )
    assert loop.objective.goal == "Something else"
    assert loop.trail == []
    assert loop.corrections == [
        Correction(timestamp="noon", type="objective_change", description="aligned again", trail_cleared=True)
    ]


def test_what_is_still_asked_for_in_the_same_words_stays() -> None:
    check = AtomCheck(type="command", value="true")
    loop = used(
        atom("A1", status="resolved"),
        atom("A2", "A1", status="resolved"),
        atom("A3", status="resolved", check=check),
        atom("A4", status="in_progress", attempts=1),
    )
    effects = realign(
        loop, atom("A1"), atom("A2", "A1", description="do it otherwise"), atom("A3", check=check), atom("A4")
    )
    assert statuses(loop) == {"A1": "resolved", "A2": "pending", "A3": "resolved", "A4": "pending"}
    assert set(loop.bindings) == {"A1", "A3"}
    assert [one.attempts for one in loop.atoms] == [0, 0, 0, 0]
    assert effects == [Revert(atoms=("A2",))]


def test_what_was_built_on_something_that_changed_is_done_again() -> None:
    loop = used(atom("A1", status="resolved"), atom("A2", "A1", status="resolved"), atom("A3", "A2", status="resolved"))
    realign(loop, atom("A1", run="make"), atom("A2", "A1"), atom("A3", "A2"))
    assert set(statuses(loop).values()) == {"pending"}
    assert loop.bindings == {}


def test_atoms_that_are_not_asked_for_are_gone_with_their_results() -> None:
    loop = used(atom("A1", status="resolved"), atom("A2", status="resolved"))
    realign(loop, atom("A2"), atom("B"))
    assert statuses(loop) == {"A2": "resolved", "B": "pending"}
    assert set(loop.bindings) == {"A2"}


def test_a_group_keeps_the_choice_that_was_done_and_forgets_what_failed() -> None:
    choices = (atom("X", or_group="g"), atom("Y", or_group="g"))
    group = OrGroup(choices=("X", "Y"), selected="Y", failed=("X",), speculative=True, won="Y")
    loop = used(
        choices[0], replace(choices[1], status="resolved"), atom("A1", "X", status="resolved"), or_groups={"g": group}
    )
    realign(loop, *choices, atom("A1", "X"), or_groups={"g": replace(group, failed=(), won=None)})
    assert statuses(loop) == {"X": "pending", "Y": "resolved", "A1": "resolved"}
    assert loop.or_groups["g"] == replace(group, failed=())
    realign(loop, *choices, atom("A1", "X"), or_groups={"g": replace(group, failed=(), won=None, selected="X")})
    assert statuses(loop) == {"X": "pending", "Y": "resolved", "A1": "pending"}
    assert loop.or_groups["g"].won is None


def test_a_parent_stays_resolved_only_with_all_its_parts() -> None:
    atoms = (atom("A1"), atom("A2"), atom("A3"))
    split = Decomposition(parent="A1", children=("A2", "A3"), reason="big")
    done = [replace(one, status="resolved") for one in atoms]
    loop = used(*done, decompositions=[split])
    realign(loop, *atoms, decompositions=(split,))
    assert set(statuses(loop).values()) == {"resolved"}
    realign(loop, atoms[0], atoms[1], atom("A3", description="other"), decompositions=(split,))
    assert statuses(loop) == {"A1": "pending", "A2": "resolved", "A3": "pending"}


@pytest.mark.parametrize(
    ("atoms", "more", "told"),
    [
        ((), {}, "atoms: is empty"),
        ((atom("A1", "A2"), atom("A2", "A1")), {}, "cycle"),
        ((atom("A1", "A9"),), {}, "there is no atom A9"),
        ((atom("A1"), atom("A1")), {}, "used 2 times"),
        ((atom("A1", or_group="g"),), {}, "there is no group g"),
    ],
)
def test_what_would_not_be_valid_changes_nothing(atoms: tuple[Any, ...], more: dict[str, Any], told: str) -> None:
    loop = used(atom("A1", status="resolved"))
    before = deepcopy(loop)
    with pytest.raises(IllegalEvent, match=told):
        realign(loop, *atoms, **more)
    assert loop == before
    with pytest.raises(IllegalEvent, match="base_case"):
        realign(loop, atom("A1"), objective=replace(loop.objective, base_case=BaseCase()))
    assert loop == before


@given(valid_loops())
def test_the_same_graph_again_keeps_every_result_that_stands_and_is_valid(loop: Loop) -> None:
    groups = {name: replace(group, failed=(), blamed={}) for name, group in loop.or_groups.items()}
    realign(loop, *loop.atoms, decompositions=tuple(loop.decompositions), or_groups=groups)
    assert [one for one in findings_of(loop) if one.level == "error"] == []
    assert set(loop.bindings) <= {one.id for one in loop.atoms if one.status == "resolved"}
    assert loop.control.status == "pending"


def test_the_new_decompositions_take_the_place_of_the_old_ones() -> None:
    old, new = (Decomposition(parent="A1", children=(one,), reason="big") for one in ("A2", "A3"))
    loop = used(atom("A1"), atom("A2"), atom("A3"), decompositions=[old])
    realign(loop, atom("A1"), atom("A2"), atom("A3"), decompositions=(new,))
    assert loop.decompositions == [new]


def test_only_a_race_has_a_winner() -> None:
    choices = (atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"))
    loop = used(*choices)
    realign(loop, *choices, or_groups=loop.or_groups)
    assert (statuses(loop)["X"], loop.or_groups["g"].won) == ("resolved", None)


def test_a_count_that_makes_no_sense_is_forgotten_with_the_others() -> None:
    loop = used(atom("A1"))
    loop.control = replace(loop.control, stall_count=-1, epoch=3)
    realign(loop, atom("A1"))
    assert (loop.control.stall_count, loop.control.epoch) == (0, 4)


def test_failures_and_turns_belong_to_the_old_agreement() -> None:
    held = {"attempts": 1, "failures": 3, "alike": 2, "partial": True}
    group = OrGroup(
        choices=("X", "Y"), selected="X", failed=("Y",), blamed={"Y": ()}, round=1, seen=("Y",), blames={"Y": 1},
        hints={"X": ("A1",)},
    )  # fmt: skip
    loop = used(atom("A1", **held), atom("X", or_group="g"), atom("Y", or_group="g"))
    realign(loop, atom("A1", **held), atom("X", or_group="g"), atom("Y", or_group="g"), or_groups={"g": group})
    assert loop.atoms[0] == atom("A1")
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X")


def test_what_is_done_stays_done_if_it_covers_other_items_now() -> None:
    """The base case tells whether they hold. A loop of the version before, which covers nothing, loses no work."""
    loop = used(atom("A1", status="resolved", covers=("command: true",)), atom("A2", status="resolved"))
    realign(loop, atom("A1"), atom("A2", covers=("command: true",)))
    assert statuses(loop) == {"A1": "resolved", "A2": "resolved"}
    assert [one.covers for one in loop.atoms] == [(), ("command: true",)]
