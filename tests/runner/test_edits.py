"""What is taken of an edit by hand, what is restored, and what a command of ours may do that nobody else may."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Binding, Correction, Decomposition, Loop, OrGroup, TrailEntry, Verdict
from aotloop.runner.edits import REWORDED, Edits, edits
from tests.core.generated import valid_loops
from tests.loops import a_loop, atom

NOON = "2026-03-03T12:00:00Z"


def edited(known: Loop, found: Loop, ours: Loop | None = None, **more: Any) -> Edits:
    return edits(known, found, ours if ours is not None else known, at=NOON, **more)


def changed(loop: Loop, place: int, **values: Any) -> Loop:
    copy = loop.snapshot()
    copy.atoms[place] = replace(copy.atoms[place], **values)
    return copy


def controlled(loop: Loop, **values: Any) -> Loop:
    copy = loop.snapshot()
    copy.control = replace(copy.control, **values)
    return copy


# --- what is taken -----------------------------------------------------------------------------------------------


def test_an_atom_that_was_added_is_taken_as_pending() -> None:
    known = a_loop(atom("A1"))
    found = known.snapshot()
    found.atoms.append(atom("A2", "A1", status="resolved", attempts=2))
    made = edited(known, found)
    assert made.loop is not None
    assert (made.loop.atoms[1].status, made.loop.atoms[1].attempts) == ("pending", 0)
    assert made.taken == ["added A2"]
    assert made.loop.corrections[-1] == Correction(
        timestamp=NOON, type="dag_adjustment", description="added A2", trail_cleared=False
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("description", "in other words"),
        ("depends_on", ()),
        ("run", "make"),
        ("check", AtomCheck(type="file", value="x")),
        ("touches", ("src/**",)),
        ("probe", True),
        ("agent", "claude"),
        ("timeout", "5m"),
        ("estimate", 3.0),
    ],
)
def test_what_a_person_says_of_an_atom_is_taken(name: str, value: Any) -> None:
    known = a_loop(atom("A1"), atom("A2", "A1"))
    made = edited(known, changed(known, 1, **{name: value}))
    assert made.loop is not None
    assert getattr(made.loop.atoms[1], name) == value
    assert made.restored == []
    assert name in REWORDED


def test_a_group_and_its_choices_can_be_added() -> None:
    known = a_loop(atom("A1"))
    found = known.snapshot()
    found.atoms += [atom("B1", or_group="G"), atom("B2", or_group="G")]
    found.or_groups["G"] = OrGroup(choices=("B1", "B2"), selected="B2", failed=("B1",))
    made = edited(known, found)
    assert made.loop is not None
    assert made.loop.or_groups["G"] == OrGroup(choices=("B1", "B2"), selected="B2")


def test_a_choice_can_be_added_to_a_group() -> None:
    known = a_loop(atom("B1", or_group="G"))
    found = known.snapshot()
    found.atoms.append(atom("B2", or_group="G"))
    found.or_groups["G"] = replace(found.or_groups["G"], choices=("B1", "B2"))
    made = edited(known, found)
    assert made.loop is not None
    assert made.loop.or_groups["G"].choices == ("B1", "B2")


def test_what_was_reworded_meets_what_happened_meanwhile() -> None:
    known = a_loop(atom("A1"))
    ours = changed(known, 0, status="in_progress")
    made = edited(known, changed(known, 0, description="in other words"), ours)
    assert made.loop is not None
    assert (made.loop.atoms[0].status, made.loop.atoms[0].description) == ("in_progress", "in other words")


def test_an_edit_that_would_break_the_file_is_not_taken() -> None:
    known = a_loop(atom("A1"), atom("A2", "A1"))
    made = edited(known, changed(known, 0, depends_on=("A2",)))
    assert made.taken == []
    assert made.loop is not None
    assert made.loop.atoms == known.atoms
    assert "it cannot be taken" in made.restored[-1]


def test_a_verdict_that_somebody_else_reached_is_taken_unless_it_is_older() -> None:
    older = Verdict(passed=False, objective_digest="d", at="2026-03-03T10:00:00Z")
    newer = Verdict(passed=False, objective_digest="d", at="2026-03-03T11:00:00Z")
    known = a_loop(atom("A1"))
    made = edited(known, controlled(known, verdict=newer))
    assert made.loop is not None
    assert made.loop.control.verdict == newer
    assert edited(known, controlled(known, verdict=older), controlled(known, verdict=newer)).loop is None


# --- what is restored --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "word"),
    [({"status": "resolved"}, "status"), ({"attempts": 0}, "attempts"), ({"findings": "x"}, "findings")],
)
def test_facts_about_an_atom_are_restored(values: dict[str, Any], word: str) -> None:
    known = a_loop(atom("A1", attempts=1))
    made = edited(known, changed(known, 0, **values))
    assert made.loop is None
    assert made.restored == [f"A1: {word}"]


def test_an_atom_that_was_taken_out_is_restored_with_advice() -> None:
    known = a_loop(atom("A1"), atom("A2"))
    found = known.snapshot()
    del found.atoms[1]
    made = edited(known, found)
    assert made.loop is None
    assert made.restored == ["A2, which `aot redirect --remove` takes out"]


@pytest.mark.parametrize("name", ["iteration", "stall_count", "cost_usd", "ran_seconds", "epoch"])
def test_counters_are_restored(name: str) -> None:
    known = controlled(a_loop(atom("A1")), **{name: 7})
    made = edited(known, controlled(known, **{name: 3}))
    assert made.loop is None
    assert made.restored == [f"control: {name}"]


def test_history_and_results_are_restored() -> None:
    known = a_loop(atom("A1", status="resolved"), atom("P"), atom("C"))
    known.trail.append(TrailEntry(reason="it broke", timestamp=NOON, type="failure", atom="P"))
    found = known.snapshot()
    found.trail.clear()
    found.bindings = {"A1": Binding(summary="better")}
    found.decompositions.append(Decomposition(parent="P", children=("C",), reason="so"))
    made = edited(known, found)
    assert made.loop is None
    assert [text.partition(",")[0] for text in made.restored] == ["decompositions", "trail", "bindings"]


def test_what_a_group_has_selected_and_given_up_is_restored() -> None:
    known = a_loop(atom("B1", or_group="G"), atom("B2", or_group="G"))
    found = known.snapshot()
    found.or_groups["G"] = replace(found.or_groups["G"], selected="B2", choices=("B2",))
    made = edited(known, found)
    assert made.loop is None
    assert made.restored == ["group G: selected, choices"]


@given(valid_loops(), st.data())
def test_the_save_of_an_old_buffer_undoes_nothing(loop: Loop, data: st.DataObject) -> None:
    """Whatever happened since, all of it is still so, and the file says so again."""
    old = loop.snapshot()
    for place, one in enumerate(loop.atoms):
        if data.draw(st.booleans()):
            loop.atoms[place] = replace(one, attempts=one.attempts + 1, status="pending")
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1, cost_usd=1.5)
    made = edits(loop, old, loop, at=NOON)
    after = made.loop if made.loop is not None else loop
    assert (after.atoms, after.bindings, after.trail) == (loop.atoms, loop.bindings, loop.trail)
    assert after.control.iteration == loop.control.iteration
    assert after.control.cost_usd == 1.5


@given(valid_loops(), st.data())
def test_whatever_an_edit_says_the_loop_stays_valid(loop: Loop, data: st.DataObject) -> None:
    before = {str(one) for one in findings_of(loop) if one.level == "error"}
    found = loop.snapshot()
    ids = [one.id for one in loop.atoms]
    for place in data.draw(st.lists(st.integers(0, len(ids) - 1), max_size=3)):
        needed = tuple(data.draw(st.lists(st.sampled_from(ids), max_size=2)))
        found.atoms[place] = replace(found.atoms[place], depends_on=needed)
    if data.draw(st.booleans()):
        found.atoms.append(atom("new", data.draw(st.sampled_from([*ids, "nobody"]))))
    made = edits(loop, found, loop, at=NOON)
    after = made.loop if made.loop is not None else loop
    assert {str(one) for one in findings_of(after) if one.level == "error"} <= before


# --- requests and corrections ------------------------------------------------------------------------------------


def test_a_request_to_stop_is_passed_on_with_its_reason() -> None:
    known = a_loop(atom("A1"))
    made = edited(known, controlled(known, stop_requested=True, stop_reason="lunch"))
    assert made.requests == [events.StopRequested(reason="lunch")]
    assert (made.loop, made.restored) == (None, [])


def test_a_status_that_somebody_set_to_stopped_is_a_request() -> None:
    known = a_loop(atom("A1"))
    assert edited(known, controlled(known, status="stopped")).requests == [
        events.StopRequested(reason="the file says so")
    ]


def test_a_request_to_redirect_and_its_end_are_passed_on() -> None:
    known = a_loop(atom("A1"))
    asked = controlled(known, redirect_requested=True)
    assert edited(known, asked).requests == [events.RedirectRequested()]
    assert edited(asked, known).requests == [events.RedirectExpired()]


def test_another_objective_is_noticed_and_left_in_the_file() -> None:
    known = a_loop(atom("A1"))
    found = known.snapshot()
    found.objective = replace(found.objective, goal="something else")
    made = edited(known, found)
    assert made.objective_changed
    assert made.loop is not None
    assert made.loop.objective.goal == "something else"


def test_a_correction_by_a_command_is_taken_whole() -> None:
    known = a_loop(atom("A1"), atom("A2"))
    found = known.snapshot()
    advance(found, events.ScopeReduced(atom="A2", description="not needed", at=NOON))
    made = edited(known, found)
    assert made.loop is not None
    assert [one.id for one in made.loop.atoms] == ["A1"]
    assert made.taken == ["graph changed: not needed"]


def test_where_ours_is_ahead_no_command_can_have_written_it() -> None:
    known = a_loop(atom("A1"), atom("A2"))
    found = known.snapshot()
    advance(found, events.ScopeReduced(atom="A2", description="not needed", at=NOON))
    made = edited(known, found, adopt=False)
    assert "control: epoch" in made.restored
    assert made.loop is None
