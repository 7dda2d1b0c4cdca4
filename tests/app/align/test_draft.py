"""Drafts: one on top of another, from a loop, and as the loop they describe."""

from __future__ import annotations

from aotloop.app.align.draft import Draft, DraftAtom, DraftGroup, draft_of, over
from aotloop.app.align.shape import shape_of
from aotloop.core.model import AtomCheck, BaseCase, Constraints, Decomposition, OrGroup
from tests.loops import a_loop, atom

AGREED = Draft(
    goal="It works",
    background_intent="why not",
    deliverables="code",
    definition_of_done="tests pass",
    base_case=BaseCase(type="command", value="true"),
)


def test_what_is_not_said_is_taken_from_below() -> None:
    below = Draft(goal="a", deliverables="b", protect=("x",), atoms=(DraftAtom(description="old"),))
    above = Draft(goal="c", constraints=Constraints(max_iterations=3))
    assert over(below, above) == Draft(
        goal="c", deliverables="b", protect=("x",), constraints=Constraints(max_iterations=3), atoms=below.atoms
    )
    assert over(below, Draft(protect=())).protect == ()


def test_a_graph_is_taken_whole() -> None:
    below = Draft(atoms=(DraftAtom(id="A1", description="old", or_group="g"),), or_groups={"g": DraftGroup()})
    new = Draft(atoms=(DraftAtom(description="new"),))
    assert over(below, new) == new


def test_a_draft_of_a_loop_describes_that_loop() -> None:
    loop = a_loop(
        atom("A1", status="resolved", run="make", touches=("src/**",), estimate=5.0),
        atom("X", or_group="g", attempts=2, check=AtomCheck(type="file", value="x")),
        atom("Y", "A1", or_group="g", probe=True, agent="claude", timeout="5m"),
        atom("P", "X"),
        atom("C", "X"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="Y", failed=("X",), speculative=True)},
        decompositions=[Decomposition(parent="P", children=("C",), reason="big")],
        constraints=Constraints(max_iterations=7),
    )
    shape = shape_of(draft_of(loop), loop)
    assert shape.gate.ready
    assert shape.loop.objective == loop.objective
    assert [one.id for one in shape.loop.atoms] == ["A1", "X", "Y", "P", "C"]
    assert {one.status for one in shape.loop.atoms} == {"pending"}
    assert shape.loop.atoms[2] == loop.atoms[2]
    assert shape.loop.or_groups == {"g": OrGroup(choices=("X", "Y"), selected="Y", speculative=True)}
    assert shape.loop.decompositions == loop.decompositions


def test_what_only_mends_an_old_failure_is_no_part_of_an_agreement() -> None:
    loop = a_loop(atom("A1"), atom("A2", repairs="tests"), atom("A3", "A2", "A1"))
    draft = draft_of(loop)
    assert [(one.id, one.depends_on) for one in draft.atoms] == [("A1", ()), ("A3", ("A1",))]


# --- the loop it describes ---------------------------------------------------------------------------------------


def test_ids_are_allotted_past_those_that_are_used() -> None:
    atoms = (DraftAtom(description="a"), DraftAtom(id="A7", description="b"), DraftAtom(description="c"))
    draft = over(AGREED, Draft(atoms=atoms))
    assert [one.id for one in shape_of(draft).loop.atoms] == ["A8", "A7", "A9"]
    before = a_loop(atom("A20", description="c"), atom("A30"))
    assert [one.id for one in shape_of(draft, before).loop.atoms] == ["A31", "A7", "A20"]


def test_without_atoms_there_is_one_that_is_all_of_it() -> None:
    (only,) = shape_of(AGREED).loop.atoms
    assert (only.id, only.description) == ("A1", "It works")


def test_groups_are_made_of_the_atoms_that_name_them_or_that_they_name() -> None:
    atoms = (DraftAtom(id="X", description="x", or_group="g"), DraftAtom(id="Y", description="y", or_group="g"))
    named = shape_of(over(AGREED, Draft(atoms=atoms)))
    assert named.gate.ready
    assert named.loop.or_groups == {"g": OrGroup(choices=("X", "Y"), selected="X")}
    bare = tuple(DraftAtom(id=one, description=one) for one in "XYZ")
    listed = Draft(atoms=bare, or_groups={"g": DraftGroup(choices=("Z", "X"), speculative=True)})
    shape = shape_of(over(AGREED, listed))
    assert shape.gate.ready
    assert [one.or_group for one in shape.loop.atoms] == ["g", None, "g"]
    assert shape.loop.or_groups["g"] == OrGroup(choices=("Z", "X"), selected="Z", speculative=True)


def test_a_group_goes_on_with_the_choice_it_had() -> None:
    atoms = (DraftAtom(id="X", description="x", or_group="g"), DraftAtom(id="Y", description="y", or_group="g"))
    before = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), or_groups={"g": OrGroup(choices=("X", "Y"), selected="Y")}
    )
    assert shape_of(over(AGREED, Draft(atoms=atoms)), before).loop.or_groups["g"].selected == "Y"


def test_everything_that_is_missing_or_wrong_is_said() -> None:
    shape = shape_of(Draft(goal="x", atoms=(DraftAtom(id="A", description="a", depends_on=("B",)),)))
    assert not shape.gate.ready
    assert shape.gate.missing == (
        "objective.base_case",
        "atoms[0].depends_on: there is no atom B",
        "objective.background_intent",
        "objective.deliverables",
        "objective.definition_of_done",
    )
