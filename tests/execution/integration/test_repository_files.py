"""What is in a repository: submodules, LFS pointers, names of all kinds, on their way through a run (DESIGN §7)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aotloop.core.model import Atom, AtomCheck, Constraints
from tests.loops import atom
from tests.runner.agents import done, scripted
from tests.runner.leftovers import kept, leftovers, trailers
from tests.runner.projects import Project, a_project, commands

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


def with_submodule(tmp_path: Path, *atoms: Atom, **more: Any) -> Project:
    library = a_library(tmp_path / "library")
    project = a_project(tmp_path, *atoms, **more)
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
