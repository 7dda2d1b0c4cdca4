"""`aot demo` shows what it promises, by what it leaves behind: the state file, the journal, and git's own history."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import psutil
import pytest

from aotloop.cli.demo.stage import example
from aotloop.core.model import Loop
from aotloop.execution import run_events as news
from aotloop.execution.journals.event_file import AnyEvent
from aotloop.flock import open_lock, wait_for_lock
from aotloop.statefile.store import Store
from tests.cli.terminal import Ran, on_terminal, spawn
from tests.patience import PATIENCE
from tests.warm import COMMAND

ROOT = Path(__file__).parents[3]

AT_ONCE = ("units", "words", "card")
HINDRANCES = {"AOT_AGENT": "nobody", "AOT_ISOLATION": "none", "AOT_STATE_FILE": "/none", "GIT_DIR": "/none"}
"""What may be set where somebody tries the demonstration, and has nothing to do with it."""


class Shown(msgspec.Struct, frozen=True):
    ran: Ran
    home: Path
    project: Path

    @property
    def loop(self) -> Loop:
        return Store(str(self.project / ".claude" / "aot-loop-state.md")).load()

    @property
    def news(self) -> list[news.RunEvent]:
        lines = (self.project / ".aot" / "events.jsonl").read_bytes().splitlines()
        return [msgspec.json.decode(line, type=AnyEvent) for line in lines]

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(self.project), *words], capture_output=True, check=True, text=True)
        return done.stdout


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """One demonstration for all tests and workers that look at it, in the home of a person without any settings."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demonstration"
    shared.mkdir(exist_ok=True)
    home, folder, ended = shared / "home", shared / "demo" / "kept", shared / "ended.json"
    lock = open_lock(shared / "lock")
    try:
        assert wait_for_lock(lock, PATIENCE)
        if not ended.exists():
            home.mkdir()
            homes = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache")}
            folder.parent.mkdir()
            ran = spawn("demo", "--fast", "--folder", str(folder), environ={**HINDRANCES, **homes})
            assert ran.code == 0, ran.out + ran.err
            ended.write_bytes(msgspec.json.encode(ran))
    finally:
        os.close(lock)
    return Shown(msgspec.json.decode(ended.read_bytes(), type=Ran), home, folder / "pancakes")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a demonstration makes its folder, if it is not told where."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


# --- what it shows -----------------------------------------------------------------------------------------------


def test_it_begins_red_and_ends_verified_at_the_commit_that_is_checked_out(shown: Shown) -> None:
    verdicts = [one for one in shown.news if isinstance(one, news.Verified) and one.atom is None]
    assert [one.passed for one in verdicts] == [False, True]
    control = shown.loop.control
    assert control.status == "completed"
    assert control.verdict is not None
    assert control.verdict.passed
    assert control.verdict.commit == shown.git("rev-parse", "HEAD").strip()


def test_three_atoms_are_worked_on_at_the_same_time(shown: Shown) -> None:
    at_work: set[str] = set()
    most: set[str] = set()
    for one in shown.news:
        if isinstance(one, news.AttemptBegan) and one.atom in AT_ONCE:
            at_work.add(one.atom)
        elif isinstance(one, news.AttemptEnded):
            at_work.discard(one.atom)
        most = max(most, set(at_work), key=len)
    assert most == set(AT_ONCE)


def test_the_first_alternative_is_merged_fails_its_check_and_is_taken_back(shown: Shown) -> None:
    merged = [one.atom for one in shown.news if isinstance(one, news.Merged)]
    judged = [one.passed for one in shown.news if isinstance(one, news.Verified) and one.atom == "floats"]
    switched = [(one.left, one.selected) for one in shown.news if isinstance(one, news.SwitchedTo)]
    taken_back = [one.atoms for one in shown.news if isinstance(one, news.TakenBack)]
    assert {"floats_read", "floats_write"} < set(merged)
    assert judged == [False]
    assert switched == [("floats", "fractions")]
    assert [sorted(one) for one in taken_back] == [["floats_read", "floats_write"]]
    group = shown.loop.or_groups["amounts"]
    assert (group.selected, group.failed) == ("fractions", ("floats",))
    failed = [one.reason for one in shown.loop.trail if one.selected is None]
    assert failed[1:] == ["A float is never a third"]  # of its repair, which names the choice in its way
    assert [one.selected for one in shown.loop.trail] == [None, None, "fractions"]


def test_nothing_of_the_alternative_that_was_left_is_in_the_result(shown: Shown) -> None:
    subjects = shown.git("log", "--format=%s").splitlines()
    assert {"Take back floats_read", "Take back floats_write"} < set(subjects)
    assert "Fraction" in shown.git("show", "HEAD:kitchen/amounts.py")
    assert "float" not in shown.git("grep", "-h", "", "HEAD", "--", "kitchen")


def test_an_atom_is_split_by_its_agent_and_checked_as_a_whole(shown: Shown) -> None:
    split = shown.loop.decompositions[-1]
    assert (split.parent, len(split.children)) == ("recipe", 3)
    outcomes = [(one.atom, one.outcome) for one in shown.news if isinstance(one, news.AttemptEnded)]
    assert ("recipe", "proposed") in outcomes
    assert {(child, "done") for child in split.children} < set(outcomes)
    agents = {one.atom: one.agent for one in shown.news if isinstance(one, news.AttemptBegan)}
    assert {agents[child] for child in split.children} == {"apprentice"}
    assert [one.passed for one in shown.news if isinstance(one, news.Verified) and one.atom == "recipe"] == [True]


def test_what_was_made_works(shown: Shown) -> None:
    tests = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-q"], cwd=shown.project, capture_output=True, check=False, text=True
    )
    assert tests.returncode == 0, tests.stderr
    assert "│ 4 1/2 cups flour         │\n" in shown.ran.out


def test_it_ends_with_the_picture_the_history_and_what_to_do_next(shown: Shown) -> None:
    out = shown.ran.out
    assert "ready to start" in out
    places = [
        out.rindex(text) for text in ("$ aot run --yes", "▸ ✔ fractions", "* ", "Next steps", f"cd {shown.project}")
    ]
    assert places == sorted(places)
    for line in shown.git("log", "--oneline", "--graph").splitlines():
        assert f"\n{line}\n" in out
    assert (shown.ran.err, "Next:" in out) == ("", False)


def test_neither_the_home_nor_the_settings_of_the_user_are_touched(shown: Shown) -> None:
    assert list(shown.home.iterdir()) == []
    assert shown.git("status", "--porcelain") == " M .claude/aot-loop-state.md\n"
    assert len(shown.git("worktree", "list").splitlines()) == 1
    assert shown.git("log", "-1", "--format=%an <%ae>") == "aot demo <demo@localhost>\n"


# --- where it is shown -------------------------------------------------------------------------------------------


def test_on_a_terminal_there_is_a_picture_that_keeps_up_and_nothing_is_left(temporary: Path) -> None:
    code, screen = on_terminal("demo", "--fast", columns=100)
    assert code == 0
    assert "running  ░░░░" in screen.text
    assert "completed  ████" in screen.text
    assert "is removed now" in screen.text
    assert list(temporary.iterdir()) == []


def test_plain_means_lines_without_colours_even_on_a_terminal(temporary: Path) -> None:
    code, screen = on_terminal("demo", "--fast", "--plain", "--keep", columns=100)
    assert code == 0
    assert "\x1b" not in screen.shown
    (folder,) = temporary.iterdir()
    assert f"cd {folder.resolve() / 'pancakes'}" in screen.text


@pytest.mark.parametrize(("number", "to_all"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_interrupted_it_takes_everything_along(temporary: Path, number: signal.Signals, to_all: bool) -> None:
    process = subprocess.Popen(
        [COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        assert any(b"units#1 began" in line for line in process.stdout), "it is under way"
        (folder,) = temporary.iterdir()
        (os.killpg if to_all else os.kill)(process.pid, number)
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 128 + number
    assert list(temporary.iterdir()) == []
    places = [one.info["cwd"] or "" for one in psutil.process_iter(["cwd"])]
    assert [place for place in places if place.startswith(str(folder.resolve()))] == []


# --- what can go wrong -------------------------------------------------------------------------------------------


def test_a_run_that_fails_is_told_by_its_exit_code_and_left_to_be_looked_at(temporary: Path, tmp_path: Path) -> None:
    broken = tmp_path / "sleep"
    broken.write_text("#!/bin/sh\necho no time >&2; exit 1\n")
    broken.chmod(0o755)
    ran = spawn("demo", "--fast", environ={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    (folder,) = temporary.iterdir()
    assert ran.code == 4
    assert "stopped: exhausted: " in ran.out
    assert f"The demo failed; its files are kept in {folder.resolve()}\n" in ran.err
    assert ran.err.endswith("aot: `aot run --yes` ended with 4\n")
    assert (folder / "pancakes" / ".aot" / "events.jsonl").exists()


def test_without_git_it_says_what_is_missing(temporary: Path) -> None:
    ran = spawn("demo", "--fast", environ={"PATH": str(temporary)})
    assert ran.code == 1
    assert "aot: git cannot be started" in ran.err
    assert "Install git" in ran.err


def test_a_folder_that_holds_something_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    ran = spawn("demo", "--folder", str(tmp_path))
    assert (ran.code, ran.out) == (1, "")
    assert "is not empty" in ran.err
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


# --- what is shipped ---------------------------------------------------------------------------------------------


def test_the_example_it_shows_is_the_one_that_people_read() -> None:
    assert example() == ROOT / "examples" / "pancakes"


def test_it_works_from_a_wheel(tmp_path: Path, temporary: Path) -> None:
    pytest.importorskip("hatchling")
    built, installed = tmp_path / "built", tmp_path / "installed"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = built.iterdir()
    zipfile.ZipFile(wheel).extractall(installed)
    ours = [f for f in _files(ROOT / "examples" / "pancakes") if "__pycache__" not in f]
    assert _files(installed / "aotloop" / "cli" / "demo" / "pancakes") == ours

    surroundings = {**os.environ, "PYTHONPATH": str(installed)}
    script = "import sys, aotloop; print(aotloop.__file__); from aotloop.cli.main import main; main()"
    start = [sys.executable, "-P", "-c", script, "demo", "--fast"]
    ran = subprocess.run(start, env=surroundings, capture_output=True, check=False, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith(str(installed))
    assert "✔ the base case holds" in ran.stdout
    assert list(temporary.iterdir()) == []


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
