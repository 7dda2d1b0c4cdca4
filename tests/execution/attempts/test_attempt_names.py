from __future__ import annotations

from aotloop.execution.attempts.attempt_names import AttemptNames, taken_apart
from aotloop.execution.run_events import AttemptBegan


def began(atom: str, attempt: int, name: str = "") -> AttemptBegan:
    return AttemptBegan(at="2026-01-01T00:00:00Z", atom=atom, attempt=attempt, role="worker", agent="shell", name=name)


def test_attempts_are_counted_for_each_atom() -> None:
    names = AttemptNames([began("A1", 1, "A1#1"), began("A2", 2, "A2#1")])
    assert [names.of("A1", 3), names.of("A2", 4), names.of("A1", 3)] == ["A1#2", "A2#2", "A1#2"]


def test_a_number_that_is_given_again_to_another_atom_gets_a_name_of_that_atom() -> None:
    names = AttemptNames([began("A1", 4, "A1#1")])
    assert names.of("names", 4) == "names#1"


def test_a_name_is_taken_apart_at_its_last_mark() -> None:
    assert [taken_apart(one) for one in ("A2#1", "A2", "a#b", "a#1#2", "#1")] == [
        ("A2", 1),
        ("A2", None),
        ("a#b", None),
        ("a#1", 2),
        ("#1", None),
    ]
