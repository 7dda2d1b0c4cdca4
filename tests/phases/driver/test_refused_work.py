"""The branch has commits for receipts that count, and no others; refused work is what the next turn begins with."""

from __future__ import annotations

from pathlib import Path

from tests.app.ship.features import ENOUGH, PLAN, PLAN_FILE, TEST_FILE, TESTS, Feature, a_feature, at, made, orders
from tests.runner.agents import Order, fails

WRONG: Order = made({"docs/other.md": "no plan\n"}, artifact="docs/other.md")


def a_plan(tmp_path: Path, *turns: Order) -> Feature:
    feature = a_feature(tmp_path, orders(plan=list(turns)))
    at(feature, "plan", skip_test_review=False, max_phase_iterations=len(turns))
    return feature


def test_a_refused_turn_leaves_no_commit_and_its_work_is_in_the_one_that_counts(tmp_path: Path) -> None:
    half = made({"half.txt": "half\n"})
    rest = made({"feature.txt": "it works\n"}, append={"half.txt": "more\n"})
    feature = a_feature(tmp_path, orders(work=[half, fails("no idea"), rest], review=ENOUGH))
    at(feature, "work", no_graph=True, max_iterations=3)
    ran = feature.ship()
    assert (ran.code, feature.loop.phase, feature.asked("work")) == (5, "review", 3), ran.out + ran.err
    assert feature.titles()[-1] == "Implement: a feature"
    assert feature.subjects().count("work") == 1
    assert (feature.root / "half.txt").read_text() == "half\nmore\n"
    assert [one["problem"] for one in ran.kinds("taken_back")] == [None]
    prompts = [next((feature.root / ".aot/attempts").glob(f"work-{n}/prompt.md")).read_text() for n in (1, 2, 3)]
    assert ["what an earlier turn of this phase left" in prompt for prompt in prompts] == [False, True, True]
    assert feature.git("status", "--porcelain") == "?? .claude/"


def test_the_checkout_is_as_it_was_after_the_last_turn_was_refused_and_a_persons_files_stay(tmp_path: Path) -> None:
    feature = a_plan(tmp_path, WRONG)
    (feature.root / "notes.txt").write_text("mine\n")
    before = feature.git("rev-parse", "HEAD")
    ran = feature.ship("--allow-dirty")
    assert ran.code == 5, ran.out + ran.err
    assert feature.git("rev-parse", "HEAD") == before
    assert not (feature.root / "docs/other.md").exists()
    assert feature.git("status", "--porcelain") == "?? .claude/\n?? notes.txt"
    assert (feature.root / "notes.txt").read_text() == "mine\n"


def test_a_commit_of_a_person_on_top_of_it_keeps_refused_work_on_the_branch(tmp_path: Path) -> None:
    """The acceptance tests of the receipt commit something, as a person may while they run."""
    feature = a_feature(tmp_path, orders(work=[made({"half.txt": "half\n"})]))
    feature.commit({".gitignore": ".aot/\n.claude/\n"})
    at(feature, "work", no_graph=True, max_phase_iterations=1)
    hook = f"git -C {feature.root} commit --quiet --allow-empty --message=mine; false"
    feature.commit({"aot.toml": (feature.root / "aot.toml").read_text() + f'\n[ship]\ntest_command = "{hook} #"\n'})
    ran = feature.ship()
    assert ran.code == 5, ran.out + ran.err
    assert feature.titles()[-2:] == ["Implement: a feature", "mine"]
    (told,) = ran.kinds("taken_back")
    assert told["problem"] == "something was committed on top of it"


def test_pushed_work_is_not_taken_from_under_others(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(work=[made({"half.txt": "half\n"})]))
    at(feature, "work", no_graph=True, max_phase_iterations=1)
    push = f"git -C {feature.root} update-ref refs/remotes/origin/main HEAD; false"
    feature.commit({"aot.toml": (feature.root / "aot.toml").read_text() + f'\n[ship]\ntest_command = "{push} #"\n'})
    ran = feature.ship()
    assert ran.code == 5, ran.out + ran.err
    (told,) = ran.kinds("taken_back")
    assert "was pushed to a remote repository" in told["problem"]
    assert feature.titles()[-1] == "Implement: a feature"


def test_tests_that_a_person_refuses_leave_the_branch_and_are_rewritten_there(tmp_path: Path) -> None:
    again = made({}, artifact=TEST_FILE, append={TEST_FILE: "# better\n"})
    feature = a_feature(tmp_path, orders(spec_test=[made({TEST_FILE: TESTS}), again]))
    at(feature, "spec_test", skip_test_review=False)
    before = feature.git("rev-parse", "HEAD")
    assert feature.ship().code == 6
    assert feature.aot("ship", "approve", "--refuse", "say what is better").code == 0
    assert feature.git("rev-parse", "HEAD") == before
    ran = feature.ship()
    assert (ran.code, feature.loop.status) == (6, "waiting"), ran.out + ran.err
    assert feature.subjects().count("spec_test") == 1
    assert (feature.root / TEST_FILE).read_text() == f"{TESTS}# better\n"


def test_the_same_failure_is_paid_three_times_and_not_thirty(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[WRONG]))
    at(feature, "plan")
    ran = feature.ship()
    assert (ran.code, feature.asked("plan")) == (6, 3), ran.out + ran.err
    reason = feature.loop.stop_reason or ""
    assert reason.startswith("blocked: plan failed 3 times in the same way")
    assert reason.endswith("; remove the cause, then `aot ship` tries again")
    assert feature.aot("ship", "status").out.count("✘ ") == 1
    assert feature.ship().code == 6
    assert feature.asked("plan") == 4  # going on is a word of a person; it pays for one more
    assert "plan" not in feature.subjects()


def test_good_work_after_bad_counts(tmp_path: Path) -> None:
    feature = a_plan(tmp_path, WRONG, made({PLAN_FILE: PLAN}))
    ran = feature.ship()
    assert (ran.code, feature.loop.phase) == (6, "spec_test"), ran.out + ran.err
    assert feature.subjects()[-2:] == ["plan", "spec_test"]
