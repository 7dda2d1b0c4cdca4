"""An impossible event is refused with its name, the reason, and what happened to the atom before."""

from __future__ import annotations

import pytest

from aotloop.core.events import AtomStarted
from aotloop.core.illegal import illegal
from aotloop.core.machine import advance
from aotloop.core.model import TrailEntry
from aotloop.errors import AotError, IllegalEvent
from tests.loops import a_loop, atom


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
    assert message == f"AtomStarted is not possible: it rains (its story: {told})"


def test_that_an_atom_was_selected_belongs_to_its_story() -> None:
    chosen = TrailEntry(or_group="g", selected="A1", reason="cheaper", timestamp="day 1")
    loop = a_loop(atom("A1", or_group="g"), trail=[chosen])
    assert "(its story: day 1 selection: cheaper)" in str(illegal(loop, AtomStarted(atom="A1"), "no", "A1"))


def test_an_atom_to_which_nothing_happened_has_no_story() -> None:
    loop = a_loop(atom("A1"), trail=[failure("A2", 1)])
    assert "story" not in str(illegal(loop, AtomStarted(atom="A1"), "no", "A1"))


def test_a_refused_start_says_status_what_is_allowed_and_the_story() -> None:
    loop = a_loop(atom("A1", status="resolved"), trail=[failure("A1", 1)])
    with pytest.raises(IllegalEvent) as caught:
        advance(loop, AtomStarted(atom="A1"))
    assert caught.value.message == (
        "AtomStarted is not possible: A1 is resolved; it allows: resolve (its story: day 1 failure: reason 1)"
    )


def test_without_an_atom_or_without_a_loop_there_is_no_story() -> None:
    chosen = TrailEntry(or_group="g", selected="A1", reason="cheaper", timestamp="day 1")
    loop = a_loop(atom("A1", or_group="g"), trail=[chosen])
    for refused in (illegal(loop, AtomStarted(atom="A1"), "no"), illegal(None, AtomStarted(atom="A1"), "no", "A1")):
        assert str(refused) == "AtomStarted is not possible: no"
    assert str(illegal(loop, AtomStarted(atom="A2"), "no", "A2")) == "AtomStarted is not possible: no"
