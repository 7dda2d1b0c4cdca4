"""A judge that does not want to end is dead within a second after a redirect, and soon after a stop."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.judging.jurors import command, judged, quality, remembered, scores
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project, processes_with
from tests.runner.stubborn import interrupt, seconds_to_start
from tests.warm import Process

VOTES = 3
EACH = 2
"""Processes: a judge, and what it has started."""

_STUBBORN = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "3600"], start_new_session=True)
pathlib.Path(sys.argv[1], "judge-" + os.environ["AOT_ATTEMPT"]).touch()
time.sleep(3600)
"""


def stubborn_judges(folder: Path) -> Project:
    program = folder / "stubborn.py"
    program.write_text(_STUBBORN)
    argv = json.dumps([sys.executable, "-I", "-S", str(program), str(folder)])
    config = scripted(folder, {"A1": [done({"a.txt": "a\n"})]})
    config += f'[roles.judge]\nagent = "judge"\nvotes = {VOTES}\n[agents.judge]\nargv = {argv}\n'
    items = judged(command("a", "test -f a.txt"), quality("It reads well", clarity=1))
    return a_project(folder, atom("A1"), base_case=items, config=config)


@contextmanager
def judging(project: Project) -> Iterator[Process]:
    with project.running() as process:
        until(lambda: len(list(project.root.parent.glob("judge-*"))) == VOTES)
        yield process


def of_run(project: Project) -> set[int]:
    return set(processes_with(f"AOT_RUN_ID={project.loop.control.run_id}\0"))


def seconds_until_dead(project: Project, *words: str) -> float:
    before = of_run(project)
    assert len(before) >= VOTES * EACH
    began = time.monotonic()
    process = project.start(*words)
    try:
        while before & of_run(project):
            assert time.monotonic() < began + PATIENCE, "they live on"
            time.sleep(0.02)
        return time.monotonic() - began
    finally:
        process.communicate()


def test_a_redirect_ends_all_judges_within_a_second(tmp_path: Path) -> None:
    """Best of three: a machine may be busy. Without what any command takes to start."""
    figures: list[float] = []
    while len(figures) < 3 and (not figures or figures[-1] >= 1.0):
        folder = tmp_path / str(len(figures))
        folder.mkdir()
        project = stubborn_judges(folder)
        with judging(project) as process:
            taken = seconds_until_dead(project, "redirect", "--set", "max_iterations=41")
            figures.append(taken - seconds_to_start(project))
            interrupt(process)
            assert process.wait(PATIENCE) == 130
        assert leftovers(project) == []
    assert min(figures) < 1.0
    assert remembered() == []


def test_after_a_redirect_it_is_judged_anew(tmp_path: Path) -> None:
    item = "It reads well"
    hanging = {"touch": str(tmp_path / "judging"), "hang": True}
    config = scripted(tmp_path, {"A1": [done({"a.txt": "a\n"})], item: [hanging, scores(clarity=4)]})
    items = judged(command("a", "test -f a.txt"), quality(item, clarity=1))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=config)
    with project.running() as process:
        until((tmp_path / "judging").exists)
        assert project.aot("redirect", "--set", "max_iterations=41").code == 0
        assert process.wait(PATIENCE) == 0
    assert times_asked(tmp_path, item) == 2
    assert leftovers(project) == []


def test_a_stop_ends_all_judges_and_nothing_is_left(tmp_path: Path) -> None:
    project = stubborn_judges(tmp_path)
    with judging(project) as process:
        assert project.aot("stop").code == 0
        assert process.wait(PATIENCE) == 7
    assert leftovers(project) == []
    assert project.loop.control.status == "stopped"
    assert remembered() == []


def test_a_run_that_is_killed_leaves_judges_to_the_next_one_which_ends_them(tmp_path: Path) -> None:
    project = stubborn_judges(tmp_path)
    with judging(project) as process:
        process.kill()
        process.wait()
    left = of_run(project)
    assert left
    for mark in tmp_path.glob("judge-*"):
        mark.unlink()
    with judging(project) as process:
        assert not left & of_run(project)
        assert project.aot("stop").code == 0
        process.wait(PATIENCE)
    assert leftovers(project) == []


def test_ctrl_c_ends_the_judge_of_a_verification(tmp_path: Path) -> None:
    project = stubborn_judges(tmp_path)
    (project.root / "a.txt").write_text("a\n")
    process = project.start("verify", "--judge", "--yes")
    try:
        until(lambda: len(list(tmp_path.glob("judge-*"))) == VOTES)
        judges = processes_with(str(tmp_path / "stubborn.py"))
        assert judges
        interrupt(process)
        assert process.wait(PATIENCE) == 130
    finally:
        process.kill()
        process.communicate()
    assert processes_with(str(tmp_path / "stubborn.py")) == []
    assert project.worktrees() == []


@pytest.mark.parametrize("limit", ["total", "start_up"])
def test_a_judge_that_takes_too_long_decides_nothing(tmp_path: Path, limit: str) -> None:
    project = stubborn_judges(tmp_path)
    text = (project.root / "aot.toml").read_text()
    (project.root / "aot.toml").write_text(text.replace("votes = 3", f'votes = 3\ntimeouts = {{ {limit} = "0.5s" }}'))
    ran = project.run()
    assert ran.code == 6, ran.err
    assert leftovers(project) == []
