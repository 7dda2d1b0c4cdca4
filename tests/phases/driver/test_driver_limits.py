"""Turns, rounds and money are bounded; what a limit forces is on record, what it may not force stops the feature."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

from tests.app.ship.features import ENOUGH, PLAN, PLAN_FILE, TEST_FILE, TESTS, a_feature, at, made, orders
from tests.runner.agents import Order, fails


def costing(order: Order, usd: float) -> Order:
    usage: dict[str, Any] = {"cost_usd": usd, "input": 10, "output": 1, "cache_read": 0, "cache_write": 0, "turns": 1}
    return {**order, "answer": {**order["answer"], "usage": usage}}


def test_a_phase_at_its_limit_stops_and_is_left_by_the_word_of_a_person_on_record(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[fails("nothing was learnt")]))
    at(feature, "compound", max_phase_iterations=2)
    assert feature.ship().code == 5
    assert (feature.asked("compound"), feature.forced()) == (2, [])
    assert feature.aot("ship", "advance", "--reason", "nothing to learn").code == 0
    ran = feature.ship()
    assert ran.code == 8, ran.out + ran.err
    assert (ran.news[-1]["forced"], ran.kinds("ship_ended")[-1]["forced_phases"]) == (["compound"], ["compound"])
    (forced,) = [one for one in feature.loop.errors if one.forced]
    assert (forced.phase, forced.message) == ("compound", "left by force: a person: nothing to learn")
    assert "compound" not in feature.loop.phases_completed
    assert "left by force" in feature.aot("ship", "status").out


def test_nothing_forces_it_past_the_acceptance_tests_and_more_turns_let_it_go_on(tmp_path: Path) -> None:
    green = made({TEST_FILE: "true\n"})
    feature = a_feature(tmp_path, orders(spec_test=[green, green, made({TEST_FILE: TESTS})]))
    at(feature, "spec_test", max_phase_iterations=2, skip_test_review=False)
    ran = feature.ship()
    assert (ran.code, feature.loop.status) == (5, "stopped"), ran.out + ran.err
    assert (feature.loop.stop_reason or "").startswith("limit: spec_test")
    assert ran.news[-1]["next"][0] == "aot ship"  # the phase gets its turns anew
    assert "have to run and fail" in feature.refusals()[-1][1]
    assert feature.forced() == []
    again = feature.ship("--max-phase-iterations", "5")
    assert (again.code, feature.loop.status) == (6, "waiting"), again.out + again.err
    assert feature.loop.max_phase_iterations == 5


def test_all_turns_together_are_bounded(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[fails("one"), made({PLAN_FILE: PLAN})], spec_test=ENOUGH))
    ran = feature.ship("a feature", "--skip-brainstorm", "--max-iterations", "2")
    assert ran.code == 5, ran.out + ran.err
    assert feature.loop.stop_reason == "limit: 2 iterations are used up, in spec_test"
    again = feature.ship()
    assert again.code == 5  # there is none left
    assert "--max-iterations N" in again.err
    assert feature.loop.status == "stopped"


def test_a_budget_is_told_about_and_nothing_more_unless_it_is_enforced(tmp_path: Path) -> None:
    book = orders(
        compound=[costing(fails("dear"), 8.0), costing(made({"docs/solutions/x.md": "x\n"}), 3.0)], test=ENOUGH
    )
    feature = a_feature(tmp_path, book)
    at(feature, "compound", budget_limit_usd=10.0, max_iterations=2)
    ran = feature.ship()
    assert ran.code == 5, ran.out + ran.err
    assert (feature.loop.phase, feature.loop.spent_usd) == ("test", 11.0)
    assert [one["text"] for one in ran.kinds("warning")] == [
        "80% of the budget are spent: 8.00 of 10.00 USD",
        "100% of the budget are spent: 11.00 of 10.00 USD",
    ]


def test_an_enforced_budget_stops_it_and_what_was_paid_for_is_taken_up_with_more(tmp_path: Path) -> None:
    book = orders(compound=[costing(made({"docs/solutions/x.md": "x\n"}, "learnt"), 3.0)], test=ENOUGH)
    feature = a_feature(tmp_path, book)
    at(feature, "compound", max_iterations=1)
    ran = feature.ship("--budget-usd", "2")
    assert (ran.code, feature.loop.phase) == (5, "compound"), ran.out + ran.err
    assert feature.loop.stop_reason == "limit: the budget is spent, 3.00 of 2.00 USD"
    again = feature.ship("--budget-usd", "9")
    assert (again.code, feature.loop.phase) == (5, "test"), again.out + again.err
    assert (feature.asked("compound"), feature.loop.spent_usd) == (1, 3.0)
    assert "learnt" in feature.loop.checkpoints[-1].summary


def test_money_spent_on_the_graph_is_the_features_money(tmp_path: Path) -> None:
    book = orders(
        A1=[costing(made({"feature.txt": "it works\n"}), 1.5)],
        A2=[costing(made({"docs/manual.md": "use it\n"}), 2.0)],
        review=ENOUGH,
    )
    feature = a_feature(tmp_path, book)
    at(feature, "work", max_iterations=1, budget_limit_usd=10.0, enforce_budget=True)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert feature.loop.spent_usd == 3.5


def test_an_enforced_budget_holds_for_the_graph_too(tmp_path: Path) -> None:
    book = orders(A1=[costing(made({"feature.txt": "no\n"}), 5.0)], A2=[costing(made({"docs/manual.md": "no\n"}), 5.0)])
    feature = a_feature(tmp_path, book)
    at(feature, "work", budget_limit_usd=4.0, enforce_budget=True)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "work"), ran.out + ran.err
    assert (feature.asked("A2"), feature.loop.spent_usd) == (0, 5.0)
    assert (feature.loop.stop_reason or "").startswith("limit: the budget is spent")


def test_money_counts_also_if_the_journals_are_gone(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[costing(fails(why), 1.0) for why in ("no", "idea", "at", "all")]))
    at(feature, "plan", max_iterations=2)
    assert feature.ship().code == 5
    rmtree(feature.root / ".aot")
    again = feature.ship("--max-iterations", "9", "--budget-usd", "4")
    assert (again.code, feature.loop.spent_usd, feature.asked("plan")) == (5, 4.0, 4), again.out + again.err
