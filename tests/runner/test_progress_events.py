"""Half of what a run may take, with nothing new to show for it, is told once; and what counts as new."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import Binding, Constraints, Loop, Verdict
from aotloop.core.scheduler.run_state import Run
from aotloop.execution.run_events import HalfSpent
from aotloop.runner.progress_events import Progress
from tests.loops import a_loop, atom


class Watched:
    """A run of two atoms that may make twenty attempts, or as many as are said."""

    def __init__(self, **limits: Any) -> None:
        atoms = [atom("A1"), atom("A2", failures=3), atom("A3", repairs="it works")]
        self.run = Run(a_loop(*atoms, constraints=Constraints(**{"max_total_attempts": 20, **limits})))
        self.headway = Progress(self.run)

    @property
    def loop(self) -> Loop:
        return self.run.loop

    def after(self, *resolved: str, **control: Any) -> HalfSpent | None:
        for one in resolved:
            self.loop.bindings.pop(one, None)
            self.loop.bindings[one] = Binding(summary="it is done")
        won = self.loop.control.won + sum(self.run.board.atoms[one].repairs is None for one in resolved)
        self.loop.control = replace(self.loop.control, won=won, **control)
        return self.headway.after(self.loop)


def test_it_is_told_when_no_more_attempts_are_left_than_were_made_in_vain() -> None:
    watched = Watched()
    assert watched.after(tried=9) is None
    told = watched.after(tried=10)
    assert told is not None
    assert (told.attempts, told.more, told.cost_usd, told.atoms) == (10, 10, 0.0, ("A2",))


def test_it_is_told_once_in_a_run() -> None:
    watched = Watched()
    assert watched.after(tried=10) is not None
    assert [watched.after(tried=tried) for tried in range(11, 20)] == [None] * 9


def test_what_an_earlier_run_made_is_not_held_against_this_one() -> None:
    watched = Watched()
    watched.loop.control = replace(watched.loop.control, tried=8)
    later = Progress(watched.run)
    for tried, is_told in ((13, False), (14, True)):
        watched.loop.control = replace(watched.loop.control, tried=tried)
        assert (later.after(watched.loop) is not None) == is_told


def test_an_atom_that_is_resolved_is_a_new_start_but_not_the_second_time() -> None:
    watched = Watched()
    assert watched.after("A1", tried=10) is None
    assert watched.after(tried=14) is None
    assert watched.after("A1", tried=15) is not None


def test_a_repair_that_is_made_is_nothing_new() -> None:
    assert Watched().after("A3", tried=10) is not None


def test_fewer_failing_items_are_new() -> None:
    watched = Watched()
    verdict = Verdict(passed=False, objective_digest="x", at="t", failing=("a", "b"), fewest_failing=2)
    assert watched.after(tried=9, verdict=verdict) is None
    assert watched.after(tried=10, verdict=replace(verdict, fewest_failing=1)) is None
    assert watched.after(tried=14) is None
    assert watched.after(tried=15) is not None


def test_a_person_s_correction_is_a_new_start() -> None:
    watched = Watched()
    assert watched.after(tried=10, epoch=1) is None
    assert watched.after(tried=15) is not None


@pytest.mark.parametrize(("spent", "is_told"), [(1.9, False), (2.0, True), (4.5, False)])
def test_half_of_the_money_is_told_too_as_long_as_there_is_some_left(spent: float, is_told: bool) -> None:
    told = Watched(max_cost_usd=4.0).after(tried=1, cost_usd=spent)
    assert (told is not None) == is_told
    assert told is None or told.cost_usd == spent


def test_nothing_is_told_of_a_run_that_ends_anyway() -> None:
    watched = Watched()
    assert watched.after(tried=20) is None
    watched = Watched()
    watched.run.end("stalled: 3 generations in a row in which nothing got smaller")
    assert watched.after(tried=12) is None
