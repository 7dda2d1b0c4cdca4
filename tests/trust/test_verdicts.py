"""A passing verdict in a state file counts only if this user's aotloop has reached it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.trust.folder import record_of
from aotloop.trust.verdicts import is_backed, is_ours, is_tested, keep_tested, keep_verdict
from tests.loops import a_loop, atom
from tests.runner.projects import Project, a_project

AT = "2026-01-01T00:00:00Z"
VERDICT = Verdict(passed=True, objective_digest="d1", at=AT, commit="c1")


def test_only_the_very_verdict_that_was_kept_is_ours(tmp_path: Path) -> None:
    path = str(tmp_path / "state.md")
    assert not is_ours(path, VERDICT)
    keep_verdict(path, VERDICT)
    assert is_ours(path, VERDICT)
    others: list[dict[str, Any]] = [
        {"objective_digest": "d2"},
        {"commit": "c2"},
        {"commit": None},
        {"at": "2026-01-02T00:00:00Z"},
    ]
    assert [is_ours(path, replace(VERDICT, **other)) for other in others] == [False] * 4
    assert not is_ours(str(tmp_path / "other.md"), VERDICT)


def test_a_verdict_that_does_not_pass_is_not_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "state.md")
    failing = replace(VERDICT, passed=False)
    keep_verdict(path, failing)
    assert not is_ours(path, failing)
    assert not is_ours(path, VERDICT)


def test_a_forged_record_counts_for_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "state.md")
    keep_verdict(path, VERDICT)
    record = record_of("verdicts", path)
    said = json.loads(record.read_text())
    said["passed"][0]["commit"] = "c2"
    record.write_text(json.dumps(said))
    assert not is_ours(path, replace(VERDICT, commit="c2"))
    assert not is_ours(path, VERDICT)


def test_tests_of_a_feature_are_no_verdict_about_an_objective(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    keep_tested(path, "c1", AT)
    assert is_tested(path, "c1", AT)
    assert not is_tested(path, "c2", AT)
    assert not is_ours(path, VERDICT)


def test_a_verdict_about_another_objective_backs_nothing(tmp_path: Path) -> None:
    path, loop = str(tmp_path / "state.md"), a_loop(atom("A1"))
    verdict = replace(VERDICT, objective_digest=digest_of(loop.objective))
    keep_verdict(path, verdict)
    loop.control = replace(loop.control, verdict=verdict)
    assert is_backed(path, loop)
    loop.objective = replace(loop.objective, goal="another")
    assert not is_backed(path, loop)


def claimed(loop: Loop, verdict: Verdict | None) -> None:
    loop.atoms = [replace(one, status="resolved") for one in loop.atoms]
    loop.control = replace(loop.control, status="completed", verdict=verdict)


@pytest.mark.parametrize("claims_a_verdict", [True, False])
@pytest.mark.parametrize("is_true", [True, False])
def test_a_file_that_says_completed_is_believed_only_after_its_base_case_was_tried(
    tmp_path: Path, is_true: bool, claims_a_verdict: bool
) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), base_case="test -f README.md" if is_true else "test -f never")
    digest = digest_of(project.loop.objective)
    head = project.git("rev-parse", "HEAD")
    verdict = Verdict(passed=True, objective_digest=digest, at=AT, commit=head) if claims_a_verdict else None
    project.edit(lambda loop: claimed(loop, verdict))
    assert "Next: aot run" in project.aot("status").err
    ran = project.run()
    assert (ran.code == 0) == is_true, ran.out + ran.err


def completed_project(folder: Path) -> Project:
    project = a_project(folder, atom("A1", run="echo a > a"), base_case="test -f a")
    assert project.run().code == 0
    return project


def test_a_completed_loop_is_known_and_not_tried_again(tmp_path: Path) -> None:
    project = completed_project(tmp_path)
    assert "nothing to do: the base case is verified" in project.aot("status").err
    assert project.run().code == 0


@pytest.mark.parametrize("is_moved", [True, False])
def test_later_commits_that_break_a_completed_loop_are_found_also_if_the_file_was_edited(
    tmp_path: Path, is_moved: bool
) -> None:
    project = completed_project(tmp_path)
    project.git("rm", "-q", "a")
    project.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-qm", "broken")
    head = project.git("rev-parse", "HEAD")

    def move(loop: Loop) -> None:
        assert loop.control.verdict is not None
        loop.control = replace(loop.control, verdict=replace(loop.control.verdict, commit=head), last_sha=head)

    if is_moved:
        project.edit(move)
    ran = project.run()
    assert ran.code != 0, ran.out
    assert "blocked: " in ran.out + ran.err
