"""Whole runs whose base case is judged by scores: real processes, in real repositories."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Criterion
from tests.execution.judges.jurors import (
    assertion,
    command,
    finds_so,
    judged,
    quality,
    remembered,
    score,
    scores,
    voters,
    warnings,
)
from tests.loops import atom
from tests.runner.agents import Order, done, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

ITEM = "It reads well"
NICE = "It is nice"
WORK = {"A1": [done({"a.txt": "a\n"})]}


def project_with(folder: Path, *orders: Order, more: str = "", **weights: float) -> Project:
    config = scripted(folder, {**WORK, ITEM: list(orders)}, more)
    item = quality(ITEM, **(weights or {"clarity": 1}))  # type: ignore[arg-type]
    return a_project(folder, atom("A1"), base_case=judged(command("a", "test -f a.txt"), item), config=config)


# --- what is decided -----------------------------------------------------------------------------------------------


def test_a_weighted_mean_that_reaches_the_threshold_completes_the_loop(tmp_path: Path) -> None:
    project = project_with(tmp_path, scores(clarity=2, depth=5), clarity=2, depth=1)
    ran = project.run()
    assert ran.code == 0, ran.err
    verdict = project.loop.control.verdict
    assert verdict is not None
    assert verdict.scores == {ITEM: {"clarity": 2.0, "depth": 5.0}}
    assert leftovers(project) == []


def test_nobody_is_asked_while_something_else_fails(tmp_path: Path) -> None:
    """The base case is tried before the work and after it; before it, a command fails."""
    project = project_with(tmp_path, scores(clarity=4))
    assert project.run().code == 0
    assert len([one for one in project.news() if one["kind"] == "verified"]) == 2
    assert times_asked(tmp_path, ITEM) == 1


def test_what_is_not_good_enough_is_mended_by_whoever_is_told_why(tmp_path: Path) -> None:
    orders = {
        **WORK,
        "A2": [done({"README.md": "a fine project\n"})],
        ITEM: [scores(clarity=2, depth=4), scores(clarity=2, depth=4), scores(clarity=4, depth=4)],
    }
    item = quality(ITEM, threshold=3.5, clarity=0.5, depth=0.5)
    project = a_project(tmp_path, atom("A1"), base_case=judged(item), config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.err
    told = project.atom("A2").description
    assert f'Make this hold: "{ITEM}". It fails: 3 of 5, needs 3.5' in told
    assert told.index("clarity 2: README.md:1") < told.index("depth 4: README.md:1")
    assert times_asked(tmp_path, ITEM) == 3  # before the work, after it, and mended


def test_of_three_votes_the_median_counts(tmp_path: Path) -> None:
    config = scripted(tmp_path, WORK) + voters(tmp_path, scores(clarity=5), scores(clarity=1), scores(clarity=4))
    project = a_project(tmp_path, atom("A1"), base_case=judged(quality(ITEM, threshold=4, clarity=1)), config=config)
    ran = project.run()
    assert ran.code == 0, ran.err
    verdict = project.loop.control.verdict
    assert verdict is not None
    assert verdict.scores == {ITEM: {"clarity": 4.0}}
    assert (
        "4 of 5 (median of 3 votes), needs 4\n- clarity 4 (votes: 5, 1, 4): README.md:1" in remembered()[0]["evidence"]
    )


@pytest.mark.parametrize(("given", "code"), [((4, 9, 4), 0), ((9, 4, 9), 6)])
def test_most_of_the_votes_have_to_count(tmp_path: Path, given: tuple[int, ...], code: int) -> None:
    config = scripted(tmp_path, WORK) + voters(tmp_path, *(scores(clarity=one) for one in given))
    project = a_project(tmp_path, atom("A1"), base_case=judged(quality(ITEM, clarity=1)), config=config)
    assert project.run().code == code


# --- what is not decided -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "asked", "why"),
    [
        (scores(clarity=6, depth=4), 1, "clarity (no score that counts)"),
        (scores(clarity=0, depth=4), 1, "clarity (no score that counts)"),
        (scores(depth=4), 1, "clarity (no score that counts)"),
        (scores(place="a.txt:7", clarity=5, depth=5), 1, "clarity (not backed by a place in the files)"),
        (scores(place="I read it all", clarity=5, depth=5), 1, "clarity (not backed by a place in the files)"),
        ({"answer": {"scores": [score("clarity", 5), score("clarity", 1)]}}, 2, "two scores for 'clarity'"),
        ({"say": "It is fine."}, 2, 'there is no JSON object with "scores"'),
        ({"exit": 1}, 1, "exit 1 without an answer"),
        ({"exit": 75}, 1, "the judge could not be asked now"),
    ],
)
def test_what_is_no_answer_decides_nothing(tmp_path: Path, order: Order, asked: int, why: str) -> None:
    project = project_with(tmp_path, order, clarity=0.5, depth=0.5)
    assert project.run().code == 6
    assert project.loop.control.stop_reason == "blocked: a person has to judge what is undecided in the base case"
    (warning,) = (text for text in warnings(project) if text.startswith("undecided: "))
    assert why in warning
    assert times_asked(tmp_path, ITEM) == asked
    assert remembered() == []


def test_garbage_is_asked_about_once_more(tmp_path: Path) -> None:
    project = project_with(tmp_path, {"say": "It is fine."}, scores(clarity=4))
    assert project.run().code == 0
    assert times_asked(tmp_path, ITEM) == 2


def test_the_lowest_score_needs_no_place_since_what_is_missing_cannot_be_quoted(tmp_path: Path) -> None:
    project = project_with(tmp_path, scores(place="there is none", clarity=1), scores(clarity=5))
    project.run()
    assert 'Make this hold: "It reads well". It fails: 1 of 5, needs 3' in project.atom("A2").description


def test_a_scope_without_files_fails_and_nobody_is_asked(tmp_path: Path) -> None:
    config = scripted(tmp_path, {**WORK, "A2": [done({"docs/a.md": "a\n"})], ITEM: [scores("docs/a.md:1", clarity=4)]})
    item = quality(ITEM, scope="docs/**/*.md", clarity=1)
    project = a_project(tmp_path, atom("A1"), base_case=judged(item), config=config)
    assert project.run().code == 0
    assert "nothing to judge: no file matches its scope: docs/**/*.md" in project.atom("A2").description
    assert times_asked(tmp_path, ITEM) == 1


@pytest.mark.parametrize("trouble", [{"exit": 75}, "missing"])
def test_who_cannot_be_asked_is_replaced_by_the_next(tmp_path: Path, trouble: Order | str) -> None:
    config = scripted(tmp_path, {**WORK, ITEM: [scores(clarity=4)]})
    if isinstance(trouble, str):
        first = '[agents.first]\nargv = ["/no/such/program"]\n'
    else:
        first = scripted(tmp_path, {ITEM: [trouble]}, agent="first").partition("\n")[2]
    config += f'{first}fallback = ["scripted"]\n[roles.judge]\nagent = "first"\n'
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=1))
    project = a_project(tmp_path, atom("A1"), base_case=items, config=config)
    ran = project.run()
    assert ran.code == 0, ran.err
    assert times_asked(tmp_path, ITEM) == 1


def test_without_an_agent_a_person_decides(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="touch a"), base_case=judged(quality(ITEM, clarity=1)))
    assert project.run().code == 6
    assert f"undecided: {ITEM}: needs a judge" in warnings(project)


# --- the same files are judged once --------------------------------------------------------------------------------


def test_the_same_files_are_judged_once_however_often_it_is_run(tmp_path: Path) -> None:
    orders = {**WORK, ITEM: [scores(clarity=4)], NICE: [finds_so()]}
    items = (command("a", "test -f a.txt"), quality(ITEM, clarity=1), assertion(NICE))
    project = a_project(tmp_path, atom("A1"), base_case=judged(*items), config=scripted(tmp_path, orders))
    assert [project.run().code, project.run().code] == [6, 6]
    assert [times_asked(tmp_path, ITEM), times_asked(tmp_path, NICE)] == [1, 1]
    ran = project.aot("verify", "--yes", "--json")
    assert ran.code == 6
    assert "(judged at " in ran.out
    assert [times_asked(tmp_path, ITEM), times_asked(tmp_path, NICE)] == [1, 1]
    (project.root / "b.txt").write_text("b\n")
    project.git("add", "b.txt")
    project.git("commit", "--quiet", "--message=more")
    assert project.run().code == 6
    assert [times_asked(tmp_path, ITEM), times_asked(tmp_path, NICE)] == [2, 2]


def test_what_is_not_in_scope_is_no_reason_to_ask_again(tmp_path: Path) -> None:
    orders = {**WORK, ITEM: [scores(clarity=4)], NICE: [finds_so()]}
    items = (command("a", "test -f a.txt"), quality(ITEM, scope="README.md", clarity=1), assertion(NICE))
    project = a_project(tmp_path, atom("A1"), base_case=judged(*items), config=scripted(tmp_path, orders))
    assert project.run().code == 6
    (project.root / "b.txt").write_text("b\n")
    project.git("add", "b.txt")
    project.git("commit", "--quiet", "--message=more")
    assert project.run().code == 6
    assert [times_asked(tmp_path, ITEM), times_asked(tmp_path, NICE)] == [1, 2]


def test_what_was_judged_is_the_users_and_not_the_repositorys(tmp_path: Path) -> None:
    project = project_with(tmp_path, scores(clarity=4))
    assert project.run().code == 0
    folder = Path(os.environ["HOME"], ".local", "share", "aotloop", "judged")
    (kept,) = folder.iterdir()
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE(kept.stat().st_mode)) == (0o700, 0o600)
    (known,) = remembered()
    assert (known["item"], known["passed"], known["scores"]) == (ITEM, True, {"clarity": 4.0})


# --- checks of atoms -----------------------------------------------------------------------------------------------


def test_the_check_of_an_atom_is_judged_where_its_attempt_was_made(tmp_path: Path) -> None:
    check = AtomCheck(
        type="quality", rubric=(Criterion(criterion="clarity", weight=1),), pass_threshold=3, scope="a.txt"
    )
    name = "check of A1"
    orders = {
        "A1": [done({"a.txt": "poor\n"}), done({"a.txt": "poor\nbetter\n"})],
        name: [scores("a.txt:1", clarity=2), scores("a.txt:2", clarity=4)],
    }
    config = scripted(tmp_path, orders)
    project = a_project(tmp_path, atom("A1", check=check), base_case="test -f a.txt", config=config)
    ran = project.run()
    assert ran.code == 0, ran.err
    assert (project.root / "a.txt").read_text() == "poor\nbetter\n"
    assert times_asked(tmp_path, name) == 2
    assert "clarity 2: a.txt:1" in "".join(one.reason for one in project.loop.trail)
