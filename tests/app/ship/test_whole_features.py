"""A feature goes from idea to shipped: by a graph of its steps or one agent, with failures and findings on the way."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import pytest

from aotloop.core.measure import attempts_allowed
from aotloop.core.phases.model import PHASES
from aotloop.core.policy import turns
from tests.app.ship.features import (
    ENOUGH,
    PLAN_FILE,
    REVIEW_FILE,
    TEST_FILE,
    WITHOUT_ROUNDS,
    a_feature,
    at,
    made,
    orders,
)
from tests.runner.agents import Order, fails

FOUND = "- [ ] `feature.txt`: it does not say why\n- [ ] the manual is too short\n"
RESOLVED = FOUND.replace("[ ]", "[x]")


def test_a_feature_goes_from_idea_to_shipped_step_by_step_of_its_plan(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    ran = feature.ship("a feature", "--skip-test-review")
    assert ran.code == 8, ran.out + ran.err
    loop = feature.loop
    assert (loop.status, loop.phases_completed, loop.errors) == ("completed", WITHOUT_ROUNDS, ())
    assert feature.subjects() == [*WITHOUT_ROUNDS[:4], "A1", "A2", *WITHOUT_ROUNDS[5:]]
    assert feature.titles()[3:7] == [
        "Refine the plan: a feature",
        "Write `feature.txt`",
        "Write `docs/manual.md`",
        "Review: a feature",
    ]
    assert [one.phase for one in loop.receipts] == list(WITHOUT_ROUNDS)
    assert loop.artifacts.plan_file == PLAN_FILE
    assert (loop.artifacts.acceptance_tests_file, loop.artifacts.branch) == (TEST_FILE, "ship/a-feature")
    assert [one.phase for one in loop.checkpoints] == list(WITHOUT_ROUNDS)
    assert loop.checkpoints[4].summary == "A1: it is done\nA2: it is done"
    assert "promise" not in loop.checkpoints[-1].summary
    graph = feature.graph
    assert graph.objective.protect == (TEST_FILE, "tests/acceptance/**")
    assert [(one.id, one.depends_on, one.touches) for one in graph.atoms] == [
        ("A1", (), ("feature.txt",)),
        ("A2", ("A1",), ("docs/manual.md",)),
    ]
    assert feature.leftovers() == []
    assert feature.ship().code == 8  # it stays shipped, and nothing begins again
    assert feature.asked("ship") == 1


def test_an_agent_is_told_what_came_before_what_failed_and_how_it_is_proven(tmp_path: Path) -> None:
    book = orders(work=[fails("a link cannot be a file"), made({"feature.txt": "it works\n"}, "built")])
    feature = a_feature(tmp_path, {**book, "review": ENOUGH})
    at(feature, "work", no_graph=True, max_iterations=2)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert feature.asked("work") == 2
    first, second = (next((feature.root / ".aot/attempts").glob(f"work-{n}/prompt.md")).read_text() for n in (1, 2))
    assert "deepen was done" in first
    assert PLAN_FILE in first
    assert "- the acceptance tests pass" in first
    assert TEST_FILE in first
    assert "a link cannot be a file" not in first
    assert "a link cannot be a file" in second
    assert "- work: a link cannot be a file" in (feature.root / "docs/progress.md").read_text()
    (work,) = [one for one in feature.loop.checkpoints if one.phase == "work"]
    assert (work.summary, work.failed_approaches) == ("built", ("a link cannot be a file",))


ALIKE = [fails("nobody knows how")]
EACH_IN_ITS_WAY = [fails(f"nobody knows how to do {number}") for number in range(99)]


@pytest.mark.parametrize(
    ("failures", "share", "told"),
    [
        (ALIKE, turns.MOST, "blocked: A1 failed {} times in the same way"),
        (EACH_IN_ITS_WAY, 1, "limit: {0} attempts of the {0} allowed"),
    ],
)
def test_a_graph_that_leads_nowhere_is_left_to_one_agent_who_is_told_so(
    tmp_path: Path, failures: list[Order], share: float, told: str
) -> None:
    """A step that fails alike uses most of what the whole graph may; one that fails in other ways each time, all."""
    feature = a_feature(tmp_path, orders(A1=failures, review=ENOUGH))
    at(feature, "work", max_iterations=2)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    times = ceil(share * attempts_allowed(feature.graph))
    assert (feature.asked("A1"), feature.asked("A2"), feature.asked("work")) == (times, 0, 1)
    prompt = next((feature.root / ".aot/attempts").glob("work-*/prompt.md")).read_text()
    assert f"step by step, it did not get there: {told.format(times)}" in prompt
    assert "nobody knows how" in prompt


def test_findings_are_repaired_one_by_one_marked_and_looked_at_again(tmp_path: Path) -> None:
    book = orders(
        A1=[made({"feature.txt": "it works\n", "why.txt": "because\n"})],
        A2=[made({"docs/manual.md": "use it so and so\n"})],
        A3=[made({REVIEW_FILE: RESOLVED})],
        re_review=[made({REVIEW_FILE: RESOLVED + "\nAll was looked at.\n"})],
    )
    feature = a_feature(tmp_path, {**book, "compound": ENOUGH})
    at(feature, "fix", FOUND, max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "compound"), ran.out + ran.err
    assert set(feature.loop.phases_completed) == set(PHASES[:8])
    assert sorted(feature.titles()[-4:-2]) == [
        "Fix: `feature.txt`: it does not say why",
        "Fix: the manual is too short",
    ]
    assert feature.titles()[-2] == "Mark what became of the findings"
    subjects = feature.subjects()[-4:]
    assert (set(subjects[:2]), subjects[2:]) == ({"A1", "A2"}, ["A3", "re_review"])
    prompt = next((feature.root / ".aot/attempts").glob("A2-*/prompt.md")).read_text()
    assert "the manual is too short" in prompt
    assert "it does not say why" not in prompt


def test_rounds_of_fixing_are_bounded_and_what_is_open_then_is_on_record(tmp_path: Path) -> None:
    still = [made({REVIEW_FILE: f"{RESOLVED}- [ ] number {n}\n"}) for n in range(1, 4)]
    mended = [made({REVIEW_FILE: RESOLVED + f"- [x] number {n}\n"}) for n in range(3)]
    feature = a_feature(tmp_path, orders(fix=mended, re_review=still, compound=ENOUGH))
    at(feature, "fix", FOUND, no_graph=True, max_fix_cycles=2, max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "re_review"), ran.out + ran.err
    assert (feature.asked("fix"), feature.asked("re_review"), feature.loop.fix_review_cycles) == (2, 2, 2)
    assert feature.forced() == []
    assert "re_review" not in feature.loop.phases_completed


def test_a_branch_is_made_for_a_feature_if_it_is_named(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    ran = feature.ship("a feature", "--branch", "login", "--skip-brainstorm")
    assert ran.code == 6, ran.out + ran.err
    assert feature.loop.artifacts.branch == "login"
    assert feature.git("log", "--format=%s", "main") == "the beginning"
    assert feature.subjects() == ["plan", "spec_test"]
    feature.git("switch", "--quiet", "main")
    assert feature.aot("ship", "approve").code == 1  # the tests are not there
