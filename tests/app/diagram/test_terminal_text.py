"""The picture in a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from aotloop.app.diagram import draw
from aotloop.app.diagram.terminal_text import NARROWEST
from aotloop.core.model import Loop, OrGroup
from tests.app.diagram.loops import any_loops, atom, chain, layered, loop_of, nested, sign_in, split, unhurried

WIDTHS = st.sampled_from((NARROWEST, 40, 80, 200))


def test_the_picture_reads_like_an_outline() -> None:
    assert draw(sign_in(), "text") == (
        "1  ✔ A1            Choose the schema of the user table\n"
        "2  ◇ A2            Implement authentication  ← A1\n"
        "   ├╴✔ A3          Hash passwords  ← A1\n"
        "   └╴┌ token_method: one of 2\n"
        "     │ ▸ ● A4      Issue signed tokens  ← A1\n"
        "     └   · A4_alt  Keep sessions in the database  ← A1\n"
        "3  ◌ A5            Wire the endpoints together  ← A3, A4\n"
        "\n"
        "✔ 2 resolved   ● 1 in progress   ◌ 1 waiting   ◇ 1 decomposed   · 1 not selected\n"
    )


def test_the_picture_can_do_with_ascii() -> None:
    assert draw(sign_in(), "text", ascii_only=True) == (
        "1  [x] A1            Choose the schema of the user table\n"
        "2  [/] A2            Implement authentication  <- A1\n"
        "   |-[x] A3          Hash passwords  <- A1\n"
        "   `-,-token_method: one of 2\n"
        "     | > [>] A4      Issue signed tokens  <- A1\n"
        "     `-  [-] A4_alt  Keep sessions in the database  <- A1\n"
        "3  [.] A5            Wire the endpoints together  <- A3, A4\n"
        "\n"
        "[x] 2 resolved   [>] 1 in progress   [.] 1 waiting   [/] 1 decomposed\n"
        "[-] 1 not selected\n"
    )


def test_no_atoms_are_said_to_be_none() -> None:
    assert draw(loop_of([]), "text") == "no atoms yet\n"


def test_a_long_description_ends_in_an_ellipsis() -> None:
    first, *_ = draw(loop_of([atom("A1", description="word " * 40)]), "text", width=40).splitlines()
    assert first == "1  ○ A1  word word word word word word…"


def test_dependencies_that_do_not_fit_are_counted() -> None:
    loop = loop_of([*(atom(f"A{number}") for number in range(40)), atom("B", *(f"A{n}" for n in range(40)))])
    line = next(line for line in draw(loop, "text").splitlines() if "B" in line)
    assert line.endswith("← A0, A1, A2, A3, A4, A5, A6 +33")


def test_a_speculative_group_says_so() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A1", speculative=True)
    assert "g: all 2 tried at once" in draw(loop_of([atom("A1"), atom("A2")], (), {"g": group}), "text")


def test_parts_stand_under_their_parent_in_the_order_of_their_dependencies() -> None:
    loop = loop_of([atom("A1"), atom("late", "early"), atom("early")], [split("A1", "late", "early")])
    lines = draw(loop, "text").splitlines()
    assert [line.split()[-1] for line in lines[:1]] == ["about"]
    assert "early" in lines[1]
    assert "late" in lines[2]


def test_parts_of_a_choice_stand_within_its_group() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A1")
    loop = loop_of([atom("A1"), atom("A2"), atom("A3")], [split("A1", "A3")], {"g": group})
    assert draw(loop, "text").splitlines()[:4] == [
        "1  ┌ g: one of 2",
        "   │ ▸ ◇ A1    what A1 is about",
        "   │   └╴○ A3  what A3 is about",
        "   └   · A2    what A2 is about",
    ]


def test_a_part_under_itself_is_shown_once() -> None:
    loop = loop_of([atom("A1"), atom("A2")], [split("A1", "A2"), split("A2", "A1"), split("A1", "A1")])
    assert sum("what A" in line for line in draw(loop, "text").splitlines()) == 2


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
def test_every_atom_has_a_line_of_its_own(count: int) -> None:
    loop = layered(count)
    lines = draw(loop, "text").splitlines()
    assert all(any(f" {one.id} " in line for line in lines) for one in loop.atoms)


def test_chains_and_nesting_may_be_deeper_than_calls_may_be() -> None:
    assert draw(chain(3000), "text").count("what") == 3000
    assert draw(nested(3000), "text").count("what") == 3000


@unhurried
@given(any_loops(), WIDTHS, st.booleans())
def test_no_line_is_wider_than_asked(loop: Loop, width: int, ascii_only: bool) -> None:
    drawn = draw(loop, "text", width=width, ascii_only=ascii_only)
    assert max(map(cell_len, drawn.split("\n"))) <= width


@unhurried
@given(any_loops(), WIDTHS)
def test_there_is_one_line_per_card_and_no_control_character(loop: Loop, width: int) -> None:
    drawn = draw(loop, "text", width=width)
    assert drawn.replace("\n", "").isprintable()


@unhurried
@given(any_loops())
def test_ascii_is_ascii(loop: Loop) -> None:
    assert draw(loop, "text", ascii_only=True).isascii()


@unhurried
@given(any_loops(), WIDTHS)
def test_colour_changes_nothing_but_colour(loop: Loop, width: int) -> None:
    plain, coloured = (draw(loop, "text", width=width, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert Text.from_ansi(coloured).plain.rstrip() == plain.rstrip()


def test_colour_is_there_when_asked_for() -> None:
    assert "\x1b[32m✔" in draw(sign_in(), "text", colour=True)


@unhurried
@given(any_loops(hostile=False))
def test_every_id_appears(loop: Loop) -> None:
    words = set(draw(loop, "text", width=200).split())
    assert {one.id for one in loop.atoms} <= words
