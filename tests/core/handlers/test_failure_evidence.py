"""The same failure once more is known as such, and only that."""

from __future__ import annotations

import pytest

from aotloop.core.events import AtomFailed, AtomResolved, AtomStarted
from aotloop.core.handlers.failure import essence
from aotloop.core.machine import advance
from aotloop.core.model import Constraints, Loop
from tests.loops import a_loop, atom


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("it crashed", "it crashed"),
        ("it crashed after 3.2 s", "it crashed after 17 s"),
        ("4 failed in 12ms", "4 failed in 3 minutes"),
        ("exit 1:\n  no such file", "exit 1: no such file"),
    ],
)
def test_the_same_reason_is_the_same_however_long_it_took(before: str, now: str) -> None:
    assert essence(before) == essence(now)


@pytest.mark.parametrize("now", ["it crashed elsewhere", "3 tests fail", "", "exit 2"])
def test_another_reason_is_another(now: str) -> None:
    assert essence(now) not in {essence("it crashed"), essence("4 tests fail"), essence("exit 1")}


def fail(loop: Loop, atom_id: str, reason: str) -> int:
    """How often in a row it has failed like this."""
    advance(loop, AtomStarted(atom=atom_id))
    advance(loop, AtomFailed(atom=atom_id, reason=reason, at="noon"))
    return next(one.alike for one in loop.atoms if one.id == atom_id)


def test_failures_in_a_row_with_the_same_evidence_are_counted() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    reasons = ["it crashed after 1 s", "it crashed after 2 s", "red", "it crashed after 1 s", "it crashed after 3 s"]
    assert [fail(loop, "A1", one) for one in reasons] == [1, 2, 1, 1, 2]


def test_what_others_failed_with_does_not_count() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    assert fail(loop, "A1", "it crashed") == 1
    assert fail(loop, "A2", "it crashed") == 1
    assert fail(loop, "A1", "it crashed") == 2


def test_what_failed_on_another_ground_does_not_count() -> None:
    """Failures are counted anew when what an atom rests on changes; the trail remembers all."""
    loop = a_loop(atom("A1"))
    fail(loop, "A1", "it crashed")
    loop.atoms[0] = atom("A1")
    assert fail(loop, "A1", "it crashed") == 1


def test_success_ends_a_row() -> None:
    loop = a_loop(atom("A1"))
    fail(loop, "A1", "it crashed")
    advance(loop, AtomStarted(atom="A1"))
    advance(loop, AtomResolved(atom="A1", summary="done"))
    assert (loop.atoms[0].alike, loop.atoms[0].attempts, loop.atoms[0].failures) == (0, 0, 1)


def test_the_same_text_again_ends_no_atom() -> None:
    """An agent that samples its answers may fail with the same words and succeed with the next try."""
    loop = a_loop(atom("A1"), constraints=Constraints(max_attempts=2))
    for times in range(1, 12):
        assert fail(loop, "A1", "3 tests fail") == times
    advance(loop, AtomStarted(atom="A1"))
    advance(loop, AtomResolved(atom="A1", summary="done"))
    assert loop.atoms[0].status == "resolved"
