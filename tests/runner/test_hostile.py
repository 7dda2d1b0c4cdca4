"""Conditions in which nothing can go well: each has an end that says why, and nothing is lost by it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.flood import flood

from aotloop.core.model import Constraints, Loop
from aotloop.statefile.redo_log import log_file
from aotloop.statefile.store import Store
from tests.cli.terminal import terminal
from tests.loops import atom
from tests.patience import PATIENCE, give_way, shell_until_there, until
from tests.runner.agents import ANYBODY, done, scripted, times_asked
from tests.runner.disks import Disk, a_disk, may_mount
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project, processes_with
from tests.warm import COMMAND

MEGABYTE = 1 << 20
ONE_ATTEMPT = Constraints(max_total_attempts=1)

on_own_disks = pytest.mark.skipif(not may_mount(), reason="no namespace for mounts")


def waits_for(path: Path, then: str = "true") -> str:
    return f"{shell_until_there(path)}; {then}"


# --- disks -------------------------------------------------------------------------------------------------------


FULL = {
    ".": ("4m", 1, "cannot be written: No space left on device; it is as it was"),
    ".git": ("4m", 6, "blocked: A2: git add failed in .*No space left on device"),
    ".claude": ("40k", 1, "cannot be written: No space left on device; it is as it was"),
}


def seen_on(disk: Disk, state_file: Path, folder: Path) -> Loop:
    """The loop of a state file and its log, which may be ahead of the file."""
    folder.mkdir()
    for path in (str(state_file), log_file(str(state_file))):
        disk.do("cp", path, str(folder))
    return Store(str(folder / state_file.name)).load()


@on_own_disks
@pytest.mark.parametrize("where", FULL)
def test_a_disk_that_is_full_ends_the_run_and_loses_nothing(tmp_path: Path, where: str) -> None:
    size, code, words = FULL[where]
    times, folder = tmp_path / "times", tmp_path / "project" / where
    fill = f"test -f {tmp_path}/go || cat /dev/zero > {folder}/fill"
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo x >> {times}; echo a > a"),
        atom("A2", "A1", run=f"echo x >> {times}; echo b > b; {fill}; true"),
        base_case="test -f b",
        files={".gitignore": "fill\n"},
    )
    with a_disk() as disk:
        shutil.copytree(folder, tmp_path / "copy", symlinks=True)
        assert disk.do("mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)).code == 0
        assert disk.do("cp", "-a", f"{tmp_path}/copy/.", str(folder)).code == 0
        ran = disk.aot(project, "run", "--yes", "--json")
        assert ran.code == code, ran.out + ran.err
        assert re.search(words, ran.out + ran.err)
        left = seen_on(disk, project.state_file, tmp_path / "seen")
        assert left.bindings.keys() <= {
            "A1",
            "A2",
        }  # the disk fills in mid-write; the last page of the log may have room
        assert processes_with(f"AOT_RUN_ID={left.control.run_id}\0") == []
        assert disk.do("rm", f"{folder}/fill").code == 0
        (tmp_path / "go").touch()
        again = disk.aot(project, "run", "--yes", "--json")
        assert again.code == 0, again.out + again.err
        assert b"status: completed" in disk.read(project.state_file)
        log = disk.do("git", "-C", str(project.root), "log", "--format=%s", "--reverse")
        assert log.out.splitlines()[1:] == ["A1: do A1", "A2: do A2"]
    assert times.read_text() == ("x\nx\n" if where == ".claude" else "x\nx\nx\n")  # A2's result was on disk, or not


@on_own_disks
def test_worktrees_that_do_not_fit_are_a_reason_to_wait_for_a_person(tmp_path: Path, own_home: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", files={"large": "x" * 3 * MEGABYTE}
    )
    with a_disk() as disk:
        assert disk.do("mount", "-t", "tmpfs", "-o", "size=1m", "none", str(own_home)).code == 0
        ran = disk.aot(project, "run", "--yes", "--json")
        assert ran.code == 6, ran.err
        assert disk.do("find", str(own_home / ".cache")).out.count("\n") <= 1
    assert str(project.loop.control.stop_reason).startswith("blocked: A1: git read-tree failed in ")
    assert project.statuses() == {"A1": "pending"}
    assert project.run().code == 0
    assert leftovers(project) == []


@on_own_disks
def test_a_state_folder_that_is_read_only_is_said_at_once(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    folder = project.state_file.parent
    with a_disk() as disk:
        disk.make_read_only(folder)
        ran = disk.aot(project, "run", "--yes", "--json")
    assert ran.code == 1
    assert "Read-only file system" in ran.err
    assert "has to be writable" in ran.err
    assert project.run().code == 0


@on_own_disks
def test_a_state_folder_that_becomes_read_only_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    times = tmp_path / "times"
    project = a_project(
        tmp_path, atom("A1", run=waits_for(tmp_path / "go", f"echo x >> {times}; echo a > a")), base_case="test -f a"
    )
    folder = project.state_file.parent
    with a_disk() as disk:
        process = disk.start(project, "run", "--yes", "--json")
        until(lambda: project.statuses()["A1"] == "in_progress")
        disk.make_read_only(folder)
        (tmp_path / "go").touch()
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert "cannot be written: Read-only file system; it is as it was" in err
    assert project.loop.control.status in {"running", "completed"}  # an open log can still be written
    assert processes_with(f"AOT_RUN_ID={project.loop.control.run_id}\0") == []
    again = project.run()
    assert again.code == 0
    assert times.read_text() == "x\n"  # its result was on disk
    assert project.subjects() == ["A1: do A1"]
    assert leftovers(project) == []


def test_a_limit_on_the_size_of_files_is_said_and_loses_nothing(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    with project.state_file.open("a") as file:
        file.write("notes\n" * 2000)
    before = project.state_file.read_bytes()
    limited = ["sh", "-c", f"ulimit -f 8; exec {COMMAND} run --yes"]
    done_ = subprocess.run(limited, cwd=project.root, capture_output=True, text=True, check=False)
    assert done_.returncode == 1
    assert "cannot be written: File too large; it is as it was" in done_.stderr
    assert project.state_file.read_bytes() == before
    assert [path.name for path in project.state_file.parent.iterdir()] == ["aot-loop-state.md"]
    assert project.run().code == 0


def test_a_journal_that_somebody_removes_costs_evidence_and_nothing_else(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=waits_for(tmp_path / "go", "echo a > a")),
        atom("A2", "A1", run="echo b > b"),
        base_case="test -f b",
    )
    with project.running() as process:
        until((project.root / ".aot" / "attempts" / "A1-1").is_dir)
        shutil.rmtree(project.root / ".aot")
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert project.is_clean()  # it ignores itself again
    assert "run_ended" in [one["kind"] for one in project.news()]
    assert leftovers(project) == []


# --- git ---------------------------------------------------------------------------------------------------------


def test_a_lock_that_a_dead_git_left_is_named_and_nothing_is_paid_for_twice(tmp_path: Path) -> None:
    config = scripted(tmp_path, {ANYBODY: [done({"a": "a\n"})]})
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    lock = project.root / ".git" / "index.lock"
    lock.touch()
    ran = project.run()
    assert ran.code == 6
    assert project.loop.control.stop_reason == (
        f"blocked: another git process keeps {lock}; if none is running, remove that file"
    )
    assert lock.exists()
    lock.unlink()
    assert project.run().code == 0
    assert times_asked(tmp_path, "A1") == 1
    assert leftovers(project) == []


def test_a_git_that_is_at_work_is_waited_for(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    lock = project.root / ".git" / "index.lock"
    lock.touch()
    with project.running() as process:
        until((project.root / ".aot" / "events.jsonl").exists)
        until(lambda: any(one["kind"] == "attempt_ended" for one in project.news()))
        give_way(0.3)
        assert project.subjects() == []
        lock.unlink()
        assert process.wait(PATIENCE) == 0
    assert project.subjects() == ["A1: do A1"]


def test_without_git_it_says_so_and_changes_nothing(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "cat", "sleep"):
        (tools / name).symlink_to(str(shutil.which(name)))
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", environ={"PATH": str(tools)})
    ran = project.run()
    assert ran.code == 1
    assert "git cannot be started" in ran.err
    assert project.loop.control.status == "pending"
    assert project.run("--isolation", "none").code == 0


def test_a_home_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", environ={"HOME": "/dev/null"})
    ran = project.run()
    assert ran.code == 6
    assert "no worktree can be made in /dev/null/.cache" in str(project.loop.control.stop_reason)
    assert "XDG_CACHE_HOME" in ran.out
    assert project.statuses() == {"A1": "pending"}
    elsewhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert Project(project.root, environ=elsewhere).run().code == 0
    assert project.worktrees() == []


# --- agents ------------------------------------------------------------------------------------------------------


def test_a_flood_of_output_is_taken_in_bounded_memory(tmp_path: Path) -> None:
    """`python -m faults --flood` does it with a gigabyte."""
    for name in ("usual", "flooded"):
        (tmp_path / name).mkdir()
    usual, flooded = flood(tmp_path / "usual", 0), flood(tmp_path / "flooded", 200)
    assert flooded.memory < usual.memory + 64
    assert flooded.kept + flooded.printed < 50


def test_output_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    evil = r"printf '\377\376\033]0;evil\007\033[2J\000\r\n\302'; printf '\033[31mall \377 done\033[0m \342\200\256\n'"
    project = a_project(tmp_path, atom("A1", run=f"{evil}; echo a > a"), base_case="test -f a")
    with terminal("run", "--yes", "--state-file", str(project.state_file)) as screen:
        assert screen.end() == 0
    assert "\x1b]0;evil" not in screen.shown
    assert "\x1b[2J" not in screen.text
    data = project.state_file.read_bytes()
    assert b"\x1b" not in data
    assert b"\xff" not in data
    assert Store(str(project.state_file)).examine().errors == ()
    assert "done" in project.loop.bindings["A1"].summary
    assert all(isinstance(one, dict) for one in project.news())
    assert leftovers(project) == []


def test_an_agent_that_never_ends_is_ended(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="trap '' TERM; while :; do echo I am busy; sleep 0.1; done", timeout="0.5s"),
        base_case="false",
        constraints=Constraints(max_attempts=1),
    )
    ran = project.run()
    assert ran.code == 4
    assert "did not end within 0.5 s" in project.loop.trail[0].reason
    assert leftovers(project) == []


@pytest.mark.parametrize(
    ("limit", "says", "word"), [("start_up", "", "of its start"), ("inactivity", "hello", "for 0.5 s")]
)
def test_an_agent_that_falls_silent_is_ended_and_not_asked_without_end(
    tmp_path: Path, limit: str, says: str, word: str
) -> None:
    order = {"say": says, "hang": True} if says else {"hang": True}
    config = scripted(tmp_path, {ANYBODY: [order]}, more=f'timeouts = {{{limit} = "0.5s"}}')
    project = a_project(tmp_path, atom("A1"), base_case="false", config=config, constraints=ONE_ATTEMPT)
    ran = project.run()
    assert ran.code == 6, ran.err
    reason = project.loop.control.stop_reason or ""
    assert "printed nothing" in reason
    assert word in reason
    assert times_asked(tmp_path, "A1") == 3
    assert (project.loop.trail, project.loop.atoms[0].failures) == ([], 0), "the atom is not the cause"
    assert leftovers(project) == []


def test_what_a_set_up_leaves_running_ends_with_the_run(tmp_path: Path) -> None:
    config = f'setup = "setsid sleep 3600 >/dev/null 2>&1 & touch {tmp_path}/set-up"\n'
    project = a_project(
        tmp_path,
        atom("A1", run=waits_for(tmp_path / "go", "echo a > a")),
        base_case="test -f a",
        config=config,
    )
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "in_progress" and (tmp_path / "set-up").exists())
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert leftovers(project) == []


# --- clocks ------------------------------------------------------------------------------------------------------

JUMPING = """
import random, time
_real = time.time
def _jumped():
    return _real() + random.choice((-10 ** 8, -3600, 0, 3600, 10 ** 8))
_gmtime, _localtime = time.gmtime, time.localtime
time.time = _jumped
time.gmtime = lambda seconds=None: _gmtime(_jumped() if seconds is None else seconds)
time.localtime = lambda seconds=None: _localtime(_jumped() if seconds is None else seconds)
"""


def test_a_clock_that_jumps_decides_nothing(tmp_path: Path) -> None:
    """Whoever asks for the time of day hears another year each time."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(JUMPING)
    environ = {"PYTHONPATH": str(tmp_path / "site")}
    shown = subprocess.run(
        [sys.executable, "-c", "import time; print(len({time.gmtime().tm_year for _ in range(50)}))"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(shown.stdout) > 1
    project = a_project(
        tmp_path,
        *(atom(f"A{number}", run=f"sleep 0.2; echo {number} > f{number}") for number in range(4)),
        atom("P", or_group="way", run="echo p > p"),
        atom("Q", or_group="way", run="echo q > q"),
        atom("slow", "A1", run="test -f q; sleep 3600", timeout="0.5s"),
        atom("D", "P", run="test -f q && echo d > d"),
        base_case="test -f d",
        constraints=Constraints(max_runtime="59m", max_attempts=1),
        environ=environ,
    )
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "resolved")
        assert project.aot("redirect", "--set", "max_iterations=50").code == 0
        assert process.wait(PATIENCE) == 0
    assert 0 < project.loop.control.ran_seconds < 3600
    assert "did not end within 0.5 s" in " ".join(entry.reason for entry in project.loop.trail)
    assert leftovers(project) == []
