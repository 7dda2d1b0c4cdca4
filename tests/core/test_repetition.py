"""The same failure once more is known as such, and only that."""

from __future__ import annotations

import pytest

from aotloop.core.context import Context
from aotloop.core.repetition import is_repeated
from tests.loops import a_loop, atom


def after(*failures: str, attempts: int = 1, run: str | None = None) -> Context:
    one = atom("A1", attempts=attempts, run=run)
    return Context(objective=a_loop(one).objective, atom=one, results={}, failures=failures)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("it crashed", "it crashed"),
        ("it crashed after 3.2 s", "it crashed after 17 s"),
        ("exit 1:\n  no such file", "exit 1: no such file"),
    ],
)
def test_the_same_reason_is_the_same_however_long_it_took(before: str, now: str) -> None:
    assert is_repeated(after(f"A1: {before}"), now)


@pytest.mark.parametrize("now", ["it crashed elsewhere", "3 tests fail", ""])
def test_another_reason_is_another(now: str) -> None:
    assert not is_repeated(after("A1: it crashed", "A1: 4 tests fail"), now)


def test_what_others_failed_with_does_not_count() -> None:
    assert not is_repeated(after("A2: it crashed"), "it crashed")


def test_what_failed_on_another_way_does_not_count() -> None:
    """Attempts are counted anew for each way; the trail remembers all."""
    assert not is_repeated(after("A1: it crashed", attempts=0), "it crashed")


def test_a_command_is_run_again_when_something_moved_whatever_it_said() -> None:
    assert not is_repeated(after("A1: exit 1", run="make"), "exit 1")
