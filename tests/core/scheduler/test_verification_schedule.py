"""The base case is tried at the start, when all is resolved, at a generation's end if wanted, and at last."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import CheckParent, Finished, VerifyBaseCase
from aotloop.core.events import ConstraintsCorrected, ObjectiveCorrected, RedirectRequested, ScopeReduced
from aotloop.core.model import Atom, AtomCheck, BaseCase, Constraints, Decomposition, Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.policy.turns import patience
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.verification_schedule import parent_checked
from tests.core.scheduler.driving import NOON, Driver, begun, contents
from tests.loops import a_loop, atom

PASSES = AtomCheck(type="command", value="true")
RED = {"tests": "red"}

# --- the base case -----------------------------------------------------------------------------------------------


def test_the_base_case_is_tried_at_the_start_and_if_it_holds_no_work_is_done() -> None:
    driver = Driver(a_loop(atom("A1"), status="pending"))
    assert driver.begin() == [VerifyBaseCase(number=1)]
    assert driver.verdict(commit="c1") == [Finished(status="completed")]
    assert (driver.loop.control.status, driver.loop.control.iteration, driver.status("A1")) == (
        "completed",
        0,
        "pending",
    )
    assert driver.loop.control.verdict is not None
    assert driver.loop.control.verdict.commit == "c1"


def test_it_is_tried_when_nothing_required_is_unresolved() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    assert VerifyBaseCase(number=2) not in driver.resolve("A1")
    assert VerifyBaseCase(number=2) in driver.resolve("A2")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_unselected_choices_need_not_be_resolved() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g")))
    driver.resolve("X")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_without_the_wish_for_it_no_generation_ends_with_a_verdict() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.resolve("A1")
    assert (driver.verifying, driver.running) == (None, ["A2"])


def test_with_verify_each_iteration_a_run_completes_early_and_cancels_the_others() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=1, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    assert (driver.verifying, driver.running) == (2, ["A2"])
    driver.verdict()
    assert driver.finished == Finished(status="completed")
    assert driver.cancelled() == ["A2"]
    assert [driver.status(one) for one in ("A1", "A2", "A3")] == ["resolved", "pending", "pending"]


def test_at_a_generations_end_without_a_merge_there_is_nothing_new_to_try() -> None:
    driver = begun(a_loop(atom("A1")), verify_each_iteration=True)
    driver.fail("A1")
    assert (driver.verifying, driver.running) == (None, ["A1"])


def test_a_verdict_nobody_waits_for_is_ignored() -> None:
    driver = begun(a_loop(atom("A1")))
    before = contents(driver.loop)
    for number in (1, 2):
        assert driver.tell(driver.a_verdict(number)) == []
    assert contents(driver.loop) == before


def test_a_late_verdict_is_not_taken_for_the_one_that_is_waited_for() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    driver.told(RedirectRequested())
    driver.told(ConstraintsCorrected(constraints=Constraints(), description="as it was", at=NOON))
    assert driver.verifying == 3
    assert driver.tell(driver.a_verdict(2)) == []
    assert driver.finished is None


def test_it_is_tried_again_when_a_correction_leaves_nothing_unresolved() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    driver.verdict(RED)
    driver.told(ScopeReduced(atom="A2", description="not needed", at=NOON))
    assert driver.verifying == 3


def test_an_undecided_verdict_at_the_start_is_no_reason_to_stop() -> None:
    driver = Driver(a_loop(atom("A1")))
    driver.begin()
    driver.verdict(undecided=True)
    assert driver.running == ["A1"]


def test_an_undecided_verdict_with_all_resolved_waits_for_a_person() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    driver.verdict(undecided=True)
    assert driver.reason.startswith("blocked: a person has to judge")
    assert len(driver.all(VerifyBaseCase)) == 2


def test_what_fails_is_repaired_before_a_person_is_asked() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    driver.verdict({"lint": "E501"}, undecided=True)
    assert driver.running == ["A2"]


def test_a_verdict_on_another_objective_counts_for_nothing() -> None:
    """The objective is corrected while the old one is being judged."""
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    assert driver.verifying == 2
    old = driver.a_verdict(2)
    other = a_loop(atom("A1"), base_case=BaseCase(type="command", value="make")).objective
    driver.told(ObjectiveCorrected(objective=other, description="another goal", at=NOON))
    driver.tell(old)
    assert driver.finished is None
    assert driver.loop.control.status == "running"


def test_a_failing_verdict_on_another_objective_leads_to_no_repairs() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    old = driver.a_verdict(2, {"old item": "red"})
    other = a_loop(atom("A1"), base_case=BaseCase(type="command", value="make")).objective
    driver.told(ObjectiveCorrected(objective=other, description="another goal", at=NOON))
    driver.tell(old)
    assert [one.id for one in driver.loop.atoms] == ["A1"]


def test_it_is_tried_when_an_alternative_that_is_taken_had_been_resolved_before() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g", status="resolved")), max_attempts=1)
    driver.fail("X")
    if driver.verifying is not None:
        driver.verdict(RED)
    assert [driver.atom(one).repairs for one in driver.running] == ["tests"]


# --- repairs -----------------------------------------------------------------------------------------------------


def test_if_all_is_resolved_and_it_fails_every_failing_item_becomes_a_repair() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    driver.verdict({"lint": "E501", "tests": "2 failed"})
    assert driver.running == ["A2", "A3"]
    assert [driver.atom(one).repairs for one in ("A2", "A3")] == ["lint", "tests"]
    assert "2 failed" in driver.atom("A3").description
    driver.resolve("A2")
    assert driver.verifying is None
    driver.resolve("A3")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def spent_rounds(driver: Driver) -> None:
    """As many rounds of repair were made as patience allows."""
    verdict = driver.loop.control.verdict
    assert verdict is not None
    rounds = replace(verdict, repair_rounds={"tests": patience(driver.loop)})
    driver.loop.control = replace(driver.loop.control, verdict=rounds)


def test_there_are_at_most_so_many_rounds_of_repair_and_then_it_is_exhausted() -> None:
    driver = begun(a_loop(atom("A1")), max_stall_count=99, max_total_attempts=999, max_iterations=99)
    driver.resolve("A1")
    repairs = 0
    while driver.verdict(RED) and driver.running:
        driver.resolve(driver.running[0])
        repairs += 1
    assert repairs == patience(driver.loop)
    verdicts = len(driver.all(VerifyBaseCase))
    assert driver.reason == 'exhausted: the base case fails, and no further attempt is allowed; failing: "tests"'
    assert len(driver.all(VerifyBaseCase)) == verdicts, "the verdict is the reason; it is not tried once more"


def two_ways() -> Driver:
    """X is done, and its base case fails: there is a repair A1."""
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g")), max_stall_count=99)
    driver.resolve("X")
    driver.verdict(RED)
    return driver


def test_after_the_rounds_of_repair_another_choice_is_tried_and_has_its_own_rounds() -> None:
    driver = two_ways()
    driver.resolve("A1")
    spent_rounds(driver)
    driver.verdict(RED)
    assert (driver.reverting, driver.group("g").selected) == ([("A1", "X")], "Y")
    driver.reverted()
    driver.resolve("Y")
    driver.verdict(RED)
    assert [(one.id, one.repairs) for one in driver.loop.atoms if one.repairs] == [("A1", "tests")]


def test_a_repair_that_fails_for_good_gives_up_a_choice() -> None:
    driver = two_ways()
    driver.worn_out("A1")
    driver.fail("A1")
    assert (driver.reverting, driver.group("g").selected) == ([("X",)], "Y")
    assert [one.id for one in driver.loop.atoms] == ["X", "Y"]


def test_repairs_under_way_are_cancelled_when_a_choice_is_given_up() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g")), max_stall_count=99)
    driver.resolve("X")
    driver.verdict({"lint": "E501", "tests": "red"})
    driver.worn_out("A1")
    driver.fail("A1")
    assert driver.cancelled() == ["A2"]


def test_an_atom_that_covers_a_failing_item_is_done_again() -> None:
    driver = begun(a_loop(atom("A1", covers=("command: true",)), atom("A2", "A1")))
    driver.resolve("A1", "A2")
    driver.verdict({"command: true": "exit 1"})
    assert (driver.running, driver.status("A2")) == (["A1"], "resolved")
    assert (driver.atom("A1").failures, driver.reverting) == (1, [])
    driver.resolve("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


# --- a base case that is known to fail ---------------------------------------------------------------------------


def judged_before(**verdict: Any) -> Driver:
    loop = a_loop(atom("A1"), status="pending")
    terms: dict[str, Any] = {"passed": False, "failing": ("tests",), "commit": "c1", **verdict}
    terms.setdefault("objective_digest", digest_of(loop.objective))
    loop.control = replace(loop.control, verdict=Verdict(at=NOON, **terms))
    return Driver(loop)


def test_a_base_case_that_is_known_to_fail_at_this_commit_is_not_tried_before_the_work_begins() -> None:
    driver = judged_before()
    driver.begin(commit="c1")
    assert (driver.verifying, driver.running) == (None, ["A1"])
    driver.resolve("A1")
    assert driver.verifying == 1


@pytest.mark.parametrize(
    "verdict",
    [{"commit": "c0"}, {"passed": True, "failing": ()}, {"undecided": True}, {"outdated": True},
     {"objective_digest": "another"}],
    ids=str,
)  # fmt: skip
def test_any_other_verdict_does_not_spare_the_first_one(verdict: dict[str, Any]) -> None:
    driver = judged_before(**verdict)
    driver.begin(commit="c1")
    assert (driver.verifying, driver.running) == (1, [])


def test_without_a_commit_the_base_case_is_tried_in_any_case() -> None:
    """Nobody knows then whether what was judged is what is there."""
    driver = judged_before(commit=None)
    driver.begin()
    assert (driver.verifying, driver.running) == (1, [])


# --- the check of a parent ---------------------------------------------------------------------------------------


def a_checked_parent() -> Loop:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    return a_loop(atom("P", check=PASSES), atom("C"), decompositions=[split])


def test_a_parent_with_a_check_is_resolved_after_it_passes() -> None:
    driver = begun(a_checked_parent())
    driver.resolve("C")
    assert (driver.checking, driver.status("P")) == (["P"], "pending")
    driver.check_parent("P")
    assert driver.status("P") == "resolved"
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_parent_whose_check_fails_gets_one_more_part_that_mends_it() -> None:
    driver = begun(a_checked_parent())
    driver.resolve("C")
    driver.check_parent("P", "the parts do not fit")
    assert driver.running == ["A1"]
    assert (driver.atom("A1").repairs, driver.atom("P").attempts) == ("P", 1)
    driver.resolve("A1")
    driver.check_parent("P")
    assert driver.status("P") == "resolved"


def test_a_parent_whose_check_keeps_failing_is_exhausted() -> None:
    driver = begun(a_checked_parent())
    driver.resolve("C")
    driver.worn_out("P")
    driver.check_parent("P", "the parts do not fit")
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("exhausted:")
    assert "P" in driver.reason


def test_a_check_of_a_parent_whose_parts_were_reset_meanwhile_says_nothing() -> None:
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"),
        atom("P", check=PASSES), atom("C", "X"), atom("A1", "X"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    driver = begun(loop, max_attempts=1)
    driver.resolve("X", "C")
    assert driver.checking == ["P"]
    driver.impatient("A1")
    driver.fail("A1")
    driver.check_parent("P")
    assert (driver.status("P"), driver.status("C")) == ("pending", "pending")


def test_a_check_that_is_due_when_a_run_begins_is_made() -> None:
    loop = a_checked_parent()
    loop.atoms[1] = atom("C", status="resolved")
    driver = Driver(loop)
    assert driver.begin() == [CheckParent(atom="P")]
    driver.check_parent("P")
    assert driver.verifying == 1


def test_a_check_under_way_is_not_asked_for_again() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"),
        atom("Y", or_group="g", check=PASSES),
        atom("Q", "X", check=PASSES),
        atom("C"),
        decompositions=[Decomposition(parent=one, children=("C",), reason="parts") for one in ("Y", "Q")],
    )
    driver = begun(loop)
    driver.resolve("C")
    if "Y" in driver.checking:  # nobody needs it
        driver.check_parent("Y")
    assert driver.checking == ["Q"]


@pytest.mark.parametrize(
    "atoms", [[atom("A1")], [atom("A1"), atom("P", status="resolved")], [atom("A1"), atom("P", "A1")]]
)
def test_the_check_of_a_whole_that_is_gone_or_resolved_or_waits_again_decides_nothing(atoms: list[Atom]) -> None:
    run = Run(a_loop(*atoms))
    run.checking = {"P"}
    before = contents(run.loop)
    for passed in (True, False):
        assert parent_checked(run, reports.ParentChecked(atom="P", passed=passed, reason="red", at=NOON)) == []
    assert (contents(run.loop), run.checking) == (before, set())
