"""What an agent claims counts for nothing until it is found to be so; the acceptance tests are nobody's to change."""

from __future__ import annotations

from pathlib import Path

from tests.app.ship.features import (
    ENOUGH,
    PLAN,
    PLAN_FILE,
    REVIEW_FILE,
    SHIPPED,
    TEST_FILE,
    TESTS,
    a_feature,
    at,
    made,
    orders,
)

FORGED = made({"docs/other.md": "something else\n"}, "the plan is written", artifact="docs/plans/grand.md")


def test_a_forged_receipt_sends_the_agent_back_with_the_reason(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[FORGED, made({PLAN_FILE: PLAN})]))
    at(feature, "plan", skip_test_review=False)
    ran = feature.ship()
    assert ran.code == 6, ran.out + ran.err
    ((phase, reason),) = feature.refusals()
    assert phase == "plan"
    assert "docs/plans/grand.md does not exist in the project" in reason
    told = next((feature.root / ".aot/attempts").glob("plan-2/prompt.md")).read_text()
    assert "docs/plans/grand.md does not exist" in told
    assert [one["accepted"] for one in ran.kinds("receipt")][:2] == [False, True]


def test_a_worker_that_changes_the_acceptance_tests_has_done_nothing(tmp_path: Path) -> None:
    cheats = made({"feature.txt": "it does not\n", TEST_FILE: "true\n"})
    feature = a_feature(tmp_path, orders(work=[cheats, made({"feature.txt": "it works\n"})], review=ENOUGH))
    at(feature, "work", no_graph=True, max_iterations=2)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert (feature.root / TEST_FILE).read_text() == TESTS
    assert "work: it changed what was agreed on and is protected" in (feature.root / "docs/progress.md").read_text()
    assert feature.git("log", "--format=%s", "--", TEST_FILE) == "spec_test: by hand"


def test_an_atom_of_the_work_that_changes_them_has_done_nothing_either(tmp_path: Path) -> None:
    cheats = made({"feature.txt": "it does not\n", "tests/acceptance/helper.sh": "exit 0\n"})
    feature = a_feature(tmp_path, orders(A1=[cheats, made({"feature.txt": "it works\n"})], review=ENOUGH))
    at(feature, "work", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "review"), ran.out + ran.err
    assert feature.asked("A1") == 2
    assert not (feature.root / "tests/acceptance/helper.sh").exists()


def test_tests_that_were_changed_by_a_commit_hold_up_every_phase_after_it(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "compound", max_phase_iterations=1)
    feature.commit({TEST_FILE: "true\n"})
    ran = feature.ship("--max-phase-iterations", "1")
    assert ran.code == 5, ran.out + ran.err
    assert feature.forced() == []
    assert (feature.loop.phase, feature.loop.status) == ("compound", "stopped")
    assert all("were changed since spec_test" in reason for _, reason in feature.refusals())


def test_a_promise_in_the_wrong_phase_changes_nothing(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=[made({"docs/solutions/x.md": "learnt\n"}, SHIPPED)], test=ENOUGH))
    at(feature, "compound", max_iterations=1)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "test"), ran.out + ran.err
    (told,) = [one["text"] for one in ran.kinds("warning") if "promise" in one["text"]]
    assert "in ship alone" in told


def test_without_the_promise_nothing_is_shipped_and_the_receipt_need_not_be_filed_again(tmp_path: Path) -> None:
    notes = {"docs/releases/x.md": "new\n"}
    book = orders(ship=[made(notes, "written"), made({}, "<promise>DONE</promise>"), made({}, SHIPPED)])
    feature = a_feature(tmp_path, book)
    at(feature, "ship")
    ran = feature.ship()
    assert ran.code == 8, ran.out + ran.err
    assert ran.news[-1]["skipped"] == ["a person's look at the acceptance tests"]
    assert (feature.asked("ship"), feature.loop.global_iteration) == (3, 2)
    assert len(ran.kinds("receipt")) == 1
    assert [one["text"] for one in ran.kinds("warning")] == [
        "the promise does not count: the promise is 'SHIPPED', word for word"
    ]


def test_a_review_that_changes_more_than_its_document_is_void(tmp_path: Path) -> None:
    meddles = made({REVIEW_FILE: "No findings.\n", "feature.txt": "it works!\n"})
    feature = a_feature(tmp_path, orders(review=[meddles, made({REVIEW_FILE: "No findings.\n"})], compound=ENOUGH))
    at(feature, "review", max_iterations=2)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (5, "compound"), ran.out + ran.err
    assert feature.asked("review") == 2
    assert (feature.root / "feature.txt").read_text() == "it works\n"
    assert "review: it was to look, and to change nothing but" in (feature.root / "docs/progress.md").read_text()


def test_a_log_that_an_agent_made_a_link_leads_nowhere(tmp_path: Path) -> None:
    """What failed is written by us, outside of any confinement."""
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    links = made({"docs/x.md": "x\n"}, artifact="docs/x.md", run=f"ln -s {outside} docs/progress.md")
    feature = a_feature(tmp_path, orders(plan=[made({}, artifact=""), links, made({PLAN_FILE: PLAN})]))
    at(feature, "plan", skip_test_review=False)
    ran = feature.ship()
    assert ran.code == 6, ran.out + ran.err
    assert outside.read_text() == "mine\n"
