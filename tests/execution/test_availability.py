"""Who is asked when an agent is busy, out, or refuses."""

from __future__ import annotations

import pytest

from aotloop.execution.availability import SILENCES, Availability, Busy, Gone

CHAIN = ("first", "second", "third")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_first_of_a_chain_is_asked(clock: Clock) -> None:
    assert Availability(60, clock).choose(CHAIN, "A1") == "first"


def test_one_that_is_busy_for_a_moment_is_waited_for(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "429", 20)
    assert there.choose(CHAIN, "A1") == Busy(seconds=20, reason="first: 429")
    clock.now += 20
    assert there.choose(CHAIN, "A1") == "first"


def test_one_that_is_busy_for_long_is_not_waited_for_as_long_as_there_is_another(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "usage limit", 5 * 3600)
    assert there.choose(CHAIN, "A1") == "second"
    assert there.choose(("first",), "A1") == Busy(seconds=5 * 3600, reason="first: usage limit")
    clock.now += 5 * 3600
    assert there.choose(CHAIN, "A1") == "first"


def test_waiting_again_and_again_ends_patience_too(clock: Clock) -> None:
    there = Availability(60, clock)
    seconds = []
    while isinstance(found := there.choose(CHAIN, "A1"), Busy) or found == "first":
        there.rests("first", "busy", None)
        rest = there.choose(("first",), "A1")
        assert isinstance(rest, Busy)
        seconds.append(rest.seconds)
        clock.now += rest.seconds
        if len(seconds) > 3:
            break
    assert seconds == [15, 30, 60, 120]
    there.rests("first", "busy", None)
    assert there.choose(CHAIN, "A1") == "second"


def test_an_answer_ends_the_count_of_waits(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "busy", None)
    there.rests("first", "busy", None)
    there.answered("first", "A1")
    there.rests("first", "busy", None)
    assert there.choose(("first",), "A2") == Busy(seconds=15, reason="first: busy")


def test_if_all_are_busy_the_one_that_is_free_first_is_waited_for(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "a", 3000)
    there.rests("second", "b", 2000)
    there.rests("third", "c", 4000)
    assert there.choose(CHAIN, "A1") == Busy(seconds=2000, reason="second: b")


def test_a_service_that_asks_for_days_is_asked_again_before(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "a", 10 * 24 * 3600)
    assert there.choose(("first",), "A1") == Busy(seconds=6 * 3600, reason="first: a")


def test_one_may_be_busy_for_one_atom_only(clock: Clock) -> None:
    there = Availability(60, clock)
    there.rests("first", "not now", 40, "A1")
    assert there.choose(CHAIN, "A1") == Busy(seconds=40, reason="first: not now")
    assert there.choose(CHAIN, "A2") == "first"


def test_who_is_out_is_never_asked_again_and_who_refuses_not_for_this_atom(clock: Clock) -> None:
    there = Availability(60, clock)
    there.is_out("first", "no login")
    there.refuses("second", "A1", "it will not")
    assert there.choose(CHAIN, "A1") == "third"
    assert there.choose(CHAIN, "A2") == "second"
    assert there.choose(("first", "second"), "A1") == Gone(reason="first: no login; second: it will not")


@pytest.mark.parametrize("is_known", [True, False])
def test_who_falls_silent_is_asked_so_often_for_a_task_and_an_answer_begins_anew(
    clock: Clock, *, is_known: bool
) -> None:
    there = Availability(60, clock)
    for _ in range(SILENCES - 1):
        there.falls_silent("first", "A1", "silent", is_known=is_known)
        clock.now += 3600
    assert there.choose(("first",), "A1") == "first"
    there.answered("first", "A1")
    for _ in range(SILENCES):
        there.falls_silent("first", "A1", "silent", is_known=is_known)
        clock.now += 3600
    assert there.choose(("first",), "A1") == Gone(reason="first: silent, 3 times at A1")
    assert there.choose(("first", "second"), "A1") == "second"
    assert there.choose(("first",), "A2") == "first", "others go on"


def test_a_client_that_falls_silent_rests_for_all_and_a_program_for_none(clock: Clock) -> None:
    there = Availability(60, clock)
    there.falls_silent("client", "A1", "silent", is_known=True)
    there.falls_silent("program", "A1", "silent", is_known=False)
    assert isinstance(there.choose(("client",), "A2"), Busy)
    assert there.choose(("program",), "A1") == "program"
