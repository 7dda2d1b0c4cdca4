"""What a run knows of what is under way; and whatever comes of it, a run behaves and ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import CancelAttempt, CancelCheck, CancelVerification
from aotloop.core.events import AtomStarted, BranchSwitched, Child
from aotloop.core.model import Loop
from aotloop.core.scheduler.run_state import Attempt, Run
from tests.core.generated import errors_of, valid_loops
from tests.core.scheduler.driving import Driver, begun
from tests.loops import a_loop, atom


def with_an_attempt(**terms: Any) -> Run:
    run = Run(a_loop(atom("A1"), atom("A2")))
    run.advance(AtomStarted(atom="A1"))
    run.attempts[1] = Attempt(number=1, atom="A1", epoch=0, role="worker", merges=0, **terms)
    run.to_merge.append(1)
    run.members = {1}
    run.merging = 1
    return run


def test_an_attempt_that_is_taken_off_is_forgotten_everywhere() -> None:
    run = with_an_attempt()
    attempt = run.take_off(1)
    assert attempt is not None
    assert (run.attempts, run.to_merge, run.members, run.merging) == ({}, [], set(), None)
    assert run.take_off(1) is None


def test_a_blocked_attempt_is_taken_off_too() -> None:
    run = with_an_attempt()
    run.blocked[1], run.blocked_by[1] = run.attempts.pop(1), "in the way"
    assert run.take_off(1) is not None
    assert (run.blocked, run.blocked_by) == ({}, {})


def test_cancelling_puts_the_atom_back_and_counts_nothing() -> None:
    run = with_an_attempt()
    assert run.cancel(run.attempts[1]) == CancelAttempt(attempt=1, atom="A1", discard=True)
    assert run.loop.atoms[0] == atom("A1")


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (a_loop(atom("A1", status="resolved")), True),
        (a_loop(atom("A1", status="resolved"), atom("A2")), False),
        (a_loop(atom("A1", status="resolved"), atom("A2", repairs="tests")), False),
        (a_loop(atom("A1", status="resolved"), atom("A2", repairs="tests", status="resolved")), True),
        (a_loop(atom("X", or_group="g", status="resolved"), atom("Y", or_group="g")), True),
    ],
)
def test_all_is_resolved_when_nothing_required_and_no_repair_is_left(loop: Loop, expected: bool) -> None:
    assert Run(loop).is_all_resolved() is expected


def test_a_run_is_busy_while_a_report_is_to_come() -> None:
    driver = begun(a_loop(atom("A1")))
    assert driver.run.is_busy()
    driver.done("A1")
    assert driver.run.is_busy()
    driver.merge()
    assert driver.run.is_busy()
    driver.verdict()
    assert not driver.run.is_busy()


# --- whatever comes of it ----------------------------------------------------------------------------------------


class Fate:
    """Answers whatever is asked for, in any order and in any way."""

    def __init__(self, driver: Driver, data: st.DataObject) -> None:
        self.driver, self.data = driver, data
        self.waiting: list[str] = []

    def step(self) -> bool:
        """Whether there was anything to answer."""
        driver = self.driver
        open_questions = [*driver.running, *driver.checking, *(f"wait:{one}" for one in self.waiting)]
        open_questions += ["merge"] * (driver.merging is not None) + ["verdict"] * (driver.verifying is not None)
        open_questions += ["revert"] * bool(driver.reverting)
        if not open_questions:
            return False
        question = self._any(open_questions)
        if question.startswith("wait:"):
            self.waiting.remove(question[5:])
            driver.wait_over(question[5:])
        elif question == "merge":
            self._any([driver.merge, driver.merge, driver.refuse, driver.conflict])()
        elif question == "verdict":
            driver.verdict(self._any([{"a": "red"}, {"a": "red", "b": "red"}]))
        elif question == "revert":
            driver.reverted()
        elif question in driver.probing:
            driver.probe(question, feasible=self._any([True, False]), estimate=self._any([None, 2.0]))
        elif question in driver.running:
            self._work(question)
        else:
            driver.check_parent(question, self._any(["", "it does not fit"]))
        return True

    def _work(self, atom_id: str) -> None:
        driver = self.driver
        match self._any(["done", "done", "done", "fail", "hint", "half", "propose", "wait"]):
            case "done":
                driver.done(atom_id)
            case "fail":
                driver.fail(atom_id)
            case "hint":
                named = self._any([one.id for one in driver.loop.atoms])
                driver.fail(atom_id, because_of=(named,), wants_probe=self._any([True, False]))
            case "half":
                driver.fail(atom_id, f"reason {self._any([1, 2])}", progress=True)
            case "propose":
                driver.propose(atom_id, *self._any([("one", "two"), (_part("one"), _part("other"))]))
            case _:
                self.waiting.append(atom_id)
                driver.wait(atom_id)

    def _any(self, of: list[Any]) -> Any:
        return self.data.draw(st.sampled_from(of))


def _part(description: str) -> Child:
    return Child(description=description, or_group="how")


@given(valid_loops(), st.data())
def test_whatever_comes_of_it_a_run_stays_valid_and_ends(loop: Loop, data: st.DataObject) -> None:
    loop.control = replace(loop.control, status="running", verdict=None)
    limits: dict[str, Any] = {"max_iterations": 8, "max_depth": 2, "max_stall_count": data.draw(st.integers(1, 4))}
    limits["max_total_attempts"] = data.draw(st.integers(1, 25))
    driver = Driver(loop, max_parallel_agents=data.draw(st.integers(1, 3)), **limits)
    driver.begin()
    fate = Fate(driver, data)
    while driver.finished is None:
        assert fate.step(), "nothing is under way, and it does not end"
        assert errors_of(loop) == []
    assert driver.reason.split(":")[0] in {"stalled", "exhausted", "limit", "blocked"}


def test_a_new_run_knows_of_nothing() -> None:
    run = Run(a_loop(atom("A1")))
    known = {name: value for name, value in vars(run).items() if name not in ("board", "_overriding", "next_number")}
    assert {name for name, value in known.items() if value} == set()
    assert {"members", "has_begun", "is_verified"} <= set(known)
    assert run.next_number == 1
    assert not run.is_busy()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attempts", {1: None}),
        ("to_merge", [1]),
        ("to_revert", ["A1"]),
        ("reverting", True),
        ("checking", {"A1"}),
        ("verifying", 1),
    ],
)
def test_whatever_will_be_reported_keeps_it_busy(name: str, value: Any) -> None:
    run = Run(a_loop(atom("A1")))
    setattr(run, name, value)
    assert run.is_busy()


def test_what_others_made_of_the_loop_takes_its_place() -> None:
    run, other = Run(a_loop(atom("A1"))), a_loop(atom("A2"))
    run.loop = other
    assert run.loop is other
    assert list(run.board.atoms) == ["A2"]


def test_what_is_being_judged_is_called_off_in_order_and_forgotten() -> None:
    run = Run(a_loop(atom("A1")))
    run.checking, run.verifying = {"C", "A", "B"}, 3
    called_off = [*(CancelCheck(atom=one) for one in "ABC"), CancelVerification(number=3)]
    assert run.cancel_checks() == called_off
    assert run.cancel_checks() == []
    assert not run.is_busy()


def test_calling_off_an_attempt_at_what_is_resolved_leaves_the_result() -> None:
    run = Run(a_loop(atom("A1", status="resolved")))
    attempt = Attempt(number=1, atom="A1", epoch=0, role="worker", merges=0)
    assert run.cancel(attempt) == CancelAttempt(attempt=1, atom="A1")
    assert (run.loop.atoms[0].status, list(run.loop.bindings)) == ("resolved", ["A1"])


def test_a_command_that_is_held_stays_so_until_something_is_merged_or_taken_back() -> None:
    run = Run(a_loop(atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("Q", "X", attempts=1)))
    run.held = {"Q": 0, "Y": 0, "X": 0}
    run.advance(BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    assert run.held == {"Q": 0, "Y": 0, "X": 0}, "a switch alone changes nothing on the branch"
    assert run.to_revert == ["X"]


def test_why_a_run_ends_says_whether_it_can_be_helped() -> None:
    run = Run(a_loop(atom("A1")))
    run.end("blocked: something", is_judged=True, can_be_unblocked=True)
    assert (run.ending, run.is_verified, run.can_be_unblocked) == ("blocked: something", True, True)
    run.end("limit: time")
    assert (run.ending, run.is_verified, run.can_be_unblocked) == ("limit: time", False, False)
