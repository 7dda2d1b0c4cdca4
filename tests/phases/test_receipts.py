"""A receipt counts if git, the files and the tests say so; whatever the agent says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.clock import now
from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn, Stop
from aotloop.core.phases.events import LoopStopped, PromiseMade, SessionBound
from aotloop.core.phases.model import PHASES
from aotloop.errors import AotError, IllegalEvent, NotTrusted
from aotloop.phases.receipts import (
    Filed,
    approve,
    end_turn,
    facts_as_tested_before,
    force,
    make_promise,
    refuse,
    tell,
    write_checkpoint,
)
from tests.phases.features import CONTENT, RED_TESTS, REVIEW, TESTS, Feature, a_feature


@pytest.fixture
def feature(tmp_path: Path) -> Feature:
    return a_feature(tmp_path)


def test_a_whole_feature_by_real_commits_and_real_tests(feature: Feature) -> None:
    feature.walk_to("ship")
    assert feature.do().effects == (AskForPromise(promise="SHIPPED"),)
    assert make_promise(feature.ground, "SHIPPED").effects == (Finish(),)
    loop = feature.loop
    assert loop.status == "completed"
    assert loop.phases_completed == tuple(one for one in PHASES if one not in ("fix", "re_review"))
    assert loop.artifacts.branch == "main"
    assert [point.phase for point in loop.checkpoints] == list(loop.phases_completed)


# --- forged ------------------------------------------------------------------------------------------------------


def test_an_artifact_that_is_nowhere(feature: Feature) -> None:
    feature.commit({"docs/other.md": "x"})
    filed = feature.file("docs/brainstorm.md")
    assert filed.reasons == ("the artifact docs/brainstorm.md does not exist in the project, or is empty",)
    assert feature.loop.phase == "brainstorm"
    assert [error.refused for error in feature.loop.errors] == [True]


def test_an_artifact_that_nobody_committed(feature: Feature) -> None:
    feature.commit({"docs/other.md": "x"})
    feature.write(**{"docs/brainstorm.md": "it is only here"})
    assert "does not exist" in feature.file("docs/brainstorm.md").reasons[0]


def test_an_artifact_that_is_blank(feature: Feature) -> None:
    feature.commit({"docs/brainstorm.md": " \n\n"})
    assert "is empty" in feature.file().reasons[0]


def test_an_artifact_behind_a_link_that_leads_out_of_the_project(feature: Feature, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("of somebody else")
    (feature.root / "docs").mkdir()
    (feature.root / "docs" / "brainstorm.md").symlink_to(tmp_path / "secret.md")
    feature.git("add", "docs")
    feature.commit({"README.md": "with a link"})
    assert "does not exist in the project" in feature.file().reasons[0]


@pytest.mark.parametrize("artifact", ["../secret.md", "/etc/passwd", "", "docs/\0x", "docs/a\nb", "x" * 5000])
def test_an_artifact_that_is_no_path_of_the_project(feature: Feature, artifact: str) -> None:
    filed = feature.file(artifact) if artifact else feature.file(" ")
    assert any("is not a path within the project" in reason for reason in filed.reasons)


@pytest.mark.parametrize("sha", ["deadbeef", "--upload-pack=x", "HEAD", "g" * 40, "0" * 40])
def test_a_commit_that_is_none(feature: Feature, sha: str) -> None:
    feature.commit(CONTENT["brainstorm"])
    assert feature.file(sha=sha).reasons


def test_a_commit_of_another_branch(feature: Feature) -> None:
    feature.git("checkout", "-qb", "elsewhere")
    sha = feature.commit(CONTENT["brainstorm"])
    feature.git("checkout", "-q", "main")
    feature.write(**CONTENT["brainstorm"])
    assert any("is not part of what is checked out" in reason for reason in feature.file(sha=sha).reasons)


def test_a_commit_of_before_the_phase(feature: Feature) -> None:
    os.environ["GIT_COMMITTER_DATE"] = "2020-01-01T00:00:00Z"
    try:
        feature.commit(CONTENT["brainstorm"])
    finally:
        del os.environ["GIT_COMMITTER_DATE"]
    assert any("is older than this phase" in reason for reason in feature.file().reasons)


def test_one_commit_does_not_prove_two_phases(feature: Feature) -> None:
    """Though it may be of the same second."""
    feature.do({**CONTENT["brainstorm"], **CONTENT["plan"]})
    assert feature.loop.phase == "plan"
    assert any("is older than this phase" in reason for reason in feature.file("docs/plan.md").reasons)


# --- what a phase demands ----------------------------------------------------------------------------------------


def test_a_plan_without_steps_or_files(feature: Feature) -> None:
    feature.walk_to("plan")
    assert feature.do({"docs/plan.md": "We will do it well.\n"}).reasons
    assert feature.do({"docs/plan.md": "- [ ] do something, somewhere\n"}).reasons
    assert feature.do({"docs/plan.md": "Only `greet.sh` is touched.\n"}).reasons
    assert feature.do().effects == (Enter(phase="spec_test"),)


def test_acceptance_tests_that_pass_before_any_work_prove_nothing(feature: Feature) -> None:
    feature.walk_to("spec_test")
    assert "have to run and fail: exit 0" in feature.do({TESTS: "exit 0\n"}).reasons[0]


def test_acceptance_tests_that_cannot_be_run_prove_nothing(feature: Feature) -> None:
    feature.walk_to("spec_test")
    assert "command not found" in feature.do({TESTS: "no-such-program\n"}).reasons[0]
    reasons = feature.do({"tests/acceptance/greet.xyz": "?"}).reasons
    assert "test_command" in reasons[0]


def test_a_person_is_asked_and_agrees_to_these_tests_alone(feature: Feature) -> None:
    feature.walk_to("spec_test")
    assert feature.do().effects == (AskPerson(artifact=TESTS),)
    with pytest.raises(IllegalEvent):
        feature.file()
    feature.commit({TESTS: f"{RED_TESTS}# easier\nexit 1\n"})
    filed = approve(feature.ground)
    assert any("were changed since" in reason for reason in filed.reasons)
    assert (filed.loop.phase, filed.loop.status) == ("spec_test", "running")


def test_a_person_refuses_them(feature: Feature) -> None:
    feature.walk_to("spec_test")
    feature.do()
    assert refuse(feature.ground, "they test nothing").reasons == ("they test nothing",)
    assert feature.loop.receipts[-1].phase != "spec_test"


@pytest.mark.parametrize(
    "tampered",
    [{TESTS: "exit 0\n"}, {"tests/acceptance/extra.sh": "exit 0\n"}],
    ids=["another test", "another file in their folder"],
)
def test_tampered_acceptance_tests_are_seen_committed_or_not(feature: Feature, tampered: dict[str, str]) -> None:
    feature.walk_to("work")
    feature.commit({**CONTENT["work"], **tampered})
    assert any("were changed since spec_test" in reason for reason in feature.file("greet.sh").reasons)
    feature.git("revert", "--no-edit", "HEAD")
    feature.commit(CONTENT["work"])
    feature.write(**tampered)
    assert any("were changed since spec_test" in reason for reason in feature.file("greet.sh").reasons)


def test_git_can_be_told_to_overlook_a_change_and_we_cannot(feature: Feature) -> None:
    feature.walk_to("work")
    feature.commit(CONTENT["work"])
    feature.git("update-index", "--assume-unchanged", TESTS)
    feature.write(**{TESTS: "exit 0\n"})
    assert any("were changed since spec_test" in reason for reason in feature.file("greet.sh").reasons)


def test_work_is_left_green_and_committed(feature: Feature) -> None:
    feature.walk_to("work")
    assert any("do not pass: exit 1" in reason for reason in feature.do({"greet.sh": "echo bye\n"}).reasons)
    feature.write(**CONTENT["work"])
    assert any("not committed: greet.sh" in reason for reason in feature.file("greet.sh").reasons)
    assert feature.do().effects == (Enter(phase="review"),)


def test_findings_are_resolved_or_accepted_and_never_forgotten(feature: Feature) -> None:
    feature.walk_to("review")
    assert "does not say" in feature.do({REVIEW: "Looks good to me.\n"}).reasons[0]
    found = "- [ ] `greet.sh`: echo is not portable\n- [ ] no documentation\n"
    assert feature.do({REVIEW: found}).effects == (Enter(phase="fix"),)
    assert feature.do().effects == (Enter(phase="re_review"),)
    forgotten = feature.do({REVIEW: "- [x] `greet.sh`: echo is not portable\n"})
    assert forgotten.effects == (Enter(phase="fix"),)
    feature.do({"greet.sh": "printf '%s\\n' hello\n"})
    said = "- [x] `greet.sh`: echo is not portable, mended\n- [x] no documentation (accepted: it is obvious)\n"
    assert feature.do({REVIEW: said}).effects == (Enter(phase="compound"),)
    assert feature.loop.fix_review_cycles == 1


# --- the promise -------------------------------------------------------------------------------------------------


def test_a_promise_in_the_wrong_phase_changes_nothing(feature: Feature) -> None:
    feature.walk_to("work")
    filed = make_promise(feature.ground, "SHIPPED")
    assert filed.reasons == ("the promise counts only in ship, and the loop is in work",)
    assert filed.run is None


def test_a_promise_with_failing_tests(feature: Feature) -> None:
    feature.walk_to("ship")
    feature.do()
    feature.commit({"greet.sh": "echo bye\n"})
    assert any("do not pass" in reason for reason in make_promise(feature.ground, "SHIPPED").reasons)


def test_a_promise_after_an_artifact_has_gone(feature: Feature) -> None:
    feature.walk_to("ship")
    feature.do()
    feature.git("rm", "-q", "docs/solution.md")
    feature.git("commit", "-qm", "away")
    assert [one for one in make_promise(feature.ground, "SHIPPED").reasons if one.startswith("compound:")]


def test_where_no_tests_are_run_the_last_verdict_counts_only_of_this_very_commit(feature: Feature) -> None:
    feature.walk_to("ship")
    feature.do()
    feature.commit({"docs/late.md": "x"})
    assert any("they were not run" in reason for reason in promised_without_tests(feature).reasons)
    feature.do()
    assert promised_without_tests(feature).effects == (Finish(),)


def promised_without_tests(feature: Feature) -> Filed:
    facts = facts_as_tested_before(feature.ground, feature.loop)
    return tell(feature.ground, PromiseMade(at=now(), session_id=None, text="SHIPPED", facts=facts))


def test_a_stranger_promises_nothing(feature: Feature) -> None:
    feature.walk_to("ship")
    feature.do()
    tell(feature.ground, SessionBound(at=now(), session_id="mine"))
    with pytest.raises(IllegalEvent, match="drives the loop"):
        make_promise(feature.ground, "SHIPPED", "theirs")
    assert make_promise(feature.ground, "SHIPPED", "mine").loop.status == "completed"


# --- who may, and what else --------------------------------------------------------------------------------------


def test_another_session_files_nothing(feature: Feature) -> None:
    tell(feature.ground, SessionBound(at=now(), session_id="mine"))
    feature.commit(CONTENT["brainstorm"])
    with pytest.raises(AotError, match="another session"):
        feature.file(session="theirs")
    assert feature.file(session="mine").loop.phase == "plan"


def test_a_command_that_is_not_permitted_is_not_run(feature: Feature) -> None:
    feature.walk_to("spec_test")
    feature.commit({TESTS: "touch ran\nexit 1\n"})

    def forbid(commands: list[str]) -> None:
        raise NotTrusted("no", commands)

    with pytest.raises(NotTrusted) as refused:
        feature.file(TESTS, permit=forbid)
    assert refused.value.commands == (f"sh {TESTS}",)
    assert not (feature.root / "ran").exists()
    assert feature.loop.errors == ()


def test_somebody_else_moved_on_while_it_was_looked_into(feature: Feature) -> None:
    feature.walk_to("spec_test")
    feature.commit(CONTENT["spec_test"])

    def meanwhile(_: list[str]) -> None:
        tell(feature.ground, LoopStopped(at=now(), reason="user: enough"))

    with pytest.raises(AotError, match="the loop moved on"):
        feature.file(TESTS, permit=meanwhile)


def test_turns_are_counted_and_at_the_limit_of_the_phase_it_stops(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, max_phase_iterations=2)
    assert end_turn(feature.ground).effects == (GoOn(phase="brainstorm"),)
    assert isinstance(end_turn(feature.ground).effects[0], Stop)
    assert (feature.loop.phases_completed, feature.loop.phase) == ((), "brainstorm")


def test_test_is_left_by_force_only_if_the_tests_passed_at_this_commit(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, max_phase_iterations=1)
    feature.walk_to("test")
    feature.commit({"docs/other.md": "x"})
    assert end_turn(feature.ground).loop.status == "stopped"


def test_a_person_forces_test_if_it_is_green(feature: Feature) -> None:
    feature.walk_to("test")
    assert force(feature.ground, "no report needed").loop.phase == "ship"


def test_checkpoints_are_short_and_of_the_phase(feature: Feature) -> None:
    write_checkpoint(feature.ground, "x" * 9000, ["tried this", "", "y" * 3000])
    (point,) = feature.loop.checkpoints
    assert (point.phase, len(point.summary), [len(one) for one in point.failed_approaches]) == (
        "brainstorm",
        4000,
        [10, 1000],
    )
