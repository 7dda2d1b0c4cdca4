"""Atoms that are decomposed, and what a worker is told: its size does not grow with the run (DESIGN §5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.runner.agents import ANYBODY, Order, done, finds, proposes, scripted, times_asked
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, Ran, a_project


def prompts(project: Project, ran: Ran) -> dict[str, str]:
    """The last one of each atom."""
    began = ran.kinds("attempt_began")
    return {one["atom"]: (project.root / one["folder"] / "prompt.md").read_text() for one in began}


def test_children_inherit_what_the_parent_depends_on_and_the_parent_resolves_by_itself(tmp_path: Path) -> None:
    orders = {
        "first": [done({"f": "f"}, summary="the first is the basis")],
        "A1": [proposes("one", {"name": "2", "description": "two"}, {"description": "three", "depends_on": ["2"]})],
        "A2": [done({"one": "1"})],
        "A3": [done({"two": "2"})],
        "A4": [done({"three": "3"}, summary="three is done")],
        "after": [done({"after": "a"})],
    }
    project = a_project(
        tmp_path,
        atom("first"),
        atom("A1", "first", check=AtomCheck(type="command", value=f"echo x >> {tmp_path}/checked; test -f three")),
        atom("after", "A1"),
        base_case="test -f after",
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert times_asked(tmp_path, "A1") == 1  # the parent is never run again
    assert {one.id: one.depends_on for one in project.loop.atoms if one.id in ("A2", "A3", "A4")} == {
        "A2": ("first",),
        "A3": ("first",),
        "A4": ("first", "A3"),
    }
    assert project.loop.bindings["A1"].summary == "Completed via A2, A3, A4 resolution"
    assert (tmp_path / "checked").read_text() == "x\n"
    kinds = [(one["kind"], one.get("atom")) for one in ran.news]
    assert kinds.index(("merged", "A4")) < kinds.index(("verified", "A1")) < kinds.index(("attempt_began", "after"))
    told = prompts(project, ran)
    assert "the first is the basis" in told["A4"]
    assert "three is done" in told["after"]  # parts stand for the whole
    assert leftovers(project) == []


def test_a_parent_whose_check_fails_is_repaired_in_rounds_that_are_bounded(tmp_path: Path) -> None:
    orders = {
        "A1": [proposes("one")],
        "A2": [done({"one": "1"})],
        "A3": [done()],
        ANYBODY: [done({"good": "g"})],
    }
    project = a_project(
        tmp_path,
        atom("A1", check=AtomCheck(type="command", value="echo not yet good; test -f good")),
        base_case="test -f good",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_attempts=3, max_stall_count=9),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["atoms"] for one in ran.kinds("added")] == [["A2"], ["A3"], ["A4"]]
    assert "not yet good" in project.atom("A4").description
    assert project.statuses()["A1"] == "resolved"


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a command": ({"description": "x", "run": "touch owned"}, "it brings a command (`run`)"),
    "a check": ({"description": "x", "check": {"type": "command", "value": "touch owned"}}, "it brings a command"),
    "no description": ({"description": " "}, "part 1 has no description"),
    "a dependency on nothing": ({"description": "x", "depends_on": ["nobody"]}, "nobody"),
    "an endless estimate": ({"description": "x", "estimate": -1}, "estimated at -1 minutes"),
}


def test_a_proposal_that_cannot_be_taken_is_refused_whole_and_is_a_failed_attempt(tmp_path: Path) -> None:
    orders = {what: [proposes(part, "a good one")] for what, (part, _) in BAD.items()}
    project = a_project(
        tmp_path,
        *(atom(what) for what in BAD),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=len(BAD)),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    reasons = {entry.atom: entry.reason for entry in project.loop.trail}
    assert [what for what, (_, words) in BAD.items() if words not in reasons[what]] == []
    assert set(project.statuses()) == set(BAD)
    assert not (project.root / "owned").exists()


def test_width_and_depth_are_limited(tmp_path: Path) -> None:
    orders = {
        "wide": [proposes(*(f"part {number}" for number in range(4))), proposes("only one")],
        "A1": [proposes("deeper"), done({"a": "a"})],
    }
    project = a_project(
        tmp_path,
        atom("wide"),
        base_case="test -f a",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_children=3, max_depth=1, max_stall_count=9),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    reasons = [entry.reason for entry in project.loop.trail]
    assert "4 children are more than max_children, 3" in reasons[0]
    assert "A1 is 1 levels deep; max_depth is 1" in reasons[1]
    told = prompts(project, ran)
    assert "propose its parts (at most 3)" in told["wide"]
    assert "propose its parts" not in told["A1"]


def test_a_command_is_never_decomposed_and_a_probe_may_propose_parts(tmp_path: Path) -> None:
    children = [{"description": "one"}, {"description": "two"}]
    orders: dict[str, list[Order]] = {
        "A1?": [{"answer": {"feasible": True, "findings": "big", "proposal": {"reason": "", "children": children}}}],
        "A2": [done({"one": "1"})],
        "A3": [done({"two": "2"})],
        "command?": [finds("it is only a command")],
    }
    project = a_project(
        tmp_path,
        atom("A1", probe=True),
        atom("command", probe=True, run="echo c > c"),
        base_case="test -f one -a -f two -a -f c",
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert times_asked(tmp_path, "A1") == 0
    assert project.statuses() == {"A1": "resolved", "A2": "resolved", "A3": "resolved", "command": "resolved"}


def test_a_worker_is_told_the_results_it_builds_on_directly_and_nothing_of_the_rest(tmp_path: Path) -> None:
    chain = 6
    orders = {f"B{number}": [done(summary=f"result number {number} of the chain")] for number in range(chain)}
    orders[f"B{chain - 1}"] = [done({"end": "e"})]
    orders["other"] = [done(summary="something unrelated")]
    atoms = [atom(f"B{number}", *([f"B{number - 1}"] if number else [])) for number in range(chain)]
    project = a_project(tmp_path, atom("other"), *atoms, base_case="test -f end", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    told = prompts(project, ran)
    assert "It works" in told["B5"]  # the objective
    assert "do B5" in told["B5"]
    assert "result number 4 of the chain" in told["B5"]
    assert not any(f"result number {number}" in told["B5"] for number in range(4))
    assert "unrelated" not in told["B5"]
    assert {len(told[f"B{number}"]) for number in range(1, chain)} == {len(told["B1"])}


def test_a_result_that_is_endless_is_cut(tmp_path: Path) -> None:
    orders = {"A1": [done(summary="x" * 100_000)], "A2": [done({"a": "a"})]}
    project = a_project(
        tmp_path, atom("A1"), atom("A2", "A1"), base_case="test -f a", config=scripted(tmp_path, orders)
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert len(prompts(project, ran)["A2"]) < 12_000
    assert len(project.loop.bindings["A1"].summary) <= 4000
