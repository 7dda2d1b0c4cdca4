"""Before a run starts, it says what it may take at most: attempts, and dollars as far as they are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.cli.ui.allowance import allowance_in_words, usd_each
from aotloop.core.model import Constraints, Loop, Prices
from tests.loops import a_loop, atom
from tests.runner.agents import ANYBODY, done, scripted
from tests.runner.projects import a_project


def after(limits: dict[str, Any], **control: Any) -> Loop:
    loop = a_loop(atom("A1"), atom("A2"), atom("A3"), atom("A4"), constraints=Constraints(**limits))
    loop.control = replace(loop.control, **control)
    return loop


PRICED = Prices(attempts=10, attempts_usd=1.2)


@pytest.mark.parametrize(
    ("loop", "overriding", "told"),
    [
        (after({}), {}, "at most 40 attempts, with no limit of cost (--max-cost sets one)"),
        (after({}), {"effort": "low"}, "at most 16 attempts, with no limit of cost (--max-cost sets one)"),
        (
            after({"max_cost_usd": 5.0}, ran_seconds=77.0),
            {"max_runtime": "3s"},
            "at most 40 attempts, and at most $5.00, and 3s of work (1m 17s are over)",
        ),
        (after({}), {"max_cost_usd": 5.0}, "at most 40 attempts, and at most $5.00"),
        (
            after({}, tried=10, prices=PRICED),
            {"max_total_attempts": 50},
            (
                "at most 40 attempts, with no limit of cost (--max-cost sets one);"
                " about $0.12 each so far, so at most about $4.80"
            ),
        ),
        (
            after({"max_cost_usd": 20.0}, tried=10, cost_usd=1.0, prices=PRICED),
            {},
            (
                "at most 30 attempts, and at most $19.00 ($1.00 of $20.00 are spent);"
                " about $0.12 each so far, so at most about $3.60"
            ),
        ),
        (
            after({"max_cost_usd": 2.0}, tried=4, cost_usd=1.0),
            {},
            (
                "at most 36 attempts, and at most $1.00 ($1.00 of $2.00 are spent);"
                " about $0.25 each so far, so the money is enough for about 4"
            ),
        ),
        (after({"max_total_attempts": 1}), {}, "at most 1 attempt, with no limit of cost (--max-cost sets one)"),
    ],
)
def test_attempts_and_dollars_are_told_as_far_as_they_are_known(
    loop: Loop, overriding: dict[str, Any], told: str
) -> None:
    assert allowance_in_words(loop, overriding) == told


def test_commands_cost_nothing() -> None:
    assert allowance_in_words(a_loop(atom("A1", run="make")), {}) == "at most 10 attempts"


def test_what_an_attempt_costs_is_known_by_its_own_price_else_by_all_that_was_spent() -> None:
    assert usd_each(after({}).control) is None
    assert usd_each(after({}, tried=4).control) is None
    assert usd_each(after({}, tried=4, cost_usd=2.0).control) == 0.5
    assert usd_each(after({}, tried=4, cost_usd=2.0, prices=PRICED).control) == 0.12


def test_a_run_says_it_before_anything_else_and_as_json_it_is_in_the_first_news(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1"), base_case="test -f nothing", config=scripted(tmp_path, {ANYBODY: [done()]})
    )
    ran = project.aot("run", "--yes", "--max-total-attempts", "2", "--max-cost", "3")
    assert ran.code == 5
    assert ran.err.startswith("at most 2 attempts, and at most $3.00\n")
    ran = project.aot("run", "--yes", "--json", "--max-total-attempts", "4")
    began = ran.news[0]
    assert (began["kind"], began["attempts_at_most"]) == ("run_began", 2)
    assert began["overriding"] == {"max_total_attempts": 4}
    assert "at most" not in ran.err
