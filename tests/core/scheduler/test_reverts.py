"""What was built on a choice that is given up is taken back before anything else happens to the branch."""

from __future__ import annotations

from aotloop.core.model import AtomCheck, Decomposition
from tests.core.scheduler.driving import begun
from tests.loops import a_loop, atom


def test_what_was_given_up_is_taken_back_exactly() -> None:
    loop = a_loop(
        atom("X", or_group="g"),
        atom("Y", or_group="g"),
        atom("A1", "X"),
        atom("A2", "A1"),
        atom("A3"),
        atom("A4", "A1"),
    )
    driver = begun(loop, max_attempts=1)
    driver.resolve("X", "A3", "A1", "A4")
    driver.impatient("A2")
    driver.fail("A2")
    assert driver.reverting == [("A1", "A4", "X")]
    assert driver.status("A3") == "resolved"


def test_nothing_is_taken_back_if_nothing_had_been_merged() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g")), max_attempts=1)
    driver.fail("X")
    assert (driver.reverting, driver.running) == ([], ["Y"])


def test_nothing_starts_or_merges_or_is_verified_before_all_is_taken_back() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"), atom("A2"), atom("A3"))
    driver = begun(loop, max_attempts=1, max_parallel_agents=2, verify_each_iteration=True)
    driver.resolve("X")
    driver.impatient("A1")
    driver.fail("A1")
    assert (driver.reverting, driver.running) == ([("X",)], ["A2"])
    driver.done("A2")
    assert (driver.merging, driver.verifying, driver.running) == (None, None, [])
    driver.reverted()
    assert driver.merging == "A2"
    assert driver.running == ["Y"]


def test_two_reverts_are_both_waited_for() -> None:
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"),
        atom("V", or_group="h"), atom("W", or_group="h"), atom("A2", "V"),
    )  # fmt: skip
    driver = begun(loop, max_attempts=1)
    driver.resolve("X", "V")
    driver.impatient("A1")
    driver.fail("A1")
    driver.impatient("A2")
    driver.fail("A2")
    assert driver.running == []
    driver.reverted()
    assert driver.running == []
    driver.reverted()
    assert driver.running == ["Y", "W"]


def test_nothing_is_taken_back_while_something_is_merged() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"), atom("A2"))
    driver = begun(loop, max_attempts=1)
    driver.resolve("X")
    driver.done("A2")
    driver.impatient("A1")
    driver.fail("A1")
    assert (driver.merging, driver.reverting) == ("A2", [])
    driver.merge()
    assert driver.reverting == [("X",)]


def test_nothing_is_taken_back_while_the_base_case_is_tried() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"))
    driver = begun(loop, max_attempts=1, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("X")
    assert driver.verifying is not None
    driver.impatient("A1")
    driver.fail("A1")
    if driver.verifying is not None:  # it is waited for, or called off
        driver.verdict({"tests": "red"})
    assert driver.reverting == [("X",)]


def test_nothing_is_taken_back_while_a_parent_is_checked() -> None:
    passes = AtomCheck(type="command", value="true")
    driver = begun(
        a_loop(
            atom("X", or_group="g"),
            atom("Y", or_group="g"),
            atom("A1", "X"),
            atom("P", check=passes),
            atom("C"),
            decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
        ),
        max_attempts=1,
    )
    driver.resolve("X", "C")
    driver.impatient("A1")
    driver.fail("A1")
    assert (driver.checking, driver.reverting) == (["P"], [])
    driver.check_parent("P")
    assert driver.reverting == [("X",)]


def test_what_cannot_be_taken_back_stops_the_run_as_blocked() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X")), max_attempts=1)
    driver.resolve("X")
    driver.impatient("A1")
    driver.fail("A1")
    driver.reverted("conflict in src/a.py")
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.reason == "blocked: what was given up cannot be taken back: conflict in src/a.py"


def test_work_on_what_was_reset_is_cancelled() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"), atom("A2", "X"), atom("A3"))
    driver = begun(loop, max_attempts=1)
    driver.resolve("X")
    assert driver.running == ["A3", "A1", "A2"]
    driver.impatient("A1")
    driver.fail("A1")
    assert (driver.cancelled(), driver.running) == (["A2"], ["A3"])


def test_work_on_what_is_no_longer_required_is_cancelled() -> None:
    loop = a_loop(atom("B"), atom("X", or_group="g"), atom("Y", or_group="g"), atom("Q", "X"))
    driver = begun(loop, max_attempts=1)
    driver.propose("X", "one", "two")
    assert driver.running == ["B", "A1", "A2"]
    driver.impatient("A1")
    driver.fail("A1")
    assert (driver.cancelled(), driver.running) == (["A2"], ["B", "Y"])
