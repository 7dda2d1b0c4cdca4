"""What a worker does around an attempt: set-up there, and a fence that keeps it from the worker's own files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck
from tests.loops import atom
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.remote.test_failures import a_key

pytestmark = pytest.mark.temporal


def test_set_up_runs_on_the_worker_for_attempts_and_for_checks(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    set_up = f"echo $AOT_RUN_ID >> {log}; mkdir -p made; echo ready > made/by-setup"
    check = AtomCheck(type="command", value="grep -q ready made/by-setup && test -f a")
    work = atom("A1", run="grep ready made/by-setup > a", check=check)
    with a_remote_project(tmp_path, server, work, base_case="test -f a") as (project, _):
        (project.root / ".gitignore").write_text("made\n")
        project.git("add", ".gitignore")
        project.git("commit", "--quiet", "-m", "ignore")
        own = tmp_path / "own" / "aotloop" / "config.toml"
        own.write_text(f"setup = '{set_up}'\n{own.read_text()}")
        ran = project.aot("run", "--yes")
        assert ran.code == 0, ran.out + ran.err
        assert project.git("show", "HEAD:a") == "ready"
    assert {line.split("-")[0] for line in log.read_text().split()} == {"worker"}


def test_an_attempt_reaches_neither_the_workers_files_nor_its_key_nor_a_tree_of_checks(
    tmp_path: Path, server: Server
) -> None:
    """With them it could make up results. Its worker's home is in a temporary folder, which is open to agents."""
    home, key = tmp_path / "worker" / "home", a_key(tmp_path, "1")
    folders = f"{home} {home}/parcels {home}/orders {home}/mirrors/project/.git {home}/attempts"
    evil = f"for d in {folders}; do mkdir -p $d; echo evil > $d/evil; done"
    trees = "find $HOME -name 'tree-*' -type d -exec sh -c 'echo evil > $0/evil' {} \\;"
    check = AtomCheck(type="command", value="test -f a && test ! -e evil")
    read = f"cat {tmp_path}/key-1 > a; echo a >> a"
    with a_remote_project(
        tmp_path,
        server,
        atom("A1", run="echo b > b", check=AtomCheck(type="command", value="test -f b")),
        atom("A2", "A1", run=f"({evil}; {trees}; {read}) 2>/dev/null", check=check),
        base_case="test -f a",
        settings=key,
    ) as (project, worker):
        worker.end()
        worker.is_confined = True
        worker.start()
        ran = project.aot("run", "--yes")
        assert ran.code == 0, ran.out + ran.err
        assert project.git("show", "HEAD:a") == "a"
    assert not list(home.rglob("evil"))


def test_behind_the_fence_an_attempt_works_in_the_usual_home(tmp_path: Path, server: Server) -> None:
    """It is in the data folder, which the fence hides."""
    home = Path(os.environ["HOME"], ".local", "share", "aotloop", "worker")
    home.mkdir(parents=True)
    worker = WorkerProcess(server, home, {"project": tmp_path / "project"}, "", is_confined=True)
    check = AtomCheck(type="command", value="grep -q a a")
    set_up = "mkdir -p made; echo a > made/a"
    with a_remote_project(
        tmp_path, server, atom("A1", run="cp made/a a", check=check), base_case="test -f a", worker=worker
    ) as (project, _):
        (project.root / ".gitignore").write_text("made\n")
        project.git("add", ".gitignore")
        project.git("commit", "--quiet", "-m", "ignore")
        own = tmp_path / "own" / "aotloop" / "config.toml"
        own.write_text(f"setup = '{set_up}'\n{own.read_text()}")
        ran = project.aot("run", "--yes")
        assert ran.code == 0, ran.out + ran.err + worker.log
