"""A planner's proposal as a draft: ids of ours, groups of two and more, no command that does an atom."""

from __future__ import annotations

from aotloop.agents.answers.answer_schema import Plan, PlannedAtom, PlannedCheck
from aotloop.app.align.draft import Draft, DraftAtom, over
from aotloop.app.align.planner_proposal import draft_of_proposal
from aotloop.core.model import BaseCase, Check, ChecklistItem


def proposal(*atoms: PlannedAtom) -> Plan:
    checks = (
        PlannedCheck(item="tests", type="command", value="make test"),
        PlannedCheck(item="nice", type="quality", value="it is nice"),
    )
    return Plan(
        goal="g", background_intent="b", deliverables="d", definition_of_done="w", checklist=checks, atoms=atoms
    )


def test_names_become_ids_and_single_alternatives_none() -> None:
    atoms = (
        PlannedAtom(name="model", description="m"),
        PlannedAtom(name="jwt", description="j", depends_on=("model",), or_group="token"),
        PlannedAtom(name="session", description="s", depends_on=("model",), or_group="token"),
        PlannedAtom(name="lonely", description="l", or_group="alone", estimate=3.0, touches=("src/*",)),
    )
    draft = draft_of_proposal(proposal(*atoms), Draft())
    assert [(one.id, one.depends_on, one.or_group) for one in draft.atoms] == [
        ("A1", (), None),
        ("A2", ("A1",), "token"),
        ("A3", ("A1",), "token"),
        ("A4", (), None),
    ]
    assert (draft.atoms[3].estimate, draft.atoms[3].touches) == (3.0, ("src/*",))
    assert draft.base_case is not None
    assert draft.base_case.checklist is not None
    assert [item.check for item in draft.base_case.checklist] == [
        Check(type="command", value="make test"),
        Check(type="quality", criteria="it is nice", pass_threshold=3.0),
    ]


def test_atoms_that_are_there_keep_their_ids_and_in_the_same_words_their_commands() -> None:
    present = Draft(
        atoms=(DraftAtom(id="A1", description="m", run="make"), DraftAtom(id="A7", description="x", run="touch x"))
    )
    atoms = (
        PlannedAtom(name="A7", description="something else"),
        PlannedAtom(name="A1", description="m", depends_on=("A7", "new")),
        PlannedAtom(name="new", description="n"),
    )
    draft = draft_of_proposal(proposal(*atoms), present)
    assert [(one.id, one.run, one.depends_on) for one in draft.atoms] == [
        ("A7", None, ()),
        ("A1", "make", ("A7", "A8")),
        ("A8", None, ()),
    ]


def test_what_a_planner_cannot_say_stays_as_it_is_if_it_is_named() -> None:
    leaf = ChecklistItem(item="x", check=Check(type="file", value="x"))
    nested = ChecklistItem(item="tests", any_of=(leaf,))
    present = Draft(base_case=BaseCase(checklist=(nested, leaf)), protect=("tests/**",))
    draft = over(present, draft_of_proposal(proposal(), present))
    assert draft.base_case is not None
    assert draft.base_case.checklist is not None
    assert draft.base_case.checklist[0] == nested
    assert [item.item for item in draft.base_case.checklist] == ["tests", "nice"]
    assert draft.protect == ("tests/**",)
