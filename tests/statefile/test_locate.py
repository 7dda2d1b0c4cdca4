"""Which file is the state file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aotloop.errors import StateFileMissing
from aotloop.statefile.locate import find_state_file, new_state_file, project_root
from tests.loops import a_loop, atom, write_loop


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_the_one_that_is_named_wins(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert find_state_file("other.md", environ={"AOT_STATE_FILE": "x.md"}) == str(project / "other.md")


def test_the_environment_comes_next(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert find_state_file(environ={"AOT_STATE_FILE": "x.md"}) == str(project / "x.md")


def test_it_is_found_upwards_from_the_current_folder(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    deep = project / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_state_file(start=str(deep), environ={}) == str(path)


def test_without_one_the_error_says_how_to_make_it(project: Path) -> None:
    with pytest.raises(StateFileMissing, match="aot align"):
        find_state_file(start=str(project), environ={})


def test_the_copy_in_a_linked_worktree_is_ignored(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))

    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    worktree = project.parent / "worktree"
    git(project, "worktree", "add", str(worktree))
    assert (worktree / ".claude" / "aot-loop-state.md").exists()
    (worktree / "src").mkdir()
    assert find_state_file(start=str(worktree / "src"), environ={}) == str(path)


def test_the_project_is_where_the_claude_folder_is(project: Path) -> None:
    assert project_root(str(project / ".claude" / "aot-loop-state.md")) == str(project)
    assert project_root(str(project / "elsewhere.md")) == str(project)


def test_a_worktree_of_a_bare_repository_is_its_own_project(project: Path) -> None:
    git(project, "init", "source")
    git(project, "-C", "source", "commit", "--allow-empty", "-m", "first")
    git(project, "clone", "--bare", "source", "bare.git")
    git(project, "-C", "bare.git", "worktree", "add", "../tree")
    path = write_loop(project / "tree", a_loop(atom("A1")))
    assert find_state_file(start=str(project / "tree"), environ={}) == str(path)


def test_a_new_file_of_a_linked_worktree_goes_where_it_will_be_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "init")
    git(project, "commit", "--allow-empty", "-m", "first")
    git(project, "worktree", "add", "../linked")
    monkeypatch.chdir(project.parent / "linked")
    assert new_state_file(environ={}) == str(project / ".claude" / "aot-loop-state.md")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
@pytest.mark.parametrize("what", ["file", "folder", "project"])
def test_what_another_user_left_is_refused_unless_it_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    foreign = {"file": path, "folder": path.parent, "project": project}[what]
    os.chown(foreign, 65534, 65534)
    deep = project / "mine"
    deep.mkdir()
    with pytest.raises(StateFileMissing, match="belongs to another user") as error:
        find_state_file(start=str(deep), environ={})
    assert error.value.message.count(str(path)) == 1
    assert find_state_file(str(path)) == str(path)
    monkeypatch.setenv("SUDO_UID", "65534")
    assert find_state_file(start=str(deep), environ={}) == str(path)
