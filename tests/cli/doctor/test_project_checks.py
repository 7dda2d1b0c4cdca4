"""The doctor looks at the project: state file, run, locks and leftovers of earlier runs."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from tests.cli.doctor.findings import found
from tests.cli.terminal import aot
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop


def test_a_file_with_mistakes_is_a_problem(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", "A9"), status="pending"))
    before = path.read_bytes()
    assert found()["state file"]["ok"] is False
    assert aot("doctor").code == 1
    assert path.read_bytes() == before


def test_whoever_runs_the_loop_is_named(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    assert found()["run"]["fix"] == "`aot run` continues the loop."
    with held_by_another(path) as other:
        assert found()["run"]["said"].startswith(f"process {other.pid} runs it")


def test_an_old_lock_of_git_is_a_problem_and_a_young_one_is_not(project: Path, own_home: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    lock = project / ".git" / "index.lock"
    lock.touch()
    told = found()
    assert "index.lock" in told["git's lock"]["said"]
    assert told["git's lock"]["ok"] is None
    assert "worktrees" not in told
    assert list(own_home.iterdir()) == []
    long_ago = time.time() - 7300
    os.utime(lock, (long_ago, long_ago))
    told = found()
    assert told["git's lock"]["ok"] is False
    assert re.search(r"for 2h \d\dm$", told["git's lock"]["said"])


def test_what_dead_processes_left_beside_the_state_file_is_told(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    told = found()
    assert not {one for one in told if told[one]["about"] == "leftovers"}
    lease = path.with_name(f".{path.name}.run")
    lease.write_text('{"pid": 1, "since": ""}')
    path.with_name(f".{path.name}.tmp").write_text("half")
    path.with_name(f".{path.name}.log").write_text("updates")
    told = found()
    assert "of a run that was killed" in told["updates beside the state file"]["said"]
    assert told["lock (run)"]["ok"] is None
    assert str(lease) in told["lock (run)"]["said"]
    assert "never finished" in told["half a state file"]["said"]
    assert aot("doctor").code == 0
    with held_by_another(path):
        assert "lock (run)" not in found()


def test_worktrees_and_kept_attempts_of_earlier_runs_are_counted(project: Path, own_home: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=project, check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], cwd=project, check=True)
    for number in (1, 2):
        subprocess.run([*git, "update-ref", f"refs/aot/attempts/A{number}", "HEAD"], cwd=project, check=True)
    pool = own_home / "elsewhere"
    pool.mkdir()
    (pool / "aot-0123456789.lock").touch()
    (project / "aot.toml").write_text(f'worktrees = "{pool}"\n')
    told = found()
    assert told["kept attempts"]["said"].startswith("2 commits ")
    assert "`git show refs/aot/attempts/A1`" in told["kept attempts"]["fix"]
    assert told["worktrees"]["said"].startswith("1 worktree of earlier runs")
    with held_by_another(path):
        assert "worktrees" not in found()
