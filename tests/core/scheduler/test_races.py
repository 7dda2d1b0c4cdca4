"""A speculative group races: all untried choices at once; the first whose result is merged wins."""

from __future__ import annotations

from aotloop.core.events import ChoiceForced
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from tests.core.scheduler.driving import NOON, begun, contents, speculative
from tests.loops import a_loop, atom


def three_racers() -> Loop:
    return speculative(a_loop(*(atom(one, or_group="g") for one in "XYZ"), atom("A1", "X")), "g")


def test_all_untried_choices_start_at_once() -> None:
    assert begun(three_racers()).running == ["X", "Y", "Z"]


def test_the_first_that_is_merged_wins_and_the_others_are_cancelled() -> None:
    driver = begun(three_racers())
    driver.resolve("Y")
    assert driver.cancelled() == ["X", "Z"]
    assert (driver.group("g").selected, driver.group("g").failed) == ("Y", ())
    assert driver.running == ["A1"]
    assert [driver.status(one) for one in "XYZ"] == ["pending", "resolved", "pending"]


def test_who_is_done_first_has_not_won_before_being_merged() -> None:
    driver = begun(three_racers())
    driver.done("X")
    driver.done("Y")
    assert (driver.merging, driver.cancelled()) == ("X", [])
    driver.refuse()
    assert driver.merging == "Y"
    driver.merge()
    assert driver.group("g").selected == "Y"
    assert sorted(driver.cancelled()) == ["X", "Z"]


def test_a_racer_that_is_done_but_too_late_is_not_merged() -> None:
    driver = begun(three_racers())
    driver.done("X")
    driver.done("Y")
    driver.merge()
    assert sorted(driver.cancelled()) == ["Y", "Z"]
    assert (driver.merging, driver.group("g").selected) == (None, "X")


def test_late_reports_of_those_who_lost_change_nothing() -> None:
    driver = begun(three_racers())
    late = driver.number("X")
    driver.resolve("Y")
    before = contents(driver.loop)
    assert driver.tell(reports.WorkDone(attempt=late, summary="late", at=NOON)) == []
    assert driver.tell(reports.WorkFailed(attempt=late, reason="killed", at=NOON)) == []
    assert contents(driver.loop) == before


def test_a_racer_that_fails_leaves_the_others_running() -> None:
    driver = begun(three_racers(), max_attempts=1)
    driver.fail("X")
    assert driver.running == ["Y", "Z"]
    assert (driver.group("g").selected, driver.group("g").failed) == ("Y", ("X",))
    driver.resolve("Z")
    assert driver.group("g").selected == "Z"


def test_what_only_those_who_lost_depend_on_is_not_worked_on_any_more() -> None:
    loop = a_loop(atom("B"), atom("X", "B", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"))
    driver = begun(speculative(loop, "g"))
    assert driver.running == ["B", "Y"]
    driver.resolve("Y")
    assert (driver.cancelled(), driver.running) == (["B"], ["A1"])


def test_racers_are_not_probed_when_one_of_them_fails() -> None:
    driver = begun(three_racers(), max_attempts=1)
    driver.fail("X")
    assert driver.probing == []


def test_when_racers_have_failed_for_longer_than_bad_luck_explains_an_earlier_choice_is_left() -> None:
    loop = a_loop(
        atom("A", or_group="a"),
        atom("B", or_group="a"),
        atom("X", "A", or_group="g"),
        atom("Y", "A", or_group="g"),
    )
    driver = begun(speculative(loop, "g"), max_attempts=1)
    driver.resolve("A")
    driver.fail("Y")
    driver.impatient("X")
    driver.fail("X")
    assert (driver.group("a").selected, list(driver.group("a").blamed)) == ("B", ["A"])


def test_when_all_racers_have_failed_they_race_again() -> None:
    driver = begun(three_racers(), max_attempts=1)
    for racer in "ZYX":
        driver.fail(racer)
    assert driver.group("g").round == 1
    assert driver.finished is None
    raced = set()
    for _ in range(9):
        raced.update(driver.running)
        driver.fail(driver.running[0])
    assert raced == {"X", "Y", "Z"}


def test_with_fewer_slots_than_racers_the_next_one_starts_when_a_slot_is_free() -> None:
    driver = begun(three_racers(), max_attempts=1, max_parallel_agents=2)
    assert driver.running == ["X", "Y"]
    driver.fail("Y")
    assert driver.running == ["X", "Z"]


def test_when_what_is_built_on_the_winner_fails_the_others_race_again() -> None:
    driver = begun(three_racers(), max_attempts=1)
    driver.resolve("X")
    driver.impatient("A1")
    driver.fail("A1")
    assert driver.reverting == [("X",)]
    driver.reverted()
    assert driver.running == ["Y", "Z"]


def raced_on_a_choice() -> Loop:
    """P or Q, on that a race of X and Y, on that A1."""
    loop = a_loop(
        *(atom(one, or_group="h") for one in "PQ"), *(atom(one, "P", or_group="g") for one in "XY"), atom("A1", "X")
    )
    return speculative(loop, "g")


def test_a_race_that_was_won_is_not_run_again_when_its_ground_changes() -> None:
    driver = begun(raced_on_a_choice(), max_attempts=1, max_stall_count=9)
    for one in "PY":
        driver.resolve(one)
    assert driver.group("g").won == "Y"
    driver.told(ChoiceForced(or_group="h", choice="Q", description="better", at=NOON))
    driver.reverted()
    driver.resolve("Q")
    assert driver.running == ["Y"]


def test_when_the_winner_is_given_up_the_others_race() -> None:
    driver = begun(three_racers(), max_attempts=1, max_stall_count=9)
    driver.resolve("Y")
    driver.impatient("A1")
    driver.fail("A1")
    driver.reverted()
    assert driver.group("g").won is None
    assert driver.running == ["X", "Z"]
