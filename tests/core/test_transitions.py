"""The tables of moves, cell by cell, and that the machine does what they say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from aotloop.core.events import (
    AtomAbandoned,
    AtomFailed,
    AtomResolved,
    AtomStarted,
    Event,
    LoopCompleted,
    LoopStarted,
    LoopStopped,
)
from aotloop.core.machine import advance
from aotloop.core.model import AtomStatus, Loop, LoopStatus, TrailEntry, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.transitions import ATOM, LOOP, AtomMove, LoopMove, illegal
from aotloop.errors import AotError, IllegalEvent
from tests.core.generated import deep_copy
from tests.loops import a_loop, atom

ATOM_TABLE: dict[str, dict[str, str | None]] = {
    # from            start                     resolve                abandon               fail
    "pending": {"start": "in_progress", "resolve": None, "abandon": "pending", "fail": None},
    "in_progress": {"start": "in_progress", "resolve": "resolved", "abandon": "pending", "fail": "pending"},
    "resolved": {"start": None, "resolve": "resolved", "abandon": None, "fail": None},
}
LOOP_TABLE: dict[str, dict[str, str | None]] = {
    "pending": {"start": "running", "stop": None, "complete": None},
    "running": {"start": "running", "stop": "stopped", "complete": "completed"},
    "stopped": {"start": "running", "stop": "stopped", "complete": "completed"},
    "completed": {"start": None, "stop": None, "complete": "completed"},
}
ATOM_EVENTS: dict[str, Event] = {
    "start": AtomStarted(atom="A1"),
    "resolve": AtomResolved(atom="A1", summary="done"),
    "abandon": AtomAbandoned(atom="A1"),
    "fail": AtomFailed(atom="A1", reason="broke", at="noon"),
}
LOOP_EVENTS: dict[str, Callable[[Loop], Event]] = {
    "start": lambda _: LoopStarted(),
    "stop": lambda _: LoopStopped(),
    "complete": lambda loop: LoopCompleted(confirmed=loop.control.status == "stopped"),
}


def a_verified_loop(status: str) -> Loop:
    loop = a_loop(atom("A1"), status=status)
    verdict = Verdict(passed=True, objective_digest=digest_of(loop.objective), at="noon")
    loop.control = replace(loop.control, verdict=verdict)
    return loop


def test_the_tables_speak_of_every_status() -> None:
    assert set(ATOM_TABLE) == set(get_args(AtomStatus))
    assert set(LOOP_TABLE) == set(get_args(LoopStatus))
    assert set(get_args(AtomMove)) == {*ATOM_EVENTS, "reset"}
    assert set(get_args(LoopMove)) == set(LOOP_EVENTS)


@pytest.mark.parametrize(("status", "move"), list(product(ATOM_TABLE, ATOM_EVENTS)))
def test_each_cell_of_the_table_of_atoms(status: Any, move: Any) -> None:
    assert ATOM.get((status, move)) == ATOM_TABLE[status][move]


def test_everything_can_be_reset() -> None:
    assert [ATOM.get((status, "reset")) for status in get_args(AtomStatus)] == ["pending"] * 3


@pytest.mark.parametrize(("status", "move"), list(product(LOOP_TABLE, LOOP_EVENTS)))
def test_each_cell_of_the_table_of_loops(status: Any, move: Any) -> None:
    assert LOOP.get((status, move)) == LOOP_TABLE[status][move]


@pytest.mark.parametrize(("status", "move"), list(product(ATOM_TABLE, ATOM_EVENTS)))
def test_the_machine_moves_atoms_as_the_table_says(status: str, move: str) -> None:
    loop = a_loop(atom("A1", status=status))
    before, wanted = deep_copy(loop), ATOM_TABLE[status][move]
    if wanted is None:
        with pytest.raises(IllegalEvent, match=f"A1 is {status}; it allows: "):
            advance(loop, ATOM_EVENTS[move])
        assert deep_copy(loop) == before
    else:
        advance(loop, ATOM_EVENTS[move])
        assert loop.atoms[0].status == wanted


@pytest.mark.parametrize(("status", "move"), list(product(LOOP_TABLE, LOOP_EVENTS)))
def test_the_machine_moves_loops_as_the_table_says(status: str, move: str) -> None:
    loop = a_verified_loop(status)
    before, wanted = deep_copy(loop), LOOP_TABLE[status][move]
    if wanted is None:
        with pytest.raises(IllegalEvent, match=f"the loop is {status}; it allows: "):
            advance(loop, LOOP_EVENTS[move](loop))
        assert deep_copy(loop) == before
    else:
        assert advance(loop, LOOP_EVENTS[move](loop)) == []
        assert loop.control.status == wanted


@pytest.mark.parametrize(("status", "move"), [("pending", "abandon"), ("in_progress", "start")])
def test_setting_the_status_an_atom_has_changes_nothing(status: str, move: str) -> None:
    loop = a_loop(atom("A1", status=status, attempts=1))
    before = deep_copy(loop)
    assert advance(loop, ATOM_EVENTS[move]) == []
    assert deep_copy(loop) == before


def test_resolving_what_is_resolved_without_a_summary_changes_nothing() -> None:
    loop = a_loop(atom("A1", status="resolved"))
    before = deep_copy(loop)
    assert advance(loop, AtomResolved(atom="A1")) == []
    assert deep_copy(loop) == before


@pytest.mark.parametrize(("status", "move"), [("running", "start"), ("stopped", "stop"), ("completed", "complete")])
def test_setting_the_status_a_loop_has_changes_nothing(status: str, move: str) -> None:
    loop = a_verified_loop(status)
    loop.control = replace(loop.control, stop_requested=True, stop_reason="user: enough", shares=1, fewest_unresolved=0)
    before = deep_copy(loop)
    assert advance(loop, LOOP_EVENTS[move](loop)) == []
    assert deep_copy(loop) == before


def test_only_a_person_completes_a_loop_that_was_stopped() -> None:
    loop = a_verified_loop("stopped")
    with pytest.raises(IllegalEvent, match="only a person's confirmation completes it now"):
        advance(loop, LoopCompleted())
    advance(loop, LoopCompleted(confirmed=True))
    assert loop.control.status == "completed"


def failure(atom_id: str, number: int) -> TrailEntry:
    return TrailEntry(reason=f"reason {number}", timestamp=f"day {number}", type="failure", atom=atom_id)


def test_it_names_the_event_and_the_reason() -> None:
    refused = illegal(None, AtomStarted(atom="A1"), "it rains")
    assert str(refused) == "AtomStarted is not possible: it rains"
    assert isinstance(refused, IllegalEvent)


def test_it_is_an_error_a_user_can_meet() -> None:
    assert issubclass(IllegalEvent, AotError)


def test_it_tells_the_last_three_entries_about_the_atom() -> None:
    trail = [failure("A1", number) for number in range(1, 6)]
    trail.insert(4, failure("A2", 9))
    loop = a_loop(atom("A1"), trail=trail)
    message = str(illegal(loop, AtomStarted(atom="A1"), "it rains", "A1"))
    told = "day 3 failure: reason 3; day 4 failure: reason 4; day 5 failure: reason 5"
    assert message == f"AtomStarted is not possible: it rains (what happened to it: {told})"


def test_that_an_atom_was_selected_belongs_to_its_story() -> None:
    chosen = TrailEntry(or_group="g", selected="A1", reason="cheaper", timestamp="day 1")
    loop = a_loop(atom("A1", or_group="g"), trail=[chosen])
    assert "(what happened to it: day 1 selection: cheaper)" in str(illegal(loop, AtomStarted(atom="A1"), "no", "A1"))


def test_the_output_of_a_failure_is_told_on_one_short_line() -> None:
    """Seen: line breaks of an output, shown as escapes."""
    loop = a_loop(atom("A1"), trail=[replace(failure("A1", 1), reason=f"exit 127:\nnot found{' x' * 200}")])
    message = str(illegal(loop, AtomStarted(atom="A1"), "no", "A1"))
    assert "exit 127: not found x" in message
    assert len(message) < 250


def test_an_atom_to_which_nothing_happened_has_no_story() -> None:
    loop = a_loop(atom("A1"), trail=[failure("A2", 1)])
    assert "what happened" not in str(illegal(loop, AtomStarted(atom="A1"), "no", "A1"))


def test_a_refused_start_says_status_what_is_allowed_and_the_story() -> None:
    loop = a_loop(atom("A1", status="resolved"), trail=[failure("A1", 1)])
    with pytest.raises(IllegalEvent) as caught:
        advance(loop, AtomStarted(atom="A1"))
    assert caught.value.message == (
        "AtomStarted is not possible: A1 is resolved; it allows: resolve (what happened to it: day 1 failure: reason 1)"
    )


def test_without_an_atom_or_without_a_loop_there_is_no_story() -> None:
    chosen = TrailEntry(or_group="g", selected="A1", reason="cheaper", timestamp="day 1")
    loop = a_loop(atom("A1", or_group="g"), trail=[chosen])
    for refused in (illegal(loop, AtomStarted(atom="A1"), "no"), illegal(None, AtomStarted(atom="A1"), "no", "A1")):
        assert str(refused) == "AtomStarted is not possible: no"
    assert str(illegal(loop, AtomStarted(atom="A2"), "no", "A2")) == "AtomStarted is not possible: no"
