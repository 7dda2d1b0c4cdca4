"""What an attempt came to is on disk before anything follows from it: a run that dies in between does not buy it twice.

The run is killed at the very call that would write what came of the attempt, to the state file or to its log: the
attempt has ended, and neither says so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.shim import Fault, Shim, why_not

from aotloop.core.model import Atom, AtomCheck
from aotloop.execution.journals.journal import RECORD
from aotloop.statefile.redo_log import log_file
from tests.app.ship.features import ENOUGH, PLAN, PLAN_FILE, a_feature, made, orders
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.phases.driver.test_driver_limits import costing
from tests.runner.agents import ANYBODY, Order, done, fails, finds, proposes, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

WRITES = ("rename", "write")

both = pytest.mark.parametrize("isolation", ["worktree", "none"])


def last_words(folder: Path) -> str:
    """The next update that is written is the one that tells of the attempt which says this.

    The pattern does not find itself: the command is in the file, too.
    """
    state = folder / "project" / ".claude" / "aot-loop-state.md"
    return f"until grep -q 'status: in_[p]rogress' {state}; do sleep 0.01; done; touch {folder}/ended"


def followers() -> tuple[Atom, ...]:
    """One may begin while the file is still being written; not two, so that the base case does not hold by then."""
    return atom("A2", "A1", run="echo b > b"), atom("A3", "A2", run="echo c > c")


def written(project: Project) -> str:
    """The state file or its log, as a pattern for calls."""
    return str(project.state_file.parent / "*aot-loop-state.m*[dg]")


def killed(
    folder: Path, project: Project, library: Path, *words: str, deed: str = "kill", since: Path | None = None
) -> None:
    fault = Fault(deed, 1, WRITES, of=written(project), since=str(since or folder / "ended"))
    shim = Shim(library, (project.root,), folder / "count")
    plain, project.environ = project.environ, {**project.environ, **shim.environ(fault)}
    assert project.run(*words).code == -signal.SIGKILL
    project.environ = plain
    (struck,) = shim.told.read_text().splitlines()
    assert struck in (f"python rename {project.state_file}", f"python write {log_file(str(project.state_file))}")


def resumed(project: Project, isolation: str) -> None:
    ran = project.run("--isolation", isolation, "--allow-dirty")
    assert ran.code == 0, ran.out + ran.err
    assert leftovers(project) == []


# --- commands ----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("deed", ["echo a > a", "true"], ids=["changes a file", "changes nothing"])
def test_a_command_is_not_run_again(tmp_path: Path, library: Path, isolation: str, deed: str) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"{deed}; echo 1 >> {tmp_path}/log; {last_words(tmp_path)}"),
        *followers(),
        base_case="test -f c",
    )
    killed(tmp_path, project, library, "--isolation", isolation)
    assert project.statuses()["A1"] == "in_progress"
    resumed(project, isolation)
    assert (tmp_path / "log").read_text().split().count("1") == 1


@both
def test_what_began_before_the_file_said_so_and_ended_is_not_done_again_either(
    tmp_path: Path, library: Path, isolation: str
) -> None:
    """That A1 is resolved takes long to write; meanwhile A2, which builds on it, begins and ends."""
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo a > a; echo 1 >> {tmp_path}/log; {last_words(tmp_path)}"),
        atom("A2", "A1", run=f"cat a > b; echo 2 >> {tmp_path}/log"),
        atom("A3", "A2", run="echo c > c"),
        base_case="test -f c",
    )
    told = tmp_path / "ended" if isolation == "none" else project.root / "a"  # A1 has ended, and landed
    fault = Fault("slow", 1, WRITES, pause=PATIENCE, of=written(project), since=str(told))
    shim = Shim(library, (project.root,), tmp_path / "count")
    project.environ = shim.environ(fault)
    with project.running("--isolation", isolation) as process:
        until(lambda: list((project.root / ".aot" / "attempts").glob(f"A2-*/{RECORD}")))
        process.kill()
        process.wait()
    project.environ = {}
    assert project.statuses() == {"A1": "in_progress", "A2": "pending", "A3": "pending"}
    resumed(project, isolation)
    assert (tmp_path / "log").read_text().split() == ["1", "2"]


# --- agents ------------------------------------------------------------------------------------------------------


Told = Callable[[str], Order]

ENDS: dict[str, tuple[str, Told, Atom]] = {
    "done": ("A1", lambda words: done({"a": "a"}, run=words), atom("A1")),
    "done without a change": ("A1", lambda words: done(run=words), atom("A1")),
    "proposed": ("A1", lambda words: proposes("a part", run=words), atom("A1")),
    "probed": ("A1?", lambda words: finds("it can be done", run=words), atom("A1", probe=True)),
}


@both
@pytest.mark.parametrize("end", ENDS)
def test_an_agent_is_not_asked_again(tmp_path: Path, library: Path, isolation: str, end: str) -> None:
    key, told, subject = ENDS[end]
    config = scripted(tmp_path, {ANYBODY: [done({"x": "x"})], key: [told(last_words(tmp_path))]})
    project = a_project(tmp_path, subject, *followers(), base_case="test -f c", config=config)
    killed(tmp_path, project, library, "--isolation", isolation)
    resumed(project, isolation)
    assert times_asked(tmp_path, key) == 1


@both
@pytest.mark.parametrize("deed", ["kill", "killed-after"])
def test_a_failure_counts_once(tmp_path: Path, library: Path, isolation: str, deed: str) -> None:
    """Whether the file knew of it or not; and it is told to the one who tries it next."""
    config = scripted(tmp_path, {"A1": [fails("no idea", run=last_words(tmp_path)), done({"a": "a"})]})
    project = a_project(tmp_path, atom("A1"), *followers(), base_case="test -f c", config=config)
    record = project.root / ".aot" / "attempts" / "A1-1" / RECORD
    killed(tmp_path, project, library, "--isolation", isolation, deed=deed, since=record)
    assert len(project.loop.trail) == (deed == "killed-after")
    resumed(project, isolation)
    assert [(one.type, one.reason) for one in project.loop.trail] == [("failure", "no idea")]
    prompts = sorted((project.root / ".aot" / "attempts").glob("A1-*/prompt.md"))
    assert "no idea" in prompts[-1].read_text()


@both
@pytest.mark.parametrize("files", [{"a": "a"}, {}], ids=["changes a file", "changes nothing"])
def test_a_result_that_was_not_checked_is_checked_by_the_next_run(
    tmp_path: Path, isolation: str, files: dict[str, str]
) -> None:
    """And nobody is asked for it again."""
    check = f"touch {tmp_path}/checking; test -f {tmp_path}/go || sleep 600; echo checked >> {tmp_path}/log"
    config = scripted(tmp_path, {"A1": [done(files)]})
    subject = atom("A1", check=AtomCheck(type="command", value=check))
    project = a_project(tmp_path, subject, *followers(), base_case="test -f c", config=config)
    with project.running("--isolation", isolation) as process:
        until((tmp_path / "checking").exists)
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    resumed(project, isolation)
    assert times_asked(tmp_path, "A1") == 1
    assert (tmp_path / "log").exists()


@both
def test_a_result_that_does_not_pass_its_check_after_all_is_a_failure(tmp_path: Path, isolation: str) -> None:
    check = f"touch {tmp_path}/checking; test -f {tmp_path}/go || sleep 600; test -f good"
    config = scripted(tmp_path, {"A1": [done(), done({"good": "good"})]})
    subject = atom("A1", check=AtomCheck(type="command", value=check))
    project = a_project(tmp_path, subject, *followers(), base_case="test -f c", config=config)
    with project.running("--isolation", isolation) as process:
        until((tmp_path / "checking").exists)
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    resumed(project, isolation)
    assert [one.type for one in project.loop.trail] == ["failure"]
    assert times_asked(tmp_path, "A1") == 2


# --- phases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deed", ["kill", "killed-after"])
@pytest.mark.parametrize("call", [1, 2, 3], ids=["its bill", "its reason", "the end of the turn"])
def test_a_turn_that_failed_is_neither_made_nor_counted_again(
    tmp_path: Path, library: Path, deed: str, call: int
) -> None:
    failing = costing(fails("no idea", run=f"touch {tmp_path}/ended"), 0.25)
    feature = a_feature(tmp_path, orders(plan=[failing, made({PLAN_FILE: PLAN})], spec_test=ENOUGH))
    fault = Fault(deed, call, ("rename",), of=str(feature.file), since=str(tmp_path / "ended"))
    shim = Shim(library, (feature.root,), tmp_path / "count")
    plain, feature.environ = feature.environ, {**feature.environ, **shim.environ(fault)}
    assert feature.ship("a feature", "--skip-test-review", "--max-iterations", "2").code == -signal.SIGKILL
    feature.environ = plain
    feature.ship()
    assert [one.message for one in feature.loop.errors if one.phase == "plan"] == ["no idea"]
    assert (feature.asked("plan"), feature.loop.phase) == (2, "spec_test")
    assert feature.loop.spent_usd == pytest.approx(0.25)
