"""The items of the base case that an atom covers decide whether it is done, in real runs."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem, Constraints, Decomposition
from tests.loops import atom
from tests.runner.agents import done, proposes, scripted, times_asked
from tests.runner.projects import a_project, commands

TWO = commands("test -f a", "test -f b")
"""Items called "item 1" and "item 2"."""


def test_a_claim_counts_only_if_what_the_atom_covers_holds(tmp_path: Path) -> None:
    orders = {"A1": [done({"wrong": "x"}), done({"a": "x"})], "A2": [done({"b": "x"})]}
    atoms = [atom("A1", covers=("item 1",)), atom("A2", "A1", covers=("item 2",))]
    project = a_project(tmp_path, *atoms, base_case=TWO, config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert times_asked(tmp_path, "A1") == 2
    assert {"a", "b"} <= project.files()
    (failure,) = [one.reason for one in project.loop.trail if one.type == "failure"]
    assert failure.startswith("it says that it is done, but item 1: exit 1")


def test_its_own_check_and_what_it_covers_both_decide(tmp_path: Path) -> None:
    orders = {"A1": [done({"a": "x"}), done({"own": "x"}), done({"a": "x", "own": "x"})]}
    both = atom("A1", covers=("item 1",), check=AtomCheck(type="file", value="own"))
    constraints = Constraints(max_attempts=5)
    project = a_project(
        tmp_path, both, base_case=commands("test -f a"), config=scripted(tmp_path, orders), constraints=constraints
    )
    assert project.run().code == 0
    failures = [one.reason for one in project.loop.trail if one.type == "failure"]
    assert len(failures) == times_asked(tmp_path, "A1") - 1 >= 1
    assert all("it says that it is done, but " in one for one in failures)


def test_a_whole_is_resolved_by_its_parts_only_if_what_it_covers_holds(tmp_path: Path) -> None:
    parts = [Decomposition(parent="A1", children=("A2",), reason="parts")]
    atoms = [atom("A1", covers=("item 1",)), atom("A2", run="touch nothing")]
    orders = {"A3": [done({"a": "x"})]}
    project = a_project(
        tmp_path,
        *atoms,
        base_case=commands("test -f a"),
        decompositions=parts,
        config=scripted(tmp_path, orders),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.statuses() == {"A1": "resolved", "A2": "resolved", "A3": "resolved"}
    assert project.atom("A3").repairs == "A1"


def test_parts_cover_what_they_say_and_what_is_unknown_is_left_out_with_a_warning(tmp_path: Path) -> None:
    part = {"description": "the first", "covers": ["item 1", "item 9"]}
    other = {"description": "the second", "covers": ["item 2"], "probe": False}
    orders = {"A1": [proposes(part, other)], "A2": [done({"a": "x"})], "A3": [done({"b": "x"})]}
    project = a_project(tmp_path, atom("A1"), base_case=TWO, config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.atom("A2").covers, project.atom("A3").covers) == (("item 1",), ("item 2",))
    assert "the base case has no item 'item 9': parts do not cover it" in [one["text"] for one in ran.kinds("warning")]


def test_an_item_that_fails_in_the_end_takes_up_the_atom_that_covers_it(tmp_path: Path) -> None:
    """A2 breaks what A1 had made true: A1 mends it, and no repair is made up."""
    orders = {"A1": [done({"a": "1"}), done({"a": "2"})], "A2": [done({"b": "x"}, run="rm a")]}
    items = commands("test -f a", "test -f b")
    atoms = [atom("A1", covers=("item 1",)), atom("A2", "A1", covers=("item 2",))]
    project = a_project(tmp_path, *atoms, base_case=items, config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one.id for one in project.loop.atoms] == ["A1", "A2"]
    assert times_asked(tmp_path, "A1") == 2
    assert (project.root / "a").read_text().strip() == "2"


def test_what_needs_a_judge_is_left_to_the_base_case(tmp_path: Path) -> None:
    judged = ChecklistItem(item="reads well", check=Check(type="assertion", value="it reads well"))
    base_case = BaseCase(checklist=(*(commands("test -f a").checklist or ()), judged))
    orders = {"A1": [done({"a": "x"})]}
    covering = atom("A1", covers=("item 1", "reads well"))
    project = a_project(tmp_path, covering, base_case=base_case, config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 6, ran.out
    assert project.statuses() == {"A1": "resolved"}
    assert times_asked(tmp_path, "A1") == 1
