"""Looking before working: for atoms that ask for it, and for alternatives where it pays."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core.effects import StartAttempt
from aotloop.core.events import Child, ConstraintsCorrected
from aotloop.core.model import Constraints, Loop, Prices
from aotloop.core.scheduler import reports
from tests.core.scheduler.driving import NOON, begun
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


def test_an_infeasible_atom_has_failed_for_a_turn_and_is_worked_on_all_the_same() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.probe("A1", feasible=False)
    assert (driver.atom("A1").failures, driver.running, driver.probing) == (2, ["A1"], [])
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


def test_a_probe_that_fails_is_a_failed_attempt_and_the_work_begins() -> None:
    """An agent that never answers as a probe would else use up all attempts, and the work would not be tried once."""
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.fail("A1", "it wrote into the worktree")
    assert driver.atom("A1").attempts == 1
    assert (driver.probing, driver.running) == ([], ["A1"])
    assert [start.role for start in driver.all(StartAttempt)] == ["probe", "worker"]


def test_a_probe_cannot_have_done_the_work() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    assert driver.tell(reports.WorkDone(attempt=driver.number("A1"), summary="done", at=NOON)) == []
    assert (driver.merging, driver.status("A1")) == (None, "in_progress")


# --- alternatives ------------------------------------------------------------------------------------------------


def four_ways(**more: Any) -> Loop:
    return a_loop(*(atom(one, or_group="g") for one in "WXYZ"), **more)


def cheap(loop: Loop) -> Loop:
    """A probe costs a tenth of an attempt."""
    prices = Prices(attempts=10, attempts_usd=10.0, probes=1, probes_usd=0.1)
    loop.control = replace(loop.control, prices=prices)
    return loop


def test_as_long_as_nobody_knows_what_a_probe_costs_alternatives_are_not_probed() -> None:
    driver = begun(four_ways(), max_attempts=1)
    driver.fail("W")
    assert (driver.running, driver.probing) == (["X"], [])


def test_where_probes_pay_the_next_choice_is_probed_first_and_then_worked_on() -> None:
    driver = begun(cheap(four_ways()), max_attempts=1)
    assert driver.probing == [], "the first choice is taken as it is"
    driver.fail("W")
    assert (driver.running, driver.probing) == (["X"], ["X"])
    driver.probe("X")
    assert (driver.running, driver.probing) == (["X"], [])


def test_a_no_lets_the_next_choice_have_its_turn_and_the_one_it_is_about_comes_back() -> None:
    driver = begun(cheap(four_ways()), max_attempts=1)
    driver.fail("W")
    driver.probe("X", feasible=False)
    assert (driver.group("g").failed, driver.probing) == (("W", "X"), ["Y"])
    turns = []
    for _ in range(6):
        (selected,) = driver.running
        turns.append(selected)
        (driver.probe if driver.probing else driver.fail)(selected)
    assert "X" in turns
    assert driver.finished is None


def test_what_was_probed_once_is_not_probed_again() -> None:
    driver = begun(cheap(a_loop(atom("W", or_group="g"), atom("X", or_group="g"))), max_attempts=1)
    driver.fail("W")
    driver.probe("X")
    driver.fail("X")
    driver.fail("W")
    assert (driver.running, driver.probing) == (["X"], [])


def test_commands_are_not_probed() -> None:
    others = (atom("X", or_group="g", run="make x"), atom("Y", or_group="g", run="make y"))
    driver = begun(cheap(a_loop(atom("W", or_group="g"), *others)), max_attempts=1)
    driver.fail("W")
    assert (driver.running, driver.probing) == (["X"], [])


def test_when_what_is_built_on_a_choice_fails_its_successor_is_probed_where_that_pays() -> None:
    loop = cheap(a_loop(*(atom(one, or_group="g") for one in "WXY"), atom("A1", "W")))
    driver = begun(loop, max_attempts=1)
    driver.resolve("W")
    driver.impatient("A1")
    driver.fail("A1")
    driver.reverted()
    assert driver.probing == ["X"]


def test_a_part_may_ask_for_a_probe() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.propose("A1", Child(description="first", probe=True), Child(description="second"))
    assert (driver.running, driver.probing) == (["A2", "A3"], ["A2"])


def test_a_correction_while_a_choice_is_probed_probes_it_again() -> None:
    driver = begun(cheap(four_ways()), max_attempts=1)
    driver.fail("W")
    driver.told(ConstraintsCorrected(constraints=Constraints(), description="as it was", at=NOON))
    assert driver.cancelled() == ["X"]
    assert driver.probing == ["X"]
