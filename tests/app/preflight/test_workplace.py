from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops import atom
from tests.repositories import new_repository
from tests.runner.projects import Project, a_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")


def test_a_folder_without_a_repository_needs_a_flag(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", git=False)
    project.environ["AOT_ISOLATION"] = "worktree"
    refused = project.aot("run", "--yes")
    assert refused.code == 3
    assert "is not in a git repository" in refused.err
    assert "git init" in refused.err
    assert not (project.root / "a").exists()
    assert project.aot("run", "--yes", "--in-place").code == 0


def test_a_branch_without_a_commit_is_told_with_the_command_that_helps(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", git=False)
    project.environ.clear()
    new_repository(project.root)
    refused = project.aot("run", "--yes")
    assert refused.code == 3
    assert "nothing is committed yet, and agents start from a commit: README.md" in refused.err
    assert 'git add -A && git commit -m "Start"' in refused.err
    gate = project.aot("gate", "--yes")
    assert gate.code == 0
    assert "but `aot run` needs this first" in gate.out
    assert gate.out.count("nothing is committed yet") == 1
    assert gate.err.splitlines()[-1].endswith('git add -A && git commit -m "Start"  ·  aot run  ·  aot graph')


def test_the_gate_tells_what_is_not_committed_before_the_run_refuses_it(project: Project) -> None:
    (project.root / "mine.txt").write_text("x\n")
    gate = project.aot("gate", "--yes")
    assert "but `aot run` needs this first" in gate.out
    refused = project.aot("run", "--yes")
    assert refused.code == 1
    for said in (gate.out, refused.err):
        assert "there are changes that are not committed: mine.txt" in said
        assert "--allow-dirty" in said


def test_compiled_modules_of_a_person_who_ran_the_tests_are_no_uncommitted_work(project: Project) -> None:
    kept = project.root / "tests" / "__pycache__"
    kept.mkdir(parents=True)
    (kept / "test_it.cpython-311.pyc").write_bytes(b"")
    assert project.aot("run", "--yes").code == 0


def test_a_detached_head_needs_a_flag(project: Project) -> None:
    project.git("checkout", "--quiet", "--detach")
    refused = project.aot("run", "--yes")
    assert refused.code == 3
    assert "no branch is checked out (detached HEAD)" in refused.err
    assert "git switch -c NAME" in refused.err
    assert project.aot("run", "--yes", "--detached").code == 0
    assert project.subjects() == ["A1: do A1"] or len(project.subjects()) == 1


def test_a_named_branch_settles_a_detached_head(project: Project) -> None:
    project.git("checkout", "--quiet", "--detach")
    assert project.aot("run", "--yes", "--branch", "work").code == 0
    assert "work" in project.branches()


def test_an_author_that_git_does_not_know_is_told_before_the_work(project: Project) -> None:
    for name in ("user.name", "user.email"):
        project.git("config", "--unset", name)
    ran = project.run()
    assert ran.code == 0
    (warning,) = [one["text"] for one in ran.kinds("warning") if "git does not know your name" in one["text"]]
    assert 'git config --global user.name "Your Name"' in warning
    assert project.git("log", "-1", "--format=%an <%ae>") == "aot <aot@localhost>"
