"""Looking before working: atoms that ask for it, and alternatives that are weighed before one of them is taken."""

from __future__ import annotations

import pytest

from aotloop.core.conduct import reports as told
from aotloop.core.effects import Backtracked, StartAttempt
from aotloop.core.events import Child, ScopeReduced
from aotloop.core.model import Loop
from tests.core.conduct.driving import NOON, Driver, begun
from tests.loops import a_loop, atom

# --- an atom that asks for it ------------------------------------------------------------------------------------


def test_an_atom_that_asks_for_it_is_probed_first_and_worked_on_then() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    assert driver.probing == ["A1"]
    driver.probe("A1", estimate=5.0)
    assert (driver.running, driver.probing) == (["A1"], [])
    assert (driver.atom("A1").findings, driver.atom("A1").estimate) == ("looks fine", 5.0)
    assert driver.atom("A1").attempts == 0
    assert [start.role for start in driver.all(StartAttempt)] == ["probe", "worker"]


def test_an_infeasible_atom_has_failed_once_and_is_worked_on_all_the_same() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.probe("A1", feasible=False)
    assert (driver.atom("A1").attempts, driver.running, driver.probing) == (1, ["A1"], [])
    assert driver.loop.trail[-1].reason == "not feasible: cannot be done"


def test_an_infeasible_choice_fails_with_no_worker_spent() -> None:
    driver = begun(a_loop(atom("X", or_group="g", probe=True), atom("Y", or_group="g")))
    driver.probe("X", feasible=False)
    assert driver.group("g").failed == ("X",)
    assert [(start.atom, start.role) for start in driver.all(StartAttempt)] == [("X", "probe"), ("Y", "worker")]


def test_a_probe_may_propose_parts() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.probe("A1", children=(Child(description="first"), Child(description="second")))
    assert driver.running == ["A2", "A3"]
    assert driver.loop.decompositions[0].reason == "looks fine"


def test_parts_proposed_by_a_probe_are_refused_like_any_others() -> None:
    driver = begun(a_loop(atom("A1", probe=True)), max_depth=0)
    driver.probe("A1", children=(Child(description="first"),))
    assert driver.atom("A1").attempts == 1
    assert "max_depth is 0" in driver.loop.trail[-1].reason


def test_a_probe_that_fails_is_a_failed_attempt() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.fail("A1", "it wrote into the worktree")
    assert driver.atom("A1").attempts == 1
    assert driver.probing == ["A1"]


def test_a_probe_cannot_have_done_the_work() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    assert driver.tell(told.WorkDone(attempt=driver.number("A1"), summary="done", at=NOON)) == []
    assert (driver.merging, driver.status("A1")) == (None, "in_progress")


# --- weighing alternatives ---------------------------------------------------------------------------------------


def four_ways() -> Loop:
    return a_loop(*(atom(one, or_group="g") for one in ("W", "X", "Y", "Z")))


def weighing(loop: Loop | None = None) -> Driver:
    """The first of four ways failed, and that taught something."""
    driver = begun(four_ways() if loop is None else loop, max_attempts=1)
    driver.fail("W")
    return driver


def test_two_or_more_untried_choices_are_all_probed_before_one_is_taken() -> None:
    driver = weighing()
    assert driver.probing == driver.running == ["X", "Y", "Z"]
    assert (driver.group("g").selected, driver.all(Backtracked)) == ("W", [])


def test_alternatives_are_probed_with_the_default_limits_too() -> None:
    """Two failures in a row are two stalls, so a backtrack is forced; but one is being prepared already."""
    driver = begun(four_ways())
    driver.fail("W")
    driver.fail("W")
    assert driver.probing == ["X", "Y", "Z"]


def test_the_choice_is_made_when_the_last_probe_is_back_and_the_cheapest_is_next() -> None:
    driver = weighing()
    driver.probe("X", estimate=9.0)
    driver.probe("Y", estimate=2.0)
    assert driver.group("g").selected == "W"
    driver.probe("Z", estimate=4.0)
    assert (driver.group("g").selected, driver.group("g").failed) == ("Y", ("W",))
    assert (driver.running, driver.probing) == (["Y"], [])


def test_choices_that_are_not_feasible_have_failed() -> None:
    driver = weighing()
    driver.probe("X", feasible=False)
    driver.probe("Y", feasible=False)
    driver.probe("Z")
    assert (driver.group("g").selected, set(driver.group("g").failed)) == ("Z", {"W", "X", "Y"})


def test_what_was_probed_once_is_not_probed_again() -> None:
    driver = weighing()
    for choice in "XYZ":
        driver.probe(choice, estimate=1.0)
    driver.fail("X")
    assert (driver.running, driver.probing) == (["Y"], [])


def test_probes_count_as_no_attempts() -> None:
    driver = weighing()
    driver.probe("X", feasible=False)
    driver.probe("Y")
    driver.probe("Z")
    assert [driver.atom(one).attempts for one in "YZ"] == [0, 0]


def test_if_nothing_is_feasible_the_loop_is_exhausted() -> None:
    driver = weighing()
    for choice in "XYZ":
        driver.probe(choice, feasible=False)
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("exhausted:")
    assert "W" in driver.reason


def test_if_nothing_is_feasible_an_earlier_group_switches() -> None:
    below = (atom("A", or_group="a", status="resolved"), atom("B", or_group="a"))
    driver = weighing(a_loop(*below, *(atom(one, "A", or_group="g") for one in ("W", "X", "Y"))))
    driver.probe("X", feasible=False)
    driver.probe("Y", feasible=False)
    assert driver.group("a").selected == "B"


def test_after_garbage_nothing_is_probed() -> None:
    driver = begun(four_ways(), max_attempts=1)
    driver.fail("W", "no JSON in the answer", taught=False)
    assert (driver.running, driver.probing) == (["X"], [])


def test_a_merge_that_is_refused_teaches_something() -> None:
    driver = begun(four_ways(), max_attempts=1)
    driver.done("W")
    driver.refuse()
    assert driver.probing == ["X", "Y", "Z"]


def test_a_single_alternative_is_taken_without_being_probed() -> None:
    driver = weighing(a_loop(atom("W", or_group="g"), atom("X", or_group="g")))
    assert (driver.running, driver.probing) == (["X"], [])


def test_commands_are_not_probed() -> None:
    others = (atom("X", or_group="g", run="make x"), atom("Y", or_group="g", run="make y"))
    driver = weighing(a_loop(atom("W", or_group="g"), *others))
    assert (driver.running, driver.probing) == (["X"], [])


def test_beside_a_command_only_the_others_are_probed() -> None:
    others = (atom("X", or_group="g", run="make x"), atom("Y", or_group="g"), atom("Z", or_group="g"))
    assert weighing(a_loop(atom("W", or_group="g"), *others)).probing == ["Y", "Z"]


def test_an_alternative_that_is_resolved_already_is_not_probed() -> None:
    others = (atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("Z", or_group="g"))
    assert weighing(a_loop(atom("W", or_group="g"), *others)).probing == ["Y", "Z"]


def test_probes_come_before_other_work_and_take_slots_like_it() -> None:
    loop = a_loop(*(atom(one, or_group="g", estimate=9.0) for one in "WXYZ"), atom("A1"), atom("A2"))
    driver = begun(loop, max_attempts=1, max_parallel_agents=2)
    driver.fail("W")
    assert (driver.running, driver.probing) == (["A1", "X"], ["X"])
    driver.probe("X")
    assert driver.probing == ["Y"]
    driver.resolve("A1")
    assert driver.probing == ["Y", "Z"]


@pytest.mark.parametrize("how", ["fails", "waits"])
def test_a_probe_without_an_answer_holds_nobody_up(how: str) -> None:
    driver = weighing()
    (driver.fail if how == "fails" else driver.wait)("X")
    driver.probe("Y", feasible=False)
    driver.probe("Z", feasible=False)
    assert (driver.group("g").selected, driver.running) == ("X", ["X"])


def test_alternatives_of_a_group_below_are_probed_when_what_is_built_on_it_fails() -> None:
    loop = a_loop(*(atom(one, or_group="g") for one in "WXY"), atom("A1", "W"))
    driver = begun(loop, max_attempts=1)
    driver.resolve("W")
    driver.fail("A1")
    assert driver.probing == ["X", "Y"]
    assert driver.status("W") == "resolved"


def test_a_correction_ends_the_weighing() -> None:
    driver = weighing(a_loop(*(atom(one, or_group="g") for one in "WXY"), atom("A1")))
    driver.told(ScopeReduced(atom="A1", description="not needed", at=NOON))
    assert driver.cancelled() == ["A1", "X", "Y"]
    assert (driver.group("g").selected, driver.running) == ("X", ["X"])


def test_the_choice_is_dated_and_says_what_failed() -> None:
    driver = weighing()
    for choice in "XYZ":
        driver.probe(choice)
    entry = driver.loop.trail[-1]
    assert (entry.selected, entry.reason, entry.timestamp) == ("X", "W failed: it broke", NOON)
