"""What the flags of `aot run` do, and what happens where only a person can judge."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints
from tests.loops import atom
from tests.patience import with_time_enough
from tests.runner.agents import done, fails, scripted
from tests.runner.lengths import LENGTH
from tests.runner.projects import Project, Ran, a_project

JUDGED = BaseCase(
    checklist=(ChecklistItem(item="It reads well", check=Check(type="assertion", value="it reads well")),)
)


def test_what_only_a_person_can_judge_ends_a_run_with_6_and_how_to_answer(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=JUDGED)
    ran = project.aot("run", "--yes")
    assert ran.code == 6, ran.out
    assert "Next: aot confirm" in ran.err
    assert project.loop.control.stop_reason == "blocked: a person has to judge what is undecided in the base case"
    assert project.statuses() == {"A1": "resolved"}
    assert project.aot("confirm", "It reads well", "--yes").code == 0
    assert project.loop.control.status == "completed"


def test_a_run_works_on_the_branch_it_is_told(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    before = project.git("rev-parse", "main")
    assert project.run("--branch", "loop/one").code == 0
    assert project.git("rev-parse", "main") == before
    assert project.git("symbolic-ref", "--short", "HEAD") == "loop/one"
    assert project.subjects() == ["A1: do A1"]
    assert project.run("--branch", "no..name").code == 0  # it is completed, so nothing is checked out


def test_a_name_that_no_branch_can_have_is_refused(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    ran = project.run("--branch", "no..name")
    assert ran.code == 1
    assert "cannot be the name of a branch" in ran.err
    assert project.branches() == ["main"]


def test_limits_of_the_command_line_hold_for_that_run_only(tmp_path: Path) -> None:
    """A generation has as many outcomes as bad luck may explain: here all but the first are failures."""
    failures = [fails(f"no {number}") for number in range(LENGTH - 1)]
    orders = {"A1": [done({"a": "a"})], "A2": [*failures, done({"b": "b"})]}
    project = a_project(
        tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f b", config=scripted(tmp_path, orders),
        constraints=Constraints(max_iterations=9),
    )  # fmt: skip
    ran = project.run("--max-iterations", "1")
    assert ran.code == 5, ran.out
    assert project.loop.control.stop_reason == "limit: 1 iterations, as many as allowed"
    assert project.loop.objective.constraints.max_iterations == 9
    assert project.run().code == 0


def test_a_limit_of_time_ends_a_run_in_the_middle_of_an_attempt_which_is_ended_too(tmp_path: Path) -> None:
    def limited(limit: float) -> tuple[float, Project, Ran]:
        """Whatever has begun in time is still under way when time is up."""
        first, second = atom("A1", run=f"sleep {limit}; echo a > a"), atom("A2", "A1", run="echo b > b")
        project = a_project(tmp_path / str(limit), first, second, base_case="test -f b")
        return limit, project, project.run("--max-runtime", f"{limit}s")

    limit, project, ran = with_time_enough(limited, lambda tried: tried[2].kinds("attempt_began"), (0.5, 5.0, 50.0))
    assert ran.code == 5, ran.out
    assert project.loop.control.stop_reason == f"limit: its runtime of {limit}s is used up"
    assert project.statuses() == {"A1": "pending", "A2": "pending"}
    assert project.run().code == 0


def test_one_slot_makes_one_attempt_at_a_time(tmp_path: Path) -> None:
    alone = f"mkdir {tmp_path}/busy && sleep 0.1 && rmdir {tmp_path}/busy"
    project = a_project(
        tmp_path, atom("A1", run=alone), atom("A2", run=f"{alone} && echo a > a"), base_case="test -f a"
    )
    assert project.run("--max-parallel", "1").code == 0
    assert project.loop.trail == []
