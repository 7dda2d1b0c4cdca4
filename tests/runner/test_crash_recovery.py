"""A run is killed, at any instant: the next one goes on, and nothing was lost, doubled, or left behind."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from faults.campaign import Trial, trial

from aotloop.core.model import AtomCheck, Constraints
from aotloop.execution.budget import Bill
from aotloop.execution.journals.journal import RECORD, USED
from aotloop.execution.journals.records import Record
from aotloop.statefile import durable
from tests.loops import atom
from tests.patience import shell_until_there, until
from tests.runner.agents import ANYBODY, done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project


def waits_for(path: Path, then: str = "true") -> str:
    return f"{shell_until_there(path)}; {then}"


@contextmanager
def killed_when(project: Project, in_progress: str) -> Iterator[None]:
    """A run that is killed when an agent has begun with this atom, and the body has been left."""
    before = _begun(project, in_progress)
    with project.running() as process:
        until(lambda: project.statuses()[in_progress] == "in_progress" and _begun(project, in_progress) > before)
        yield
        process.send_signal(signal.SIGKILL)
        process.wait()


def _begun(project: Project, name: str) -> int:
    """How many attempts there were at it."""
    return len(list((project.root / ".aot" / "attempts").glob(f"{name}-*")))


# --- at random ---------------------------------------------------------------------------------------------------


def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(tmp_path: Path, own_home: Path) -> None:
    """The short version of `make faults`."""
    kills = 0
    for seed in range(7, 11):
        folder = tmp_path / str(seed)
        folder.mkdir()
        tried = _tried(folder, seed, own_home)
        assert tried.problems == [], (seed, tried.strikes)
        kills += len(tried.strikes)
        if kills >= 6:
            return


def _tried(folder: Path, seed: int, home: Path) -> Trial:
    names = ("PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "AOT_SANDBOX")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return trial(folder, seed, {**kept, "HOME": str(home)}, kills=6)


# --- at one point ------------------------------------------------------------------------------------------------

MOMENTS = {
    "before git moves anything": "kill -9 $PPID; exit 1",
    "in the midst of the files": "seq 100 > one.txt; kill -9 $PPID; exit 1",
    "between the landing and the state file": '"$REAL" "$@"; kill -9 $PPID; exit',
    "together with its git": "touch .git/HEAD.lock .git/refs/heads/main.lock; kill -9 $PPID; exit 1",
}
"""What a git does in place of the first `git merge`; $PPID is the run."""


def with_git_that(folder: Path, case: str, instead: str) -> dict[str, str]:
    """An environment in which the first git with these words does something else; $REAL is git."""
    script, struck = folder / "bin" / "git", folder / "struck"
    script.parent.mkdir()
    first = f"test ! -e {struck} && touch {struck}"
    script.write_text(
        f"#!/bin/sh\nREAL={shutil.which('git')}\n"
        f'case "$*" in {case}) if {first}; then {instead}; fi;; esac\nexec "$REAL" "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_landing_that_was_killed_is_finished_once(tmp_path: Path, moment: str) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"seq 20000 > one.txt; seq 20000 > two.txt; echo x >> {tmp_path}/times"),
        base_case="cmp one.txt two.txt",
        environ=with_git_that(tmp_path, "*--ff-only*", MOMENTS[moment]),
    )
    assert project.run().code == -signal.SIGKILL
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.subjects() == ["A1: do A1"]
    assert (tmp_path / "times").read_text() == "x\n"
    assert project.is_clean()
    assert leftovers(project) == []


@pytest.mark.parametrize("words", ["*read-tree*--reset*", "*ls-files*--modified*--directory*"])
def test_a_git_that_outlives_its_run_disturbs_nobody(tmp_path: Path, words: str) -> None:
    """It goes on to write the files of a worktree, which is why the next run leaves that worktree alone."""
    slow = f'{shell_until_there(tmp_path / "next")}; "$REAL" "$@"; touch {tmp_path}/late; exit'
    project = a_project(
        tmp_path,
        atom("A1", run=f"touch {tmp_path}/next; echo more >> README.md; {waits_for(tmp_path / 'late')}"),
        base_case="grep -q more README.md",
        environ=with_git_that(tmp_path, words, slow),
    )
    with project.running() as process:
        until((tmp_path / "struck").exists)
        process.kill()
        process.wait()
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "README.md").read_text() == "a project\nmore\n"
    assert leftovers(project) == []


def test_half_a_state_file_that_was_left_is_nobodys_change(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    left = Path(durable.beside(str(project.state_file), "tmp"))
    left.write_bytes(project.state_file.read_bytes()[:100])
    ran = project.run()
    assert ran.code == 0, ran.err
    assert not left.exists()


def test_what_is_left_after_the_last_step_is_tidied_up(tmp_path: Path) -> None:
    """Killed when the file says completed, and the worktrees are still there."""
    project = a_project(tmp_path, *(atom(f"A{n}", run=f"echo {n} > f{n}") for n in range(1, 4)), base_case="test -f f1")
    with project.running() as process:
        until(lambda: b"status: completed" in project.state_file.read_bytes())
        process.kill()
        process.wait()
    assert project.run().code == 0
    assert leftovers(project) == []


# --- results that are old ----------------------------------------------------------------------------------------


def test_a_result_of_a_way_that_was_left_is_not_taken_up(tmp_path: Path) -> None:
    """The run died between the file and its own note that D's result was used; then D had to be done again."""
    again = tmp_path / "again"
    project = a_project(
        tmp_path,
        atom("P", or_group="way", run="echo p > p.txt"),
        atom("Q", or_group="way", run="echo q > q.txt"),
        atom("D", "P", run=f"ls > d.txt; if test -f q.txt; then {waits_for(again)}; fi"),
        atom("E", "D", run=waits_for(tmp_path / "go", "test -f q.txt")),
        base_case="test -f d.txt -a -f q.txt",
        constraints=Constraints(max_attempts=1),
    )
    with killed_when(project, "E"):
        pass
    (used,) = (project.root / ".aot" / "attempts").glob(f"D-*/{USED}")
    used.rename(used.with_name(RECORD))
    (tmp_path / "go").touch()
    with killed_when(project, "D"):
        pass
    again.touch()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "p.txt" not in (project.root / "d.txt").read_text()
    assert leftovers(project) == []


def test_a_result_that_was_cancelled_while_it_was_checked_is_not_taken_up(tmp_path: Path) -> None:
    again = tmp_path / "again"
    project = a_project(
        tmp_path,
        atom("P", or_group="way", run="echo p > p.txt"),
        atom("Q", or_group="way", run="echo q > q.txt"),
        atom(
            "D",
            "P",
            run=f"ls > d.txt; if test -f q.txt; then {waits_for(again)}; fi",
            check=AtomCheck(type="command", value=f"touch {tmp_path}/checked; test -f q.txt || {waits_for(again)}"),
        ),
        atom("E", "P", run=waits_for(tmp_path / "checked", "test -f q.txt")),
        base_case="test -f d.txt -a -f q.txt",
        constraints=Constraints(max_attempts=1, max_total_attempts=7),  # so few that E's first failure blames P
    )
    with killed_when(project, "D"):
        until(lambda: project.loop.or_groups["way"].selected == "Q" and project.statuses()["Q"] == "resolved")
        until(lambda: project.statuses()["D"] == "in_progress")
    again.touch()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "p.txt" not in (project.root / "d.txt").read_text()
    assert leftovers(project) == []


def test_what_an_attempt_has_cost_is_counted_once_however_often_the_run_dies(tmp_path: Path) -> None:
    config = scripted(tmp_path, {ANYBODY: [done({"a": "a\n"}, after=str(tmp_path / "go"))]})
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    with killed_when(project, "A1"):
        pass
    control = project.loop.control
    folder = project.root / ".aot" / "attempts" / "A1-1"
    spent = Record(
        run_id=str(control.run_id), epoch=control.epoch, atom="A1", attempt=1, outcome="failed", bill=Bill(usd=1.5)
    )
    (folder / RECORD).write_bytes(msgspec.json.encode(spent))
    for _ in range(2):
        with killed_when(project, "A1"):
            assert project.loop.control.cost_usd == 1.5
    (tmp_path / "go").touch()
    assert project.run().code == 0
    assert project.loop.control.cost_usd == 1.5


def test_counters_are_what_they_were(tmp_path: Path) -> None:
    config = scripted(tmp_path, {"A2": [done({"b": "b\n"}, after=str(tmp_path / "go"))]})
    project = a_project(
        tmp_path, atom("A1", run="echo a > a"), atom("A2", "A1"), base_case="test -f a -a -f b", config=config
    )
    with killed_when(project, "A2"):
        pass
    before = project.loop.control
    with killed_when(project, "A2"):
        pass
    now = project.loop.control
    assert now.iteration >= before.iteration > 0
    assert now.ran_seconds > before.ran_seconds
    assert (now.run_id, now.epoch) == (before.run_id, before.epoch)
    (tmp_path / "go").touch()
    assert project.run().code == 0


def test_whatever_the_dead_run_had_started_is_dead_before_anything_new_begins(tmp_path: Path) -> None:
    """Even a daemon that left its session: it is known by the run's mark in its environment."""
    ticking = f"import time\nwhile True: open('{tmp_path}/ticks', 'a').write('x'); time.sleep(0.01)"
    daemon = f'setsid python3 -c "{ticking}" >/dev/null 2>&1 & touch {tmp_path}/begun'
    project = a_project(
        tmp_path,
        atom("A1", run=f"test -f {tmp_path}/begun || {{ {daemon}; sleep 3600; }}; wc -c < {tmp_path}/ticks > a"),
        base_case="test -f a",
    )
    with killed_when(project, "A1"):
        until((tmp_path / "ticks").exists)
    assert project.run().code == 0
    assert int((project.root / "a").read_text()) == (tmp_path / "ticks").stat().st_size
    assert leftovers(project) == []
