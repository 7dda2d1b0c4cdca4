"""What an atom is likely to make true is proposed by words, and only where words tell."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.app.align.coverage import offered, proposals, stated, undecided, with_covers
from aotloop.app.align.draft import Draft, DraftAtom, over
from aotloop.app.align.shape import shape_of
from aotloop.app.align.starting_point import covering, draft_of_plan
from aotloop.core.model import BaseCase, Check, ChecklistItem, Decomposition
from aotloop.importers.formats import read_plan
from tests.loops import a_loop, atom


def item(name: str, value: str = "true", kind: Any = "command") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))


LOGIN = item("the tests of the login pass", "make test-login")
MANUAL = item("it is in the manual", "docs/manual.md", "file")
BASE_CASE = BaseCase(checklist=(LOGIN, MANUAL))


def draft(*descriptions: str, base_case: BaseCase = BASE_CASE, **more: Any) -> Draft:
    atoms = tuple(DraftAtom(id=f"A{number}", description=one) for number, one in enumerate(descriptions, 1))
    return Draft(goal="g", base_case=base_case, atoms=atoms, **more)


def proposed(*descriptions: str, base_case: BaseCase = BASE_CASE) -> list[tuple[str, ...]]:
    return list(proposals(draft(*descriptions, base_case=base_case)).values())


# --- proposals ---------------------------------------------------------------------------------------------------


def test_an_atom_is_proposed_what_it_has_words_in_common_with() -> None:
    assert proposed("Build the logins", "Write the manual page", "Paint the wall") == [
        (LOGIN.item,),
        (MANUAL.item,),
        (),
    ]


def test_the_command_or_path_of_an_item_counts_as_its_words() -> None:
    assert proposed("Put docs where they belong", "else") == [(MANUAL.item,), ()]


def test_the_item_with_the_most_words_in_common_is_proposed() -> None:
    assert proposed("Describe the tests of the login in the manual", "x") == [(LOGIN.item,), ()]
    assert proposed("manual and login", "x") == [(LOGIN.item, MANUAL.item), ()]


def test_words_that_most_items_have_tell_nothing() -> None:
    items = BaseCase(checklist=(item("shop opens"), item("shop sells"), item("shop closes")))
    assert proposed("Build the shop", "Have the shop close at night", base_case=items) == [(), ("shop closes",)]


def test_what_an_item_says_word_for_word_decides() -> None:
    description = "Accounts and login and tests\n\nAcceptance criteria:\n- It is in the manual."
    assert proposed(description, "x") == [(MANUAL.item,), ()]
    assert proposed("Accounts\n\nHow to test it: x\n`make test-login`", "x")[0] == (LOGIN.item,)


def test_items_that_a_judge_decides_or_that_share_a_name_are_not_offered() -> None:
    judged = ChecklistItem(item="all of it", group=(LOGIN, item("reads well", "the manual reads well", "assertion")))
    twice = BaseCase(checklist=(MANUAL, item("x"), item("x"), judged))
    assert offered(draft("a", "b", base_case=twice)) == [MANUAL.item]


# --- who is asked about ------------------------------------------------------------------------------------------


def test_only_atoms_that_nothing_else_decides_are_asked_about() -> None:
    atoms = (
        DraftAtom(id="A1", description="x"),
        DraftAtom(id="A2", description="x", run="true"),
        DraftAtom(id="A3", description="x", covers=(MANUAL.item,)),
        DraftAtom(id="A4", description="x"),
        DraftAtom(id="A5", description="x"),
    )
    split = (Decomposition(parent="A4", children=("A5",), reason="parts"),)
    asked = Draft(base_case=BASE_CASE, atoms=atoms, decompositions=split)
    assert undecided(asked, None) == [0, 4]
    assert undecided(asked, a_loop(atom("A5", status="resolved"), atom("A1"))) == [0]


def test_a_single_piece_of_work_is_decided_by_the_base_case() -> None:
    assert undecided(draft("all of it"), None) == []
    ways = tuple(DraftAtom(id=one, description=one, or_group="way") for one in ("A1", "A2"))
    assert undecided(Draft(base_case=BASE_CASE, atoms=ways), None) == []


def test_an_atom_that_is_all_of_it_covers_all_that_a_program_decides() -> None:
    judged = item("reads well", "it reads well", "assertion")
    loop = shape_of(Draft(goal="g", base_case=BaseCase(checklist=(LOGIN, judged, MANUAL)))).loop
    assert [one.covers for one in loop.atoms] == [(LOGIN.item, MANUAL.item)]


def test_covers_of_other_atoms_are_left_alone() -> None:
    taken = with_covers(draft("a", "b"), {1: (MANUAL.item,)})
    assert [one.covers for one in taken.atoms] == [(), (MANUAL.item,)]


def test_an_item_that_is_no_longer_asked_for_is_covered_by_none() -> None:
    before = with_covers(draft("a", "b"), {0: (LOGIN.item, MANUAL.item), 1: (LOGIN.item,)})
    after = over(before, Draft(base_case=BaseCase(checklist=(MANUAL,))))
    assert [one.covers for one in after.atoms] == [(MANUAL.item,), ()]
    assert over(before, Draft(goal="other")).atoms == before.atoms


# --- imported ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("It is in the manual", (MANUAL.item,)),
        ("first look\n- it is in the MANUAL.\n- make test-login", (LOGIN.item, MANUAL.item)),
        ("somehow in the manual", ()),
        ("", ()),
    ],
)
def test_criteria_decide_only_if_the_base_case_has_them_word_for_word(said: str, found: tuple[str, ...]) -> None:
    assert stated(draft("a", "b"), {1: (said,)}) == ({1: found} if found else {})


def test_acceptance_criteria_and_test_strategies_are_mapped() -> None:
    prd = b'{"userStories": [{"id": 1, "title": "Login", "acceptanceCriteria": ["It is in the manual", "else"]}, {"id": 2, "title": "Rest"}]}'  # noqa: E501
    tasks = b'{"tasks": [{"id": 1, "title": "Rest"}, {"id": 2, "title": "Login", "testStrategy": "make test-login"}]}'
    for source, wanted in ((prd, [(MANUAL.item,), ()]), (tasks, [(), (LOGIN.item,)])):
        plan = read_plan(source, "plan.json", tag=None)
        made = covering(over(draft_of_plan(plan, "plan.json"), Draft(base_case=BASE_CASE)), plan)
        assert [one.covers for one in made.atoms] == wanted
