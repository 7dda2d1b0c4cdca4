"""At a terminal a person sees the phases go by, and is asked about the acceptance tests right there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.ship.features import ENOUGH, TEST_FILE, TESTS, a_feature, at, made, orders
from tests.cli.terminal import terminal

OFF = {"AOT_CONFINE": "off"}


def test_a_person_at_the_terminal_refuses_then_agrees_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = orders(spec_test=[made({TEST_FILE: TESTS}), made({TEST_FILE: f"{TESTS}# odd cases\n"})], deepen=ENOUGH)
    feature = a_feature(tmp_path, book)
    at(feature, "spec_test", skip_test_review=False, max_iterations=1)
    monkeypatch.chdir(feature.root)
    with terminal("ship", "--yes", columns=100, environ=OFF) as screen:
        screen.wait_for("approve, refuse, or later?")
        assert f"The command that runs them: sh {TEST_FILE}" in screen.text
        screen.type("r\n")
        screen.wait_for("What is wrong with them?")
        screen.shown = ""
        screen.type("no odd cases\n")
        screen.wait_for("approve, refuse, or later?")
        screen.type("a\n")
        assert screen.end() == 5
    assert "deepen" in screen.text
    assert (feature.loop.phase, feature.asked("spec_test")) == ("deepen", 2)


def test_later_leaves_it_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feature = a_feature(tmp_path)
    at(feature, "spec_test", skip_test_review=False)
    monkeypatch.chdir(feature.root)
    with terminal("ship", "--yes", columns=100, environ=OFF) as screen:
        screen.wait_for("approve, refuse, or later?")
        screen.type("\n")
        assert screen.end() == 6
    assert "aot ship approve" in screen.text
    assert feature.loop.status == "waiting"


def test_the_status_says_where_it_is_what_is_proven_and_what_is_next(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "fix", "- [ ] `feature.txt`: too short\n- [x] a typo\n", skip_brainstorm=True)
    shown = feature.aot("ship", "status")
    assert shown.code == 0
    assert "  - brainstorm  skipped" in shown.out
    assert f"  ✔ spec_test   {TEST_FILE}" in shown.out
    assert "  ▶ fix" in shown.out
    assert "findings: 1 open, 1 resolved, 0 accepted" in shown.out
    assert "✔ acceptance tests pass" in shown.out
    assert "Next: aot ship" in shown.err
    facts = json.loads(feature.aot("ship", "status", "--json").out)
    states = {one["phase"]: one["state"] for one in facts["phases"]}
    assert (states["brainstorm"], states["work"], states["fix"], states["ship"]) == ("skipped", "done", "now", "")
    assert facts["findings"]["open"] == ["`feature.txt`: too short"]


def test_without_a_terminal_the_news_are_plain_lines(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(test=ENOUGH))
    at(feature, "compound", max_iterations=1)
    ran = feature.aot("ship", "--yes")
    assert ran.code == 5, ran.err
    told = [line.partition("  ")[2] for line in ran.out.splitlines()]
    assert told[0] == "in compound on main: a feature"
    assert any(line.startswith("compound: the receipt counts, docs/solutions/feature.md at ") for line in told)
    assert "test: begins" in told
    assert "test: turn 1 of 10 ended, without a receipt that counts" in told
    assert "Next: aot ship --max-iterations MORE" in ran.err
