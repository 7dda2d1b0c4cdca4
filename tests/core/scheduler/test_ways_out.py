"""Ways out that are easily overlooked: around a failure, inside of a whole, after an order has changed."""

from __future__ import annotations

from aotloop.core.effects import CancelAttempt, CancelCheck, CheckParent
from aotloop.core.events import RedirectRequested, ScopeReduced
from aotloop.core.model import Atom, Decomposition, OrGroup
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.outcomes import MOST_WAITS
from tests.core.generated import PASSES
from tests.core.scheduler.driving import NOON, Driver, begun
from tests.loops import a_loop, atom


def test_what_only_one_choice_needs_is_avoided_though_others_need_the_group() -> None:
    loop = a_loop(atom("x"), atom("c1", "x", or_group="G"), atom("c2", or_group="G"), atom("y", "c1"))
    driver = begun(loop, max_attempts=1)
    driver.impatient("x")
    driver.fail("x")
    assert driver.running == ["c2"]


def test_a_way_around_that_was_given_up_is_opened_again() -> None:
    loop = a_loop(
        atom("f1", or_group="F"), atom("f2", or_group="F"), atom("x"),
        atom("c2", "f1", or_group="G"), atom("c1", "x", or_group="G"),
    )  # fmt: skip
    driver = begun(loop, max_attempts=1, max_stall_count=9, overriding={"max_parallel_agents": 1})
    driver.resolve("f1")
    driver.fail("c2")
    assert driver.running == ["x"]
    driver.impatient("x")
    driver.fail("x")
    driver.reverted()
    assert (driver.group("F").selected, driver.group("G").blamed) == ("f2", {}), "c2 may go together with f2"
    driver.fail("x")
    assert (driver.group("G").selected, driver.running) == ("c2", ["f2"])
    driver.resolve("f2")
    assert driver.running == ["c2"]


def test_the_repair_of_a_whole_rests_on_the_choices_inside_of_it() -> None:
    loop = a_loop(
        atom("P", check=PASSES), atom("n1", or_group="N"), atom("n2", or_group="N"),
        decompositions=[Decomposition(parent="P", children=("n1", "n2"), reason="parts")],
    )  # fmt: skip
    driver = begun(loop, max_attempts=2, max_stall_count=9)
    driver.resolve("n1")
    driver.check_parent("P", "they do not fit")
    driver.worn_out("A1")
    driver.fail("A1")
    driver.reverted()
    assert driver.running == ["n2"]


def test_a_whole_is_not_reset_through_a_choice_that_nobody_took() -> None:
    loop = a_loop(
        atom("f1", or_group="F"), atom("f2", or_group="F"), atom("n2", or_group="N"), atom("n1", "f1", or_group="N"),
        atom("P"), atom("y", "f1"),
        decompositions=[Decomposition(parent="P", children=("n2",), reason="parts")],
    )  # fmt: skip
    driver = begun(loop, max_attempts=1, max_stall_count=9)
    driver.resolve("f1", "n2")
    driver.impatient("y")
    driver.fail("y")
    driver.reverted()
    assert (driver.status("P"), driver.running) == ("resolved", ["f2"])


def test_taking_a_choice_out_selects_one_that_was_not_given_up() -> None:
    group = OrGroup(choices=("A1", "A2", "A3"), selected="A2", blamed={"A1": ()})
    loop = a_loop(*(atom(one, or_group="g") for one in ("A1", "A2", "A3")), or_groups={"g": group})
    driver = begun(loop)
    driver.told(RedirectRequested())
    driver.told(ScopeReduced(atom="A2", description="not that", at=NOON))
    assert driver.running == ["A3"]


def test_only_waits_in_a_row_count() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=3, max_stall_count=9, max_iterations=99)
    for _ in range(2):
        for _ in range(MOST_WAITS):
            driver.wait("A1")
            driver.wait_over("A1")
        driver.fail("A1")
    assert driver.running == ["A1"]


def test_a_worker_that_answers_as_a_probe_has_failed() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1)
    driver.tell(reports.ProbeReturned(attempt=1, feasible=True, findings="yes", at=NOON))
    assert (driver.atom("A1").failures, driver.loop.trail[-1].reason) == (1, "it answered as a probe would: yes")


def test_the_check_of_a_whole_ends_with_a_redirect_and_is_asked_for_once_after_it() -> None:
    loop = a_loop(
        atom("P", check=PASSES), atom("C"), atom("D"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    driver = begun(loop, max_parallel_agents=1)
    driver.resolve("C")
    driver.told(RedirectRequested())
    assert driver.all(CancelCheck) == [CancelCheck(atom="P")]
    before = len(driver.all(CheckParent))
    driver.told(ScopeReduced(atom="D", description="not needed", at=NOON))
    assert len(driver.all(CheckParent)) == before + 1


def test_an_atom_that_nobody_can_do_here_waits_for_a_person_while_the_others_go_on() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.wait("A1", "there is no program agent", for_good=True)
    assert (driver.status("A1"), driver.atom("A1").attempts, driver.running) == ("pending", 0, ["A2"])
    driver.resolve("A2")
    driver.verdict({"tests": "red"})
    assert driver.finished is not None
    assert driver.finished.reason == "blocked: A1: there is no program agent"


def test_a_run_that_cannot_go_on_ends_at_once_and_keeps_what_it_has() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.done("A1")
    effects = driver.tell(reports.Halted(at=NOON, reason="blocked: the objective was changed"))
    assert {(one.atom, one.discard) for one in effects if isinstance(one, CancelAttempt)} == {
        ("A1", False),
        ("A2", False),
    }
    assert driver.loop.control.stop_reason == "blocked: the objective was changed"
    assert (driver.loop.control.status, driver.status("A1"), driver.status("A2")) == ("stopped", "pending", "pending")


def repair_of_commands(*others: Atom) -> Driver:
    """X was done by a command, and the base case fails: A1 is a repair, which only an agent can do."""
    driver = begun(a_loop(atom("X", or_group="g", run="make"), atom("Y", or_group="g", run="ninja"), *others))
    for one in list(driver.running):
        driver.resolve(one)
    driver.verdict({"tests": "red"})
    assert driver.running == ["A1"]
    return driver


def test_where_no_agent_can_repair_what_commands_did_another_choice_is_taken() -> None:
    driver = repair_of_commands()
    driver.wait("A1", "there is no program agent", for_good=True)
    assert (driver.group("g").selected, driver.reverting) == ("Y", [("X",)])


def test_once_every_choice_was_taken_without_an_agent_a_person_is_told_what_is_missing() -> None:
    driver = repair_of_commands()
    driver.wait("A1", "there is no program agent", for_good=True)
    driver.reverted()
    driver.resolve("Y")
    driver.verdict({"tests": "red"})
    driver.wait("A1", "there is no program agent", for_good=True)
    assert (driver.group("g").selected, driver.group("g").round) == ("Y", 0)
    driver.verdict({"tests": "red"})
    assert driver.finished is not None
    assert driver.finished.reason == "blocked: A1: there is no program agent"


def test_a_repair_that_only_has_to_wait_waits() -> None:
    driver = repair_of_commands()
    driver.wait("A1", "rate limit")
    assert (driver.group("g").selected, list(driver.run.waiting)) == ("X", ["A1"])


def test_beside_atoms_that_agents_do_a_repair_waits_for_a_person() -> None:
    driver = repair_of_commands(atom("B"))
    driver.wait("A1", "there is no program agent", for_good=True)
    assert (driver.group("g").selected, list(driver.run.stuck)) == ("X", ["A1"])
