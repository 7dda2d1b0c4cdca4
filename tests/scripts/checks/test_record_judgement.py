"""record_judgement: scores and words are taken on a judge's conditions, graded by us, and count for these files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.core.model import BaseCase, Check, ChecklistItem, Criterion
from tests.git.checkouts import make_checkout, save
from tests.loops import a_loop, atom, write_loop
from tests.scripts.calling import call
from tests.scripts.repositories import state

RUBRIC = (Criterion(criterion="Clarity", weight=0.75), Criterion(criterion="Brevity", weight=0.25))
QUALITY = ChecklistItem(item="Good guide", check=Check(type="quality", rubric=RUBRIC, pass_threshold=3.5))
ASSERTION = ChecklistItem(item="Looks right", check=Check(type="assertion", value="nothing overlaps"))
PLACE = ("--evidence", "a.txt:1 says so")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_checkout(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def judged(project: Path, *items: ChecklistItem) -> Path:
    return write_loop(project, a_loop(atom("A1", status="resolved"), base_case=BaseCase(checklist=items)))


def scored(code: int = 0, /, **scores: object) -> dict[str, object]:
    return call("record_judgement", "--item", "Good guide", "--scores", json.dumps(scores), *PLACE, code=code)


def test_scores_are_weighed_by_us_and_the_next_verification_counts_them(project: Path) -> None:
    judged(project, QUALITY)
    assert call("verify_checklist", code=1)["undecided"] is True
    told = scored(Clarity=4, Brevity=3)
    assert (told["passed"], told["mean"]) == (True, 3.75)
    report = call("verify_checklist")
    assert (report["passed"], report["skipped"]) == (True, [])
    assert report["checklist"][0]["scores"] == {"Clarity": 4.0, "Brevity": 3.0}
    verdict = state(project).control.verdict
    assert verdict is not None
    assert (verdict.passed, verdict.scores) == (True, {"Good guide": {"Clarity": 4.0, "Brevity": 3.0}})
    assert call("set_status", "completed")["success"] is True


def test_scores_below_the_threshold_fail_the_item(project: Path) -> None:
    judged(project, QUALITY)
    assert scored(Clarity=2, Brevity=5)["passed"] is False
    report = call("verify_checklist", code=1)
    assert (report["undecided"], report["checklist"][0]["passed"]) == (False, False)
    assert "2.75 of 5, needs 3.5" in report["checklist"][0]["evidence"]


def test_scores_are_in_the_verdict_that_is_there(project: Path) -> None:
    judged(project, QUALITY)
    call("verify_checklist", code=1)
    scored(Clarity=2, Brevity=5)
    verdict = state(project).control.verdict
    assert verdict is not None
    assert (verdict.passed, verdict.undecided) == (False, True)
    assert verdict.scores == {"Good guide": {"Clarity": 2.0, "Brevity": 5.0}}


@pytest.mark.parametrize(
    "scores", [{"Clarity": 4}, {"Clarity": 4, "Brevity": 6}, {"Clarity": 0, "Brevity": 3}, {}, {"Clarity": 4, "X": 3}]
)
def test_missing_scores_and_scores_off_the_scale_decide_nothing(project: Path, scores: dict[str, int]) -> None:
    judged(project, QUALITY)
    told = scored(1, **scores)
    assert (told["success"], told["undecided"], told["passed"]) == (False, True, None)
    assert call("verify_checklist", code=1)["undecided"] is True


def test_a_score_without_a_place_that_is_there_counts_for_nothing(project: Path) -> None:
    judged(project, QUALITY)
    words = ("--item", "Good guide", "--scores", '{"Clarity": 5, "Brevity": 5}')
    for evidence in ("I am sure", "a.txt:999", "nowhere.txt:1", "../outside.txt:1"):
        told = call("record_judgement", *words, "--evidence", evidence, code=1)
        assert "not backed by a place" in told["error"]


def test_each_criterion_can_have_evidence_of_its_own(project: Path) -> None:
    judged(project, QUALITY)
    backed = {"score": 4, "evidence": "src/c.txt:1"}
    words = ("--item", "Good guide", "--scores", json.dumps({"Clarity": backed, "Brevity": backed}))
    assert call("record_judgement", *words, "--evidence", "see there")["mean"] == 4.0
    half = json.dumps({"Clarity": backed, "Brevity": {"score": 4, "evidence": "trust me"}})
    call("record_judgement", "--item", "Good guide", "--scores", half, "--evidence", "a.txt:1", code=1)


def test_a_judgement_counts_for_the_files_that_were_judged(project: Path) -> None:
    judged(project, QUALITY)
    scored(Clarity=5, Brevity=5)
    assert call("verify_checklist")["passed"] is True
    (project / "a.txt").write_text("something else\n")
    save(project)
    assert call("verify_checklist", code=1)["undecided"] is True


def test_worktrees_of_the_client_are_no_files_to_judge(project: Path) -> None:
    judged(project, QUALITY)
    scored(Clarity=5, Brevity=5)
    (project / ".claude" / "worktrees" / "agent-x").mkdir(parents=True)
    (project / ".claude" / "worktrees" / "agent-x" / "b.txt").write_text("x")
    assert call("verify_checklist")["passed"] is True


def test_a_command_in_a_terminal_does_not_take_a_sessions_word_for_it(project: Path) -> None:
    judged(project, QUALITY, ASSERTION)
    scored(Clarity=5, Brevity=5)
    call("record_judgement", "--item", "Looks right", "--passed", "true", *PLACE, "--confirmed-by-person")
    assert call("verify_checklist")["passed"] is True
    done = subprocess.run(
        [Path(sys.executable).with_name("aot"), "verify", "--json", "--yes"], capture_output=True, check=False
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["undecided"]) == (6, True)
    assert [one["item"] for one in report["skipped"]] == ["Good guide", "Looks right"]


# --- assertions --------------------------------------------------------------------------------------------------


def test_an_assertion_waits_for_a_person_whatever_an_agent_found(project: Path) -> None:
    judged(project, ASSERTION)
    words = ("--item", "Looks right", "--passed", "true", "--evidence", "I looked")
    told = call("record_judgement", *words)
    assert (told["passed"], told["waits_for_person"]) == (True, True)
    report = call("verify_checklist", code=1)
    assert report["undecided"] is True
    assert "waits for a person's confirmation" in report["skipped"][0]["evidence"]
    assert "does not hold" in call("set_status", "completed", code=1)["error"]


def test_what_the_session_says_a_person_said_is_recorded_as_that(project: Path) -> None:
    judged(project, ASSERTION)
    words = ("--item", "Looks right", "--passed", "true", "--evidence", "asked, and was told yes")
    assert call("record_judgement", *words, "--confirmed-by-person")["waits_for_person"] is False
    report = call("verify_checklist")
    assert "the session says that a person agreed" in report["checklist"][0]["evidence"]
    assert "said in a session" in report["checklist"][0]["evidence"]


def test_an_assertion_that_is_found_wrong_fails(project: Path) -> None:
    judged(project, ASSERTION)
    call("record_judgement", "--item", "Looks right", "--passed", "false", "--evidence", "the menu overlaps")
    report = call("verify_checklist", code=1)
    assert (report["undecided"], report["checklist"][0]["passed"]) == (False, False)
    assert "the menu overlaps" in report["checklist"][0]["evidence"]


def test_a_person_may_decide_on_quality_too(project: Path) -> None:
    judged(project, QUALITY)
    words = ("--item", "Good guide", "--passed", "true", "--evidence", "she likes it")
    assert "judged by scores" in call("record_judgement", *words, code=1)["error"]
    call("record_judgement", *words, "--confirmed-by-person")
    assert call("verify_checklist")["passed"] is True


# --- what is refused ---------------------------------------------------------------------------------------------


def test_an_item_is_meant_by_its_path_or_by_a_name_that_no_other_has(project: Path) -> None:
    group = ChecklistItem(item="Top", group=(ASSERTION,))
    runs = ChecklistItem(item="runs", check=Check(type="command", value="true"))
    judged(project, ASSERTION, group, runs)
    words = ("--passed", "true", "--evidence", "x")
    assert call("record_judgement", "--item", "Looks right", *words)["item"] == "Looks right"
    assert call("record_judgement", "--item", "Top / Looks right", *words)["item"] == "Top / Looks right"
    for unknown in ("runs", "nope", "Top"):
        assert "is no item that is judged" in call("record_judgement", "--item", unknown, *words, code=1)["error"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--scores", "{}", "--passed", "true"),
        ("--scores", "[1]"),
        ("--scores", '{"Clarity": "five"}'),
        ("--scores", "not json"),
        ("--passed", "maybe"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(project: Path, words: tuple[str, ...]) -> None:
    judged(project, QUALITY)
    call("record_judgement", "--item", "Good guide", "--evidence", "x", *words, code=2)


def test_an_attempt_of_a_run_judges_nothing(project: Path) -> None:
    judged(project, ASSERTION)
    env = {**os.environ, "AOT_RUN_ID": "r1"}
    words = ("--item", "Looks right", "--passed", "true", "--evidence", "x")
    assert "attempt of a loop" in call("record_judgement", *words, code=1, env=env)["error"]
