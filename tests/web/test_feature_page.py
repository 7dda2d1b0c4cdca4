"""A feature of `aot ship` in a real browser: its steps, their receipts, and the decisions that are a person's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.phases.receipts import file_receipt
from tests.app.ship.features import TEST_FILE, TESTS, Feature, a_feature, at, orders
from tests.patience import PATIENCE, until
from tests.web.browser import HOW_TO_GET_ONE, audit, in_thread, open_loop, program, seen

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]


def waiting(feature: Feature) -> Feature:
    """Its acceptance tests wait for a person."""
    ground = at(feature, "spec_test", skip_test_review=False)
    sha = feature.commit({TEST_FILE: TESTS})
    assert not file_receipt(ground, artifact=TEST_FILE, sha=sha, summary="one test").reasons
    assert feature.loop.status == "waiting"
    return feature


def phase(page: Any, name: str) -> Any:
    return page.locator(".phase", has=page.get_by_text(name, exact=True))


def test_a_person_reads_and_approves_the_acceptance_tests_of_a_real_run(page: Any, tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "spec_test", skip_test_review=False)
    assert feature.ship().code == 6
    with in_thread() as link:
        open_loop(page, link)
        seen(page, "Needs you: approve or refuse the acceptance tests")
        receipt = phase(page, "plan").locator(".receipt").first
        assert "docs/plans/feature.md at " in receipt.inner_text()
        problems = audit(page, "feature")
        page.get_by_role("button", name="Read the acceptance tests").click()
        assert problems + audit(page, "the acceptance tests") == []
        assert page.locator("dialog pre.long").inner_text().strip() == TESTS.strip()
        assert feature.loop.status == "waiting"
        page.get_by_role("button", name="Approve").click()
        page.locator(".phase-now", has_text="deepen").wait_for()
        assert "verified" in phase(page, "spec test").inner_text()
    assert (feature.loop.phase, feature.loop.status) == ("deepen", "running")


def test_a_person_refuses_the_acceptance_tests_with_a_reason(page: Any, tmp_path: Path) -> None:
    feature = waiting(a_feature(tmp_path))
    with in_thread() as link:
        open_loop(page, link)
        page.get_by_role("button", name="Read the acceptance tests").click()
        page.locator("summary", has_text="Refuse them").click()
        page.get_by_role("button", name="Refuse", exact=True).click()
        seen(page, "say what is wrong with the tests")
        page.get_by_label("What is wrong with them?").fill("an empty file passes")
        page.get_by_role("button", name="Refuse", exact=True).click()
        page.locator(".badge.running").wait_for()
    assert feature.loop.status == "running"
    assert any("an empty file passes" in one.message for one in feature.loop.errors)


def test_a_page_that_may_only_show_offers_no_decision(page: Any, tmp_path: Path) -> None:
    feature = waiting(a_feature(tmp_path))
    with in_thread(read_only=True) as link:
        open_loop(page, link)
        page.locator(".badge.waiting").wait_for()
        assert page.get_by_role("button").all_inner_texts() == ["Log out"]
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "the page is wider than the screen"
    assert feature.loop.status == "waiting"


def test_a_person_stops_a_feature_that_runs(page: Any, tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[{"hang": True, "touch": str(tmp_path / "begun")}]))
    at(feature, "plan")
    with feature.shipping() as run, in_thread() as link:
        until((tmp_path / "begun").exists)
        open_loop(page, link)
        page.locator(".badge.live").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_label("Why").fill("lunch")
        page.locator("dialog").get_by_role("button", name="Stop").click()
        assert run.wait(PATIENCE) == 7
        page.locator(".badge.stopped").wait_for()
    assert feature.loop.stop_reason == "user: lunch"
