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
from aotloop.core.model import AtomStatus, Loop, LoopStatus, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.transitions import ATOM, LOOP, AtomMove, LoopMove
from aotloop.errors import IllegalEvent
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
