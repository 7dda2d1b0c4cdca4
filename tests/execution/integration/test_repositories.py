"""Repositories as they are: with hooks, without a branch or a commit, in a folder, beside other loops (DESIGN §7)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from msgspec.structs import replace

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import a_loop, atom
from tests.patience import PATIENCE, shell_until_there, until
from tests.runner.agents import done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project, commands, write_state

ONCE = Constraints(max_attempts=1)


def git(folder: Path, *words: str) -> str:
    done_ = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done_.returncode == 0, done_.stderr
    return done_.stdout.strip()


def test_no_hook_runs_and_nothing_is_signed(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", or_group="G", run="echo q > q"),
        atom("D", "P", run="true", check=AtomCheck(type="file", value="q")),
        base_case="test -f q",
        constraints=ONCE,
    )
    hooks = project.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "post-checkout", "pre-merge-commit", "post-merge",
                 "reference-transaction", "post-index-change", "prepare-commit-msg"):  # fmt: skip
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/hooks\nexit 1\n")
        (hooks / name).chmod(0o755)
    for key, value in (("commit.gpgSign", "true"), ("gpg.program", "false"), ("tag.gpgSign", "true")):
        project.git("config", key, value)
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.subjects() == ["P: do P", "Take back P", "Q: do Q"]
    assert not (tmp_path / "hooks").exists()


def test_a_detached_head_moves_and_no_branch_does(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run="cp a b"),
        base_case="test -f b",
    )
    start = project.git("rev-parse", "main")
    project.git("checkout", "-q", "--detach")
    ran = project.run("--detached")
    assert ran.code == 0, ran.out
    assert ran.kinds("run_began")[0]["branch"] is None
    assert project.git("rev-parse", "main") == start
    assert project.subjects() == ["A1: do A1", "A2: do A2"]
    assert leftovers(project) == []


def test_a_repository_without_commits_gets_its_first_from_an_attempt(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", or_group="G", run="echo q > q"),
        atom("D", "P", run=f"ls -A > {tmp_path}/seen; echo d > d", check=AtomCheck(type="file", value="q")),
        git=False,
        base_case="test -f q",
        constraints=ONCE,
    )
    (project.root / "README.md").unlink()
    project.has_git = True
    project.environ.clear()
    project.git("init", "-q", "-b", "main")
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.files() == {"q", "d"}
    assert project.subjects() == ["Take back P", "Q: do Q", "D: do D"]
    assert (tmp_path / "seen").read_text() == ".git\nq\n"
    assert leftovers(project) == []


def test_a_project_in_a_folder_of_its_repository_sees_only_its_folder_as_its_own(tmp_path: Path) -> None:
    top = tmp_path / "mono"
    project = Project(top / "packages" / "app")
    (project.root / ".claude").mkdir(parents=True)
    (top / "other.txt").write_text("other\n")
    (project.root / "tests").mkdir()
    (project.root / "tests" / "t").write_text("t\n")
    loop = a_loop(
        atom("A1", run="pwd > where; echo x >> ../../other.txt; echo a > a"),
        atom("A2", "A1", run="echo x > tests/t"),
        status="pending",
        constraints=ONCE,
        base_case=commands("test -f a", "false"),
    )
    loop.objective = replace(loop.objective, protect=("tests/**",))
    write_state(project.state_file, loop)
    project.git("init", "-q", "-b", "main", str(top))
    git(top, "add", ".")
    git(top, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "start")
    ran = project.run()
    assert ran.code == 4, ran.out + ran.err
    assert (project.root / "where").read_text().endswith("/packages/app\n")
    assert (top / "other.txt").read_text() == "other\nx\n"
    assert "packages/app/tests/t" in project.loop.trail[-1].reason
    assert git(top, "worktree", "list").count("\n") == 0


def test_a_linked_worktree_of_the_person_is_a_checkout_like_any_other(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Project(tmp_path / "side")
    ran = side.run("--state-file", str(side.state_file))
    assert ran.code == 0, ran.out + ran.err
    assert side.subjects() == ["A1: do A1"]
    assert project.subjects() == []
    assert len(project.worktrees()) == 1


def test_a_branch_can_be_asked_for_and_is_made_if_there_is_none(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    ran = project.run("--branch", "aot/work")
    assert ran.code == 0, ran.out
    assert project.git("branch", "--show-current") == "aot/work"
    assert project.git("log", "--format=%s", "main..aot/work") == "A1: do A1"
    assert leftovers(project, ("main", "aot/work")) == []


def test_someone_without_a_name_can_run_loops_too(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    project.git("config", "--unset", "user.name")
    project.git("config", "--unset", "user.email")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.git("log", "-1", "--format=%an <%ae>") == "aot <aot@localhost>"


def test_two_loops_of_one_repository_run_beside_each_other_and_leave_each_other_alone(tmp_path: Path) -> None:
    orders = {"A1": [done({"mine": "x"}, run="echo x >> sub/.claude/aot-loop-state.md"), done({"mine": "x"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f mine", config=scripted(tmp_path, orders))
    other = Project(project.root / "sub")
    (other.root / ".claude").mkdir(parents=True)
    meet = f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}; echo s > theirs"
    write_state(other.state_file, a_loop(atom("A1", run=meet), status="pending", command="test -f theirs"))
    project.git("add", "--all")
    project.git("commit", "-qm", "two loops")
    with other.running("--state-file", str(other.state_file)) as process:
        until((tmp_path / "begun").exists)
        ran = project.run()
        assert ran.code == 0, ran.out + ran.err
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert "it changed what no attempt may change: sub/.claude/aot-loop-state.md" in project.loop.trail[0].reason
    assert project.files() == {"README.md", "aot.toml", "mine", "sub/.claude/aot-loop-state.md", "sub/theirs"}
    assert leftovers(project) == []


def test_a_run_that_was_started_by_a_hook_speaks_of_its_own_worktrees(tmp_path: Path) -> None:
    same = AtomCheck(type="command", value='test "$(git rev-parse --show-toplevel)" = "$(pwd -P)"')
    project = a_project(
        tmp_path, atom("A1", run="git rev-parse --show-toplevel > top", check=same), base_case="test -f top"
    )
    git_dir = str(project.root / ".git")
    project.environ = {"GIT_DIR": git_dir, "GIT_WORK_TREE": str(project.root), "GIT_INDEX_FILE": f"{git_dir}/index"}
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "top").read_text().strip() != str(project.root)
