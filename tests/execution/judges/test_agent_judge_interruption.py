"""A judge that does not want to end is dead after a redirect, and after a stop. How soon that is, `make bench` says."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.execution.judges.jurors import command, judged, quality, remembered, scores
from tests.execution.judges.stubborn import VOTES, judging, stubborn_judges
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import a_project, processes_with
from tests.runner.stubborn import interrupt, of_run

REDIRECT = ("redirect", "--set", "max_iterations=41")


def test_a_redirect_ends_all_judges(tmp_path: Path) -> None:
    """None of them would end by itself while that is waited for."""
    project = stubborn_judges(tmp_path)
    with judging(project) as process:
        before = of_run(project)
        assert project.aot(*REDIRECT).code == 0
        until(lambda: not before & of_run(project))
        interrupt(process)
        assert process.wait(PATIENCE) == 130
    assert leftovers(project) == []
    assert remembered() == []


def test_after_a_redirect_it_is_judged_anew(tmp_path: Path) -> None:
    item = "It reads well"
    hanging = {"touch": str(tmp_path / "judging"), "hang": True}
    config = scripted(tmp_path, {"A1": [done({"a.txt": "a\n"})], item: [hanging, scores(clarity=4)]})
    items = judged(command("a", "test -f a.txt"), quality(item, clarity=1))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=config)
    with project.running() as process:
        until((tmp_path / "judging").exists)
        assert project.aot(*REDIRECT).code == 0
        assert process.wait(PATIENCE) == 0
    assert times_asked(tmp_path, item) == 2
    assert leftovers(project) == []


def test_a_stop_ends_all_judges_and_nothing_is_left(tmp_path: Path) -> None:
    project = stubborn_judges(tmp_path)
    with judging(project) as process:
        assert project.aot("stop").code == 0
        assert of_run(project) == set()
        assert process.wait(PATIENCE) == 7
    assert leftovers(project) == []
    assert project.loop.control.status == "stopped"
    assert remembered() == []


def test_judges_of_a_run_that_is_killed_end_with_it_or_before_the_next_one(tmp_path: Path) -> None:
    project = stubborn_judges(tmp_path)
    with judging(project) as process:
        left = of_run(project)
        assert left
        process.kill()
        process.wait()
    for mark in tmp_path.glob("judge-*"):
        mark.unlink()
    with judging(project) as process:
        assert not left & of_run(project)
        assert project.aot("stop").code == 0
        process.wait(PATIENCE)
    assert leftovers(project) == []


_ONE_HANGS = """
import os, pathlib, sys, time
folder, number = pathlib.Path(sys.argv[1]), os.environ["AOT_ATTEMPT"]
with open(folder / "asked", "a") as asked:
    asked.write(number + "\\n")
if number == "3" and not (folder / "go").exists():
    time.sleep(3600)
print(sys.argv[2])
"""


def test_votes_that_were_given_are_not_asked_for_again_by_the_next_run(tmp_path: Path) -> None:
    program = tmp_path / "voter.py"
    program.write_text(_ONE_HANGS)
    answer = json.dumps(scores(clarity=4)["answer"])
    argv = json.dumps([sys.executable, "-I", "-S", str(program), str(tmp_path), answer])
    config = scripted(tmp_path, {"A1": [done({"a.txt": "a\n"})]})
    config += f'[roles.judge]\nagent = "voter"\nvotes = 3\n[agents.voter]\nargv = {argv}\n'
    items = judged(command("a", "test -f a.txt"), quality("It reads well", clarity=1))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=config)
    with project.running() as process:
        until(lambda: len(given_votes()) == 2)
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert sorted((tmp_path / "asked").read_text().split()) == ["1", "2", "3", "3"]
    assert (len(remembered()), given_votes()) == (1, [])
    assert leftovers(project) == []


def given_votes() -> list[Path]:
    """While others are still asked."""
    return list(Path(os.environ["HOME"], ".local", "share", "aotloop", "voted").glob("*.json"))


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
