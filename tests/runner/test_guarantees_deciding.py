"""When the base case is tried, what follows from it, and how a run ends: in this order, and with its reason (§5)."""

from __future__ import annotations

import json
from pathlib import Path

from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints
from aotloop.core.policy.turns import patience
from tests.loops import atom
from tests.patience import PATIENCE, shell_until, shell_until_there, until
from tests.runner.agents import ANYBODY, done, fails, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.lengths import LENGTH
from tests.runner.projects import Project, Ran, a_project, commands


def verdicts(ran: Ran) -> list[bool]:
    return [one["passed"] for one in ran.kinds("verified") if one["atom"] is None]


def test_a_base_case_that_already_holds_completes_without_any_work_and_says_so(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="true")
    ran = project.run()
    assert (ran.code, ran.kinds("attempt_began"), ran.kinds("run_ended")[0]["worked"]) == (0, [], False)
    assert project.loop.control.status == "completed"
    project = a_project(tmp_path / "2", atom("A1", run="echo a > a"), base_case="true")
    assert "the base case already holds: no work was needed" in project.aot("run", "--yes").out
    assert leftovers(project) == []


def test_what_holds_before_the_work_is_doubted_but_not_what_earlier_work_made_hold(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run="false"),
        base_case=commands("test -f README.md", "test -f a", "test -f b"),
    )

    def doubts(ran: Ran) -> list[str]:
        return [one["text"] for one in ran.kinds("warning") if "before any work" in one["text"]]

    assert doubts(project.run()) == ["already holds before any work, so it may prove nothing: item 1"]
    assert project.statuses()["A1"] == "resolved"
    assert doubts(project.run()) == []


def test_without_early_looks_the_base_case_is_tried_at_the_start_and_when_all_is_done(tmp_path: Path) -> None:
    atoms = [atom(f"A{number}", *([f"A{number - 1}"] if number > 1 else []), run="true") for number in range(1, 4)]
    project = a_project(tmp_path, *atoms, atom("last", "A3", run="echo a > a"), base_case="test -f a")
    ran = project.run()
    assert (ran.code, verdicts(ran)) == (0, [False, True])


def test_with_early_looks_a_base_case_that_holds_ends_it_at_once(tmp_path: Path) -> None:
    """At the end of a generation, in which one atom is done, and the other fails."""
    orders = {"A1": [done({"a": "a"})], "A2": [fails(f"no {number}") for number in range(2 * LENGTH)]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2", "A1"),
        base_case="test -f a",
        config=scripted(tmp_path, orders),
        constraints=Constraints(verify_each_iteration=True, max_parallel_agents=1),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert verdicts(ran) == [False, True]
    assert project.statuses() == {"A1": "resolved", "A2": "pending"}
    assert LENGTH - 1 <= times_asked(tmp_path, "A2") < 2 * LENGTH  # some begin while the base case is tried
    assert project.loop.control.status == "completed"


def test_nothing_is_merged_while_the_base_case_is_tried(tmp_path: Path) -> None:
    """A3 fails until the generation ends; A2, which began meanwhile, ends while the base case is tried."""
    events = tmp_path / "project" / ".aot" / "events.jsonl"
    looking = tmp_path / "looking"
    has_ended = shell_until(f"grep attempt_ended {events} | grep -q A2")
    began = shell_until(f"grep attempt_began {events} | grep -q A2")
    orders = {"A3": [*(fails(f"no {number}", run=began) for number in range(LENGTH - 1)), done()]}
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo a > a; touch {looking}-soon"),
        atom("A2", "A1", run=f"{shell_until_there(looking)}; echo b > b"),
        atom("A3"),
        base_case=f"test -e {looking}-soon && touch {looking} || exit 1; {has_ended}; test -f b",
        config=scripted(tmp_path, orders),
        constraints=Constraints(verify_each_iteration=True, max_parallel_agents=2),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    seen = [(one["kind"], one.get("atom")) for one in ran.news]
    first, second = [place for place, one in enumerate(seen) if one == ("verified", None)][:2]
    assert ("attempt_ended", "A2") in seen[first:second]
    assert ("merged", "A2") in seen[second:]


def test_the_verdict_is_of_the_commit_that_is_checked_out_and_of_this_objective(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    assert project.run().code == 0
    verdict = project.loop.control.verdict
    assert verdict is not None
    assert (verdict.passed, verdict.commit) == (True, project.git("rev-parse", "HEAD"))
    assert verdict.objective_digest == project.loop.control.objective_digest


def test_claims_of_success_complete_nothing(tmp_path: Path) -> None:
    orders = {ANYBODY: [done(summary="everything works, the base case holds")]}
    project = a_project(tmp_path, atom("A1"), base_case="false", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 4, ran.out
    assert project.loop.control.status == "stopped"
    assert (project.loop.control.stop_reason or "").startswith("exhausted: the base case fails")
    before_any, after_the_work = 1, 1
    assert verdicts(ran) == [False] * (before_any + after_the_work + patience(project.loop))  # and after each repair


def test_every_failing_leaf_becomes_one_repair_and_a_failing_alternative_is_one(tmp_path: Path) -> None:
    def item(name: str, value: str) -> ChecklistItem:
        return ChecklistItem(item=name, check=Check(type="command", value=value))

    checklist = (
        ChecklistItem(item="both", group=(item("one", "echo why-one; test -f one"), item("two", "test -f two"))),
        ChecklistItem(item="either", any_of=(item("x", "test -f x"), item("y", "test -f y"))),
        item("fine", "true"),
    )
    orders = {ANYBODY: [done({"one": "1", "two": "2", "x": "x"})]}
    project = a_project(
        tmp_path,
        atom("A1", run="true"),
        base_case=BaseCase(checklist=checklist),
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [len(one["atoms"]) for one in ran.kinds("added")] == [3]
    repaired = [one.repairs for one in project.loop.atoms if one.repairs is not None]
    assert len(repaired) == 3
    assert sum("either" in (one or "") for one in repaired) == 1
    assert "why-one" in "".join(one.description for one in project.loop.atoms)


def test_a_completion_in_the_last_iteration_that_is_allowed_is_a_completion(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", constraints=Constraints(max_iterations=1)
    )
    assert project.run().code == 0
    assert project.loop.control.status == "completed"


def test_at_a_limit_nothing_new_starts_what_runs_is_finished_and_it_is_no_completion(tmp_path: Path) -> None:
    merged = shell_until(f"grep merged {tmp_path}/project/.aot/events.jsonl | grep -q A1")
    late = f"{merged}; echo b > b"
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", run=late),
        atom("A3", "A2", run="echo c > c"),
        base_case="test -f c",
        constraints=Constraints(max_total_attempts=2),
    )
    ran = project.run()
    assert ran.code == 5
    assert project.loop.control.stop_reason == "limit: 2 attempts of the 2 allowed"
    assert project.statuses() == {"A1": "resolved", "A2": "resolved", "A3": "pending"}
    assert verdicts(ran) == [False, False]
    assert leftovers(project) == []
    assert project.aot("redirect", "--set", "max_total_attempts=5", "--yes").code == 0
    more = project.run()
    assert more.code == 0, more.out
    assert project.files() == {"README.md", "a", "b", "c"}


def test_at_the_limit_the_base_case_is_tried_once_more_and_may_hold(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run="echo b > b"),
        base_case="test -f a",
        constraints=Constraints(max_total_attempts=1),
    )
    ran = project.run()
    assert (ran.code, project.loop.control.status) == (0, "completed")
    assert project.statuses()["A2"] == "pending"


def test_max_runtime_ends_what_runs_and_says_so(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run="sleep 9731; echo a > a"), atom("A2", "A1", run="echo b > b"), base_case="false"
    )
    ran = project.run("--max-runtime", "3s")
    assert ran.code == 5
    assert project.loop.control.stop_reason == "limit: its runtime of 3s is used up"
    (announced,) = ran.kinds("end_announced")
    assert (announced["running"], announced["are_ended"]) == (["A1#1"], True)
    assert project.statuses() == {"A1": "pending", "A2": "pending"}
    assert (project.loop.control.tried, project.loop.control.ran_seconds >= 1) == (0, True)


def noted_seconds(project: Project) -> float:
    path = project.root / ".aot" / "run-time.json"
    return float(json.loads(path.read_text())["ran_seconds"]) if path.exists() else 0.0


def test_the_time_of_a_stopped_run_is_counted(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="sleep 9731"), base_case="false")
    with project.running():
        until(lambda: noted_seconds(project) > 1)
        before = noted_seconds(project)
        project.aot("stop")
    assert project.loop.control.ran_seconds >= before


def test_the_time_of_a_killed_run_is_counted_by_the_next(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="sleep 9731"), base_case="false")
    with project.running() as process:
        until(lambda: noted_seconds(project) > 1)
        process.kill()
        process.wait()
    before = noted_seconds(project)
    assert project.loop.control.ran_seconds < before
    assert project.run("--max-runtime", "1s").code == 5
    assert project.loop.control.ran_seconds >= before


def test_a_stop_comes_before_everything_else(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        base_case=f"test -f a || exit 1; touch {tmp_path}/looking; sleep 9731",
        constraints=Constraints(max_iterations=1),
    )
    with project.running() as process:
        until((tmp_path / "looking").exists)
        project.aot("stop", "--reason", "no more")
        assert process.wait(PATIENCE) == 7
    assert project.loop.control.stop_reason == "user: no more"
    assert project.statuses() == {"A1": "resolved"}
    assert leftovers(project) == []


def test_exhausted_is_told_rather_than_stalled_or_a_limit(tmp_path: Path) -> None:
    """A command is not run again while nothing has changed: nothing is left to do."""
    project = a_project(
        tmp_path,
        atom("A1", run="exit 1"),
        base_case="false",
        constraints=Constraints(max_stall_count=1, max_iterations=1),
    )
    assert project.run().code == 4
    assert (project.loop.control.stop_reason or "").startswith("exhausted:")


def test_whatever_agents_do_there_are_no_more_attempts_than_was_said_before(tmp_path: Path) -> None:
    orders = {"P": [fails("no")], "Q": [done({"q": "q"})], ANYBODY: [done()]}
    patient = Constraints(max_attempts=2, max_stall_count=99, max_iterations=99, max_depth=0)
    project = a_project(
        tmp_path,
        atom("P", or_group="G"),
        atom("Q", or_group="G"),
        atom("R", "P", or_group="H", run="true"),
        atom("S", "P", or_group="H", run="exit 1"),
        atom("D", "R", run="exit 1"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=patient,
    )
    plan = json.loads(project.aot("run", "--dry-run", "--json").out)
    ran = project.run()
    assert ran.code == 4
    assert (project.loop.control.stop_reason or "").startswith("exhausted:")
    again = project.run()  # it can be asked again, and still ends
    assert again.code in (4, 5)
    made = len(ran.kinds("attempt_began")) + len(again.kinds("attempt_began"))
    assert 0 < made <= plan["attempts_left_at_most"]
