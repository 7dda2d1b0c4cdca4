"""A check sees the commit and what set-up adds, and nothing that an agent or an earlier check left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from aotloop.execution.isolation.check_trees import CheckTrees
from aotloop.git.repository import find_repository
from aotloop.git.worktrees.setup import Setup
from tests.loops import atom
from tests.repositories import new_repository
from tests.runner.projects import Project, a_project

IGNORED = "deps/\n*.pyc\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    new_repository(root)
    (root / ".gitignore").write_text(IGNORED)
    (root / "a").write_text("a")
    made = Project(root)
    made.git("add", "--all")
    made.git("commit", "-qm", "a")
    return made


@pytest.fixture(params=["plain", "set up"])
def trees(project: Project, request: pytest.FixtureRequest) -> Iterator[CheckTrees]:
    repository = find_repository(project.root)
    assert repository is not None
    setup = Setup() if request.param == "plain" else Setup(command="mkdir -p deps && echo real > deps/tool")
    made = CheckTrees(repository, setup)
    yield made
    made.close()


def test_what_a_check_left_is_gone_before_the_next(project: Project, trees: CheckTrees) -> None:
    head = project.git("rev-parse", "HEAD")
    tree = trees.take(head)
    has_deps = (tree.cwd / "deps").exists()
    (tree.cwd / "a").write_text("other")
    (tree.cwd / "new").write_text("new")
    (tree.cwd / "hidden.pyc").write_text("ignored")
    (tree.cwd / "deps").mkdir(exist_ok=True)
    (tree.cwd / "deps" / "more").write_text("ignored")
    trees.give_back(tree)
    again = trees.take(head)
    found = {str(path.relative_to(again.cwd)) for path in again.cwd.rglob("*") if ".git" not in path.parts}
    assert found - {"deps"} == {"a", ".gitignore", *(["deps/tool"] if has_deps else [])}
    assert (again.cwd / "a").read_text() == "a"
    trees.give_back(again)


def test_set_up_files_that_a_check_changed_are_made_anew(project: Project) -> None:
    repository = find_repository(project.root)
    assert repository is not None
    trees = CheckTrees(repository, Setup(command="mkdir -p deps && echo real > deps/tool"))
    head = project.git("rev-parse", "HEAD")
    tree = trees.take(head)
    (tree.cwd / "deps" / "tool").write_text("fake")
    trees.give_back(tree)
    again = trees.take(head)
    assert (again.cwd / "deps" / "tool").read_text() == "real\n"
    trees.give_back(again)
    trees.close()


def test_nothing_is_left_at_the_end(project: Project, trees: CheckTrees, own_home: Path) -> None:
    trees.give_back(trees.take(project.git("rev-parse", "HEAD")))
    trees.close()
    assert not list((own_home / ".local/share/aotloop").rglob("tree-*"))
    assert project.worktrees() == []


def test_a_check_sees_the_commit_and_not_the_worktree_of_the_attempt(tmp_path: Path) -> None:
    """What git ignores does not land: a check that saw it would prove something else than what lands."""
    project = a_project(
        tmp_path,
        atom("A1", run="echo bad > a; echo good > helper.tmp", check=AtomCheck(type="command", value="cat helper.tmp")),
        base_case="test -f a",
        files={".gitignore": "*.tmp\n"},
        constraints=Constraints(max_total_attempts=1),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    assert "helper.tmp" in ran.kinds("attempt_ended")[0]["summary"]
    assert "a" not in project.files()
