"""One line connects an atom; what is not understood changes nothing."""

from __future__ import annotations

import pytest

from aotloop.app.align.draft import Draft
from aotloop.app.align.graph_lines import connected, with_atoms
from aotloop.errors import AotError

DRAFT = with_atoms(Draft(), ["write src/app.py", "test src/app.py", "the manual", "the manual, shorter"])


def test_an_atom_that_names_the_file_of_an_earlier_one_comes_after_it() -> None:
    assert [(one.id, one.depends_on) for one in DRAFT.atoms] == [("A1", ()), ("A2", ("A1",)), ("A3", ()), ("A4", ())]


def test_what_a_person_says_replaces_the_proposal() -> None:
    draft = connected(DRAFT, "a3 after A1, A2")
    assert draft.atoms[2].depends_on == ("A1", "A2")
    assert connected(draft, "A3 after -").atoms[2].depends_on == ()
    assert connected(draft, "A2 runs make test; echo after all").atoms[1].run == "make test; echo after all"
    choices = connected(draft, "A4 instead of A3").atoms[2:]
    assert [one.or_group for one in choices] == ["instead_of_A3", "instead_of_A3"]


def test_a_choice_does_not_wait_for_the_one_that_it_replaces() -> None:
    draft = connected(connected(DRAFT, "A4 after A3 A1"), "A4 instead of A3")
    assert draft.atoms[3].depends_on == ("A1",)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("A9 after A1", "no atom A9; known atoms: A1, A2, A3, A4"),
        ("A1 after A9", "no atom A9"),
        ("A1 after A1", "with itself"),
        ("A1 instead of A2, A3", "only one"),
        ("A1 instead of -", "only one"),
        ("A1", "not understood"),
        ("A1 before A2", "not understood"),
        ("A1 after   ", "not understood"),
        ("\x1b[2J after \x07", "no atom"),
    ],
)
def test_what_is_not_understood_says_how_to_write_it(line: str, why: str) -> None:
    with pytest.raises(AotError, match=why):
        connected(DRAFT, line)
