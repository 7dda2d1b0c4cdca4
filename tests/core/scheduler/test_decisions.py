"""What a person does to a run: stopping it, changing its direction, changing its file."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core.effects import CancelAttempt, CancelVerification, CheckParent, Finished, StartAttempt
from aotloop.core.events import (
    AtomAdded,
    ConstraintsCorrected,
    RedirectExpired,
    RedirectRequested,
    RetryGranted,
    ScopeExtended,
    ScopeReduced,
    StopRequested,
)
from aotloop.core.model import AtomCheck, Constraints, Decomposition, Loop
from aotloop.core.scheduler import reports
from tests.core.scheduler.driving import NOON, Driver, begun, contents
from tests.loops import a_loop, atom

ONE_MORE = ScopeExtended(added=AtomAdded(description="one more", atom="B1"), description="and this", at=NOON)


def a_checked_parent(child: Any = "pending") -> Loop:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    check = AtomCheck(type="command", value="true")
    return a_loop(atom("P", check=check), atom("C", status=child), atom("A1", "P"), decompositions=[split])


# --- stop --------------------------------------------------------------------------------------------------------


def test_a_stop_ends_everything_and_keeps_what_was_finished() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3"), atom("A4")), verify_each_iteration=True)
    driver.done("A1")
    driver.done("A2")
    driver.told(StopRequested(reason="lunch"))
    assert driver.cancelled(discard=False) == ["A1", "A2", "A3"]
    assert driver.cancelled() == []
    assert driver.finished == Finished(status="stopped", reason="user: lunch")
    assert {one.status for one in driver.loop.atoms} == {"pending"}
    assert {one.attempts for one in driver.loop.atoms} == {0}


def test_a_stop_keeps_a_blocked_result_too() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.done("A1")
    driver.block()
    driver.told(StopRequested())
    assert sorted(driver.cancelled(discard=False)) == ["A1", "A2"]


def test_a_stop_says_that_it_was_a_person() -> None:
    for reason in (None, "enough", "user: enough"):
        driver = begun(a_loop(atom("A1")))
        driver.told(StopRequested(reason=reason))
        assert driver.reason.startswith("user: ")
        assert driver.reason.count("user:") == 1
        assert driver.loop.control.stop_reason == driver.reason


def test_a_stop_waits_for_a_revert_under_way() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X")), max_attempts=1)
    driver.resolve("X")
    driver.impatient("A1")
    driver.fail("A1")
    driver.told(StopRequested())
    assert driver.finished is None
    driver.reverted()
    assert driver.reason.startswith("user:")


def test_what_is_reported_after_the_end_is_ignored() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.told(StopRequested())
    before = contents(driver.loop)
    for report in (
        reports.WorkDone(attempt=1, summary="late", at=NOON),
        reports.WorkFailed(attempt=2, reason="late", at=NOON),
        reports.Merged(attempt=1, at=NOON),
        reports.Began(at=NOON),
        reports.Happened(event=RedirectRequested(), at=NOON),
        driver.a_verdict(1),
    ):
        assert driver.tell(report) == []
    assert contents(driver.loop) == before


# --- redirect ----------------------------------------------------------------------------------------------------


def test_a_redirect_cancels_everything_and_nothing_starts_before_the_correction() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2)
    driver.done("A1")
    driver.told(RedirectRequested())
    assert driver.cancelled() == ["A1", "A2"]
    assert (driver.running, driver.loop.control.epoch) == ([], 1)
    assert driver.tell(reports.WaitOver(atom="A1", at=NOON)) == []
    driver.told(ONE_MORE)
    assert driver.running == ["A1", "A2"]
    assert [start.epoch for start in driver.all(StartAttempt)] == [0, 0, 2, 2]


def test_late_reports_of_what_a_redirect_cancelled_change_nothing() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")))
    driver.done("A1")
    driver.told(RedirectRequested())
    before = contents(driver.loop)
    for report in (
        reports.Merged(attempt=1, commit="c1", at=NOON),
        reports.WorkDone(attempt=2, summary="late", at=NOON),
        reports.WorkFailed(attempt=3, reason="killed", at=NOON),
        reports.MustWait(attempt=3, reason="killed", at=NOON),
    ):
        assert driver.tell(report) == []
    assert contents(driver.loop) == before
    driver.told(ONE_MORE)
    before = contents(driver.loop)
    assert driver.tell(reports.WorkDone(attempt=2, summary="very late", at=NOON)) == []
    assert contents(driver.loop) == before


def test_a_redirect_calls_off_a_check_under_way() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    assert driver.told(RedirectRequested()) == [CancelVerification(number=2)]
    assert driver.tell(driver.a_verdict(2)) == []
    driver.told(ONE_MORE)
    assert driver.running == ["B1"]


def test_a_redirect_counts_no_attempt_and_no_stall() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1, max_stall_count=1)
    driver.told(RedirectRequested())
    driver.told(ConstraintsCorrected(constraints=Constraints(max_stall_count=1), description="more time", at=NOON))
    assert (driver.atom("A1").attempts, driver.loop.control.stall_count, driver.running) == (0, 0, ["A1"])


def test_a_correction_that_nobody_announced_counts_no_stall_either() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1, max_stall_count=1)
    driver.told(ONE_MORE)
    assert (driver.loop.control.stall_count, driver.running) == (0, ["A1", "B1"])


def test_a_redirect_that_expires_lets_the_run_go_on() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.told(RedirectRequested())
    driver.told(RedirectExpired())
    assert (driver.running, driver.loop.control.epoch) == (["A1", "A2"], 1)
    assert [start.epoch for start in driver.all(StartAttempt)] == [0, 0, 1, 1]


def test_a_redirect_that_expires_leaves_every_turn_where_it_was() -> None:
    driver = begun(a_loop(*(atom(one, or_group="g") for one in "WXY")), max_attempts=1)
    driver.fail("W")
    driver.told(RedirectRequested())
    driver.told(RedirectExpired())
    assert (driver.running, driver.group("g").failed) == (["X"], ("W",))


def test_a_redirect_that_expires_loses_no_check_of_a_parent() -> None:
    driver = begun(a_checked_parent())
    driver.resolve("C")
    assert driver.checking == ["P"]
    driver.told(RedirectRequested())
    driver.checking.clear()  # dead within a second, like everything else
    assert CheckParent(atom="P") in driver.told(RedirectExpired())


def test_a_redirect_after_a_run_was_about_to_end_gives_it_another_chance() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1)
    driver.fail("A1")
    driver.told(RedirectRequested())
    driver.told(RetryGranted(atom="A1", description="again", at=NOON))
    assert driver.running == ["A1"]


def test_taking_out_an_atom_cancels_work_on_it() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.told(ScopeReduced(atom="A1", description="not needed", at=NOON))
    assert CancelAttempt(attempt=1, atom="A1") in driver.effects
    assert driver.running == ["A2"]


# --- a file changed by others ------------------------------------------------------------------------------------


def replaced_by(driver: Driver, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(driver.loop, name, value)
    driver.replaced()


def test_a_stop_requested_in_the_file_is_taken_up() -> None:
    driver = begun(a_loop(atom("A1")))
    replaced_by(driver, control=replace(driver.loop.control, stop_requested=True, stop_reason="user: from elsewhere"))
    assert driver.reason == "user: from elsewhere"


def test_a_redirect_requested_in_the_file_starts_and_checks_nothing() -> None:
    driver = begun(a_checked_parent())
    driver.resolve("C")
    driver.effects.clear()
    replaced_by(driver, control=replace(driver.loop.control, redirect_requested=True, epoch=1))
    assert driver.all(CheckParent) == []


def test_atoms_that_moved_in_the_file_are_not_mixed_up() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3", "A1")))
    pending = [replace(one, status="pending") for one in driver.loop.atoms]
    replaced_by(driver, atoms=[atom("A0"), *pending], control=replace(driver.loop.control, epoch=1))
    assert [one.id for one in driver.loop.atoms] == ["A0", "A1", "A2", "A3"]
    assert sorted(driver.cancelled()) == ["A1", "A2"]
    assert sorted(driver.running) == ["A0", "A1", "A2"]


def test_work_of_an_older_epoch_is_cancelled_when_the_file_says_so() -> None:
    driver = begun(a_loop(atom("A1")))
    replaced_by(driver, control=replace(driver.loop.control, epoch=3))
    assert (driver.cancelled(), driver.running) == (["A1"], ["A1"])
    assert driver.all(StartAttempt)[-1].epoch == 3


def test_an_atom_added_in_the_file_is_started() -> None:
    driver = begun(a_loop(atom("A1")))
    replaced_by(driver, atoms=[*driver.loop.atoms, atom("A2")])
    assert (driver.running, driver.cancelled()) == (["A1", "A2"], [])


def test_what_is_under_way_goes_on_when_others_change_the_file() -> None:
    driver = begun(a_loop(*(atom(one, or_group="g") for one in "WXY")), max_attempts=1)
    driver.fail("W")
    replaced_by(driver, control=replace(driver.loop.control, session_id="s2"))
    assert (driver.running, driver.cancelled()) == (["X"], [])
