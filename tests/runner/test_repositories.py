"""Repositories as they are: with submodules, LFS, hooks, odd names, no branch, no commit, in a folder of another."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import a_loop, atom
from tests.runner.agents import done, scripted
from tests.runner.leftovers import kept, leftovers, trailers
from tests.runner.projects import Project, a_project, commands, until, write_state

ONCE = Constraints(max_attempts=1)
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12\n"


def git(folder: Path, *words: str) -> str:
    done_ = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done_.returncode == 0, done_.stderr
    return done_.stdout.strip()


def a_library(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "lib.txt").write_text("lib\n")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "lib")
    return folder


def with_submodule(tmp_path: Path, *atoms: object, **more: object) -> Project:
    library = a_library(tmp_path / "library")
    project = a_project(tmp_path, *atoms, **more)  # type: ignore[arg-type]
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "ven dor/lib")
    project.git("commit", "-qm", "with a library")
    shutil.rmtree(library)  # nothing may have to be fetched
    return project


def test_attempts_have_the_submodules_that_the_person_has(tmp_path: Path) -> None:
    project = with_submodule(tmp_path, atom("A1", run="cp 'ven dor/lib/lib.txt' copy"), base_case="test -f copy")
    before = project.git("submodule", "status")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.root / "copy").read_text() == "lib\n"
    assert project.git("submodule", "status") == before
    assert project.is_clean()
    assert leftovers(project) == []


def test_uncommitted_changes_in_a_submodule_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    project = with_submodule(
        tmp_path,
        atom("A1", run="echo x >> 'ven dor/lib/lib.txt'; echo a > a"),
        atom("A2", "A1", run="cp 'ven dor/lib/lib.txt' copy"),
        base_case="test -f copy",
        constraints=Constraints(max_parallel_agents=1),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert any("changes in submodules were left out: ven dor/lib" in one["text"] for one in ran.kinds("warning"))
    assert (project.root / "copy").read_text() == "lib\n"
    assert project.is_clean()


def test_what_was_committed_in_a_submodule_alone_is_refused_lest_it_be_lost(tmp_path: Path) -> None:
    inside = "cd 'ven dor/lib'; echo better > lib.txt; git -c user.name=x -c user.email=x commit -qam better"
    project = with_submodule(
        tmp_path, atom("A1", run=f"({inside}); echo a > a"), base_case="test -f a", constraints=ONCE
    )
    before = project.git("submodule", "status")
    ran = project.run()
    assert ran.code == 4, ran.out
    words = "what it left cannot be committed: commits in submodules go with the worktree: ven dor/lib"
    assert project.loop.trail[0].reason == words
    assert project.git("submodule", "status") == before
    assert project.is_clean()


def test_lfs_pointers_pass_as_they_are_where_git_lfs_is_not_installed(tmp_path: Path) -> None:
    if shutil.which("git-lfs") is not None:
        pytest.skip("git-lfs is installed here")
    project = a_project(
        tmp_path,
        atom("A1", run="cat big.bin > seen; sed -i s/aaaa/bbbb/ big.bin"),
        files={"big.bin": POINTER.format("aaaa"), ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
        base_case="grep -q bbbb big.bin",
    )
    for key, value in (("clean", "git-lfs clean -- %f"), ("smudge", "git-lfs smudge -- %f"), ("required", "true")):
        project.git("config", f"filter.lfs.{key}", value)
    project.git("config", "filter.lfs.process", "git-lfs filter-process")
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "seen").read_text() == POINTER.format("aaaa")
    assert (project.root / "big.bin").read_text() == POINTER.format("bbbb")
    assert leftovers(project) == []


LFS = """#!/bin/sh
# big files are kept outside, as capitals; what git stores is a pointer with their letters
case $1 in
clean) tr A-Z a-z | sed 's/^/pointer:/';;
smudge) sed 's/^pointer://' | tr a-z A-Z;;
*) exit 1;;
esac
"""


def test_with_git_lfs_agents_see_files_and_commits_have_pointers(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git-lfs").write_text(LFS)
    (tools / "git-lfs").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    project = a_project(
        tmp_path,
        atom("A1", run="cat big.bin > seen; echo NEW > big.bin"),
        files={".gitattributes": "*.bin filter=lfs diff=lfs -text\n"},
        base_case="grep -q NEW big.bin",
        environ={"PATH": path},
    )
    for key, value in (("clean", "git-lfs clean"), ("smudge", "git-lfs smudge"), ("required", "true")):
        project.git("config", f"filter.lfs.{key}", value)
    (project.root / "big.bin").write_text("OLD\n")
    subprocess.run(
        "git add . && git commit -qm big", shell=True, cwd=project.root, env={**os.environ, "PATH": path}, check=True
    )
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "seen").read_text() == "OLD\n"
    assert project.git("cat-file", "-p", "HEAD:big.bin") == "pointer:new"
    assert (project.root / "big.bin").read_text() == "NEW\n"


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


ODD = ["with space", "umläut-日本語", "tab\there", "quo'te\"d", "new\nline", "-dash", "per%cent", "{brace}"]


def test_paths_ids_and_files_may_be_called_whatever_they_like(tmp_path: Path) -> None:
    names = [f"{name} file.txt" for name in ODD]
    orders = {"*": [done({names[number]: "x\n"}) for number in range(len(names))]}
    parent = tmp_path / "mein Prøjekt 日本 'quoted'"
    parent.mkdir()
    project = a_project(
        parent,
        *(atom(name, description=f"do {name!r}") for name in ODD),
        base_case=commands(f"test $(git ls-files -z | tr -cd '\\0' | wc -c) = {len(ODD) + 3}"),
        config=scripted(tmp_path, {name: [done({f"{name} file.txt": "x\n"})] for name in ODD} | orders),
        constraints=Constraints(max_parallel_agents=2),
    )
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert {path.name for path in project.root.iterdir() if path.name.endswith(" file.txt")} == set(names)
    assert len(kept(project)) == len(ODD)
    assert set(project.statuses().values()) == {"resolved"}
    assert project.is_clean()
    assert leftovers(project) == []


def test_names_that_are_no_text_can_be_merged_refused_and_in_the_way(tmp_path: Path) -> None:
    name = "$(printf 'x\\377')"
    orders = {
        "A1": [done(run=f"touch tests/{name}"), done(run=f"touch {name}")],
        "A2": [done(run=f"echo agent > b{name}")],
    }
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2", "A1"),
        files={"tests/t": "t"},
        protect=("tests/**",),
        base_case="false",
        config=scripted(tmp_path, orders),
    )
    (project.root / os.fsdecode(b"bx\xff")).write_text("mine\n")
    ran = project.run("--allow-dirty")
    assert ran.code == 6, ran.out + ran.err
    assert project.loop.trail[0].reason == r"it changed what no attempt may change: tests/x\udcff"
    assert project.loop.control.stop_reason == r"blocked: uncommitted changes stand in the way: bx\udcff"
    assert project.statuses() == {"A1": "resolved", "A2": "pending"}
    assert (project.root / os.fsdecode(b"x\xff")).exists()
    assert (project.root / os.fsdecode(b"bx\xff")).read_text() == "mine\n"


def test_what_an_odd_choice_did_is_taken_back_like_any_other(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("first %wäy\n", or_group="G", run="echo p > 'p ä'"),
        atom("other way ", or_group="G", run="echo q > q"),
        atom("D", "first %wäy\n", run="true", check=AtomCheck(type="file", value="q")),
        base_case="test -f q",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.files() == {"README.md", "q"}
    assert trailers(project, "Aot-Atom", "HEAD~1") == "first %25wäy%0A"


def test_a_detached_head_moves_and_no_branch_does(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run="cp a b"),
        base_case="test -f b",
    )
    start = project.git("rev-parse", "main")
    project.git("checkout", "-q", "--detach")
    ran = project.run()
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
    loop.objective = type(loop.objective)(
        **{**{f: getattr(loop.objective, f) for f in loop.objective.__struct_fields__}, "protect": ("tests/**",)}
    )
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
    meet = f"touch {tmp_path}/begun; until test -e {tmp_path}/go; do sleep 0.02; done; echo s > theirs"
    write_state(other.state_file, a_loop(atom("A1", run=meet), status="pending", command="test -f theirs"))
    project.git("add", "--all")
    project.git("commit", "-qm", "two loops")
    with other.running("--state-file", str(other.state_file)) as process:
        until((tmp_path / "begun").exists)
        ran = project.run()
        assert ran.code == 0, ran.out + ran.err
        (tmp_path / "go").touch()
        assert process.wait(30) == 0
    assert "it changed what no attempt may change: sub/.claude/aot-loop-state.md" in project.loop.trail[0].reason
    assert project.files() == {"README.md", "aot.toml", "mine", "sub/.claude/aot-loop-state.md", "sub/theirs"}
    assert leftovers(project) == []


def test_a_run_that_was_started_by_a_hook_speaks_of_its_own_worktrees(tmp_path: Path) -> None:
    same = AtomCheck(type="command", value='test "$(git rev-parse --show-toplevel)" = "$(cat top)"')
    project = a_project(
        tmp_path, atom("A1", run="git rev-parse --show-toplevel > top", check=same), base_case="test -f top"
    )
    git_dir = str(project.root / ".git")
    project.environ = {"GIT_DIR": git_dir, "GIT_WORK_TREE": str(project.root), "GIT_INDEX_FILE": f"{git_dir}/index"}
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "top").read_text().strip() != str(project.root)
