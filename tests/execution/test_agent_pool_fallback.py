"""When an agent cannot or will not: another is asked in its place, and the atom is not to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.runner.agents import ANYBODY, Order, done, fails, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project


def says(cause: str, **more: Any) -> Order:
    answer = {"success": False, "reason": f"it is {cause}", "cause": cause, **more}
    return {"answer": answer}


def with_two_agents(
    tmp_path: Path, first: dict[str, list[Order]], second: dict[str, list[Order]], more: str = ""
) -> str:
    """`first` is asked, and `second` in its place."""
    other = scripted(tmp_path, second, agent="second").split("\n", 2)[2]
    return scripted(tmp_path, first, f'fallback = ["second"]\n{more}', agent="first") + other


def outcomes(project: Project) -> list[tuple[str, str]]:
    began = {one["attempt"]: one["agent"] for one in project.news() if one["kind"] == "attempt_began"}
    ended = [one for one in project.news() if one["kind"] == "attempt_ended"]
    return [(began[one["attempt"]], one["outcome"]) for one in ended]


@pytest.mark.parametrize("cause", ["rate_limit", "overload", "outage", "quota", "auth", "refusal"])
def test_another_agent_is_asked_at_once_and_nothing_is_counted_as_failed(tmp_path: Path, cause: str) -> None:
    config = with_two_agents(tmp_path, {ANYBODY: [says(cause, retry_after=7200)]}, {ANYBODY: [done({"a": "a"})]})
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    ran = project.run()
    assert ran.code == 0, ran.err
    assert [one for _, one in outcomes(project)] == ["must_wait", "done"]
    assert (project.atom("A1").attempts, project.loop.trail) == (0, [])
    assert "second is asked next" in str(project.news())
    assert leftovers(project) == []


def test_who_is_busy_for_long_is_not_asked_for_other_atoms_either(tmp_path: Path) -> None:
    config = with_two_agents(
        tmp_path,
        {ANYBODY: [says("rate_limit", retry_after=7200)]},
        {"A1": [done({"a": "a"})], "A2": [done({"b": "b"})]},
    )
    project = a_project(tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f b", config=config)
    assert project.run().code == 0
    assert times_asked(tmp_path, "A1", "first") + times_asked(tmp_path, "A2", "first") == 1


def test_a_short_wait_is_waited_for_instead(tmp_path: Path) -> None:
    config = with_two_agents(
        tmp_path, {ANYBODY: [says("rate_limit", retry_after=0.2), done({"a": "a"})]}, {ANYBODY: [fails("not me")]}
    )
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    assert project.run().code == 0
    assert (times_asked(tmp_path, "A1", "first"), times_asked(tmp_path, "A1", "second")) == (2, 0)


@pytest.mark.parametrize("cause", ["quota", "auth"])
def test_without_another_agent_a_person_is_needed(tmp_path: Path, cause: str) -> None:
    project = a_project(
        tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, {ANYBODY: [says(cause)]})
    )
    ran = project.run()
    assert ran.code == 6
    assert (project.loop.control.stop_reason or "").startswith(f"blocked: A1: scripted: it is {cause}")
    assert (project.atom("A1").attempts, times_asked(tmp_path, "A1")) == (0, 1)


def test_a_refusal_that_nobody_makes_good_is_a_failure(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="test -f a",
        config=scripted(tmp_path, {ANYBODY: [says("refusal")]}),
        constraints=Constraints(max_total_attempts=2),
    )
    ran = project.run()
    assert ran.code == 5
    assert [entry.reason for entry in project.loop.trail] == ["it is refusal", "it is refusal"]
    assert project.loop.control.stop_reason == "limit: 2 attempts of the 2 allowed"


def test_who_refuses_one_atom_may_do_another(tmp_path: Path) -> None:
    config = with_two_agents(tmp_path, {"A1": [says("refusal")], "A2": [done({"b": "b"})]}, {"A1": [done({"a": "a"})]})
    project = a_project(tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f b", config=config)
    assert project.run().code == 0
    assert times_asked(tmp_path, "A2", "first") == 1


def test_a_program_that_is_not_there_is_made_good_by_another(tmp_path: Path) -> None:
    other = scripted(tmp_path, {ANYBODY: [done({"a": "a"})]}, agent="second").split("\n", 2)[2]
    config = (
        f'agent = "{{0}}"\nfallback = ["second"]\n[agents.first]\nargv = ["no-such-program", "{{prompt}}"]\n{other}'
    )
    config = config.replace("{0}", "first")
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    ran = project.run()
    assert ran.code == 0, ran.err


def test_an_agent_may_have_a_chain_of_its_own(tmp_path: Path) -> None:
    other = scripted(tmp_path, {ANYBODY: [done({"a": "a"})]}, agent="second").split("\n", 2)[2]
    config = scripted(tmp_path, {ANYBODY: [says("quota")]}, 'fallback = ["nobody"]', agent="first")
    config += 'fallback = ["second"]\n' + other
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    assert project.run().code == 0


def test_the_same_failure_again_and_again_is_tried_again(tmp_path: Path) -> None:
    """A model that is asked once more draws once more: only limits end that, or what is hopeless by all signs."""
    orders = {ANYBODY: [*(fails("the disk is full") for _ in range(4)), done({"a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    assert project.run().code == 0
    assert times_asked(tmp_path, "A1") == 5


def test_what_fails_in_the_same_way_beyond_all_patience_waits_for_a_person(tmp_path: Path) -> None:
    orders = {ANYBODY: [fails("the disk is full")]}
    patient = Constraints(max_total_attempts=200, max_stall_count=99, max_iterations=99)
    project = a_project(tmp_path, atom("A1"), base_case="false", config=scripted(tmp_path, orders), constraints=patient)
    assert project.run().code == 6
    reason = project.loop.control.stop_reason or ""
    assert reason.startswith("blocked:")
    assert "the disk is full" in reason
    assert times_asked(tmp_path, "A1") < 200


def test_failures_that_differ_use_all_attempts(tmp_path: Path) -> None:
    orders = {ANYBODY: [fails("one"), fails("two"), fails("three"), fails("four")]}
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=4),
    )
    assert project.run().code == 5
    assert times_asked(tmp_path, "A1") == 4
