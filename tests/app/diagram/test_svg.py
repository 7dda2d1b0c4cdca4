"""The picture as a drawing: nothing overlaps, everything is named, and it is one harmless file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.app.diagram import draw
from aotloop.app.diagram.blocks import Box, spread
from aotloop.app.diagram.diagram import picture_of
from aotloop.app.diagram.legend import breadth, cut, wrapped
from aotloop.app.diagram.placement import CARD_WIDTH, Placement, place
from aotloop.core.model import Loop, OrGroup
from tests.app.diagram.loops import HOSTILE, any_loops, atom, chain, layered, loop_of, nested, sign_in, unhurried

SVG = "{http://www.w3.org/2000/svg}"
CARD_HEIGHT = 80.0
HARMLESS = {"svg", "title", "desc", "style", "defs", "marker", "rect", "g", "path", "text"}


def placement_of(loop: Loop) -> Placement:
    return place(picture_of(loop), CARD_HEIGHT)


def overlap(one: Box, other: Box) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


def contains(outer: Box, inner: Box) -> bool:
    return outer.x <= inner.x and inner.right <= outer.right and outer.y <= inner.y and inner.bottom <= outer.bottom


def texts(loop: Loop, name: str) -> list[str]:
    root = ET.fromstring(draw(loop, "svg"))
    return [one.text or "" for one in root.iter(f"{SVG}text") if one.get("class") == name]


def test_cards_carry_id_description_and_a_word_on_their_state() -> None:
    root = ET.fromstring(draw(sign_in(), "svg"))
    assert texts(sign_in(), "label") == ["A1", "A2", "A3", "A4", "A4_alt", "A5"]
    assert texts(sign_in(), "selected-word") == ["selected"]
    assert "A4 (in progress) Issue signed tokens" in [one.text for one in root.iter(f"{SVG}title")]


def test_groups_are_named_and_the_whole_has_title_and_description() -> None:
    root = ET.fromstring(draw(sign_in(), "svg"))
    assert texts(sign_in(), "caption") == ["token_method — one of 2"]
    assert root.findtext(f"{SVG}title") == "Users can sign in"
    assert (root.findtext(f"{SVG}desc") or "").startswith("Work graph of 6 atoms: 2 resolved, 1 in progress")


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    assert texts(loop_of([atom("A1")]), "legend") == ["ready"]
    assert texts(sign_in(), "legend")[-2:] == ["is needed by", "was split into"]


def test_there_are_colours_for_dark_surroundings() -> None:
    assert "prefers-color-scheme:dark" in draw(sign_in(), "svg")


def test_every_dependency_runs_downwards() -> None:
    for route in placement_of(sign_in()).routes:
        heights = [y for _, y in route.points]
        assert heights == sorted(heights)


def test_what_depends_on_a_split_atom_is_below_its_parts() -> None:
    loop = sign_in()
    loop.atoms.append(atom("A6", "A2"))
    cards = placement_of(loop).cards
    assert cards["A6"].y > cards["A4"].bottom


def test_a_dependency_shared_by_all_choices_is_drawn_once() -> None:
    group = OrGroup(choices=("A2", "A3"), selected="A2")
    loop = loop_of([atom("A1"), atom("A2", "A1"), atom("A3", "A1")], (), {"g": group})
    assert len(placement_of(loop).routes) == 1


def test_a_cycle_is_drawn_with_one_edge_pointing_up() -> None:
    loop = loop_of([atom("A1", "A3"), atom("A2", "A1"), atom("A3", "A2")])
    assert sorted(route.course for route in placement_of(loop).routes) == ["down", "down", "up"]


def test_a_long_edge_keeps_clear_of_the_cards_it_passes() -> None:
    loop = loop_of([atom("A1"), atom("A2", "A1"), atom("A3", "A2"), atom("A4", "A3", "A1")])
    placement = placement_of(loop)
    long_way = max(placement.routes, key=lambda route: len(route.points))
    passed = [placement.cards["A2"], placement.cards["A3"]]
    assert not any(box.x <= x <= box.right and box.y < y < box.bottom for x, y in long_way.points for box in passed)
    assert {x for x, _ in long_way.points[2:-2]} & {passed[0].middle} == set()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(text: str) -> None:
    loop = loop_of([atom(text, description=text)], (), {text: OrGroup(choices=(text,), selected=text)}, text)
    _check_harmless(draw(loop, "svg"))


@unhurried
@given(any_loops())
def test_any_loop_gives_one_harmless_file(loop: Loop) -> None:
    _check_harmless(draw(loop, "svg"))


@unhurried
@given(any_loops(hostile=False))
def test_every_id_appears(loop: Loop) -> None:
    assert {one.id for one in loop.atoms} <= set(texts(loop, "label"))


@unhurried
@given(any_loops())
def test_any_loop_is_placed_without_overlap(loop: Loop) -> None:
    _check_placement(loop)


@pytest.mark.parametrize("loop", [layered(100), layered(300), chain(40), nested(60)], ids=str)
def test_large_loops_are_placed_without_overlap(loop: Loop) -> None:
    _check_placement(loop)


def test_many_choices_take_several_rows_of_one_box() -> None:
    choices = tuple(f"A{number}" for number in range(10))
    loop = loop_of(
        [atom("first"), *(atom(one, "first") for one in choices[:9]), atom("last", "A9")],
        (),
        {"g": OrGroup(choices=choices, selected="A3")},
    )
    _check_placement(loop)
    assert len({placement_of(loop).cards[one].y for one in choices}) == 3


def test_three_hundred_atoms_are_drawn() -> None:
    drawn = draw(layered(300), "svg")
    assert [one for one in range(300) if f">A{one}<" not in drawn] == []


def test_the_same_loop_gives_the_same_drawing() -> None:
    assert draw(layered(60), "svg") == draw(layered(60), "svg")


@unhurried
@given(st.text(), st.integers(1, 5))
def test_wrapped_lines_fit_and_lose_no_word_unless_they_say_so(text: str, lines: int) -> None:
    written = " ".join(text.split())
    result = wrapped(written, 100.0, 10.0, lines)
    assert len(result) <= lines
    assert all(breadth(line, 10.0) <= 100.0 + 1e-6 for line in result)
    shown = "".join(result).replace(" ", "")
    assert shown == written.replace(" ", "") or result[-1].endswith("…")


def test_a_short_text_is_not_cut() -> None:
    assert cut("A1", 100.0, 10.0) == "A1"
    assert cut("A" * 100, 100.0, 10.0).endswith("…")


@unhurried
@given(st.lists(st.tuples(st.integers(-500, 500), st.integers(1, 300)), max_size=12))
def test_spreading_keeps_the_order_and_makes_room(row: list[tuple[int, int]]) -> None:
    wishes, widths = sorted(wish for wish, _ in row), [width for _, width in row]
    places = spread(wishes, widths, 10)
    for left in range(len(places) - 1):
        needed = (widths[left] + widths[left + 1]) / 2 + 10
        assert places[left + 1] - places[left] >= needed - 1e-6


def test_spreading_leaves_alone_what_has_room() -> None:
    assert spread([0, 100, 300], [50, 50, 50], 10) == [0, 100, 300]


def _check_harmless(drawn: str) -> None:
    root = ET.fromstring(drawn)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= HARMLESS
    for name in (name for element in root.iter() for name in element.attrib):
        assert not name.startswith("on")
        assert "href" not in name


def _check_placement(loop: Loop) -> None:
    placement = placement_of(loop)
    assert not [pair for pair in combinations(placement.cards.values(), 2) if overlap(*pair)]
    assert not [pair for pair in combinations([box for _, box in placement.groups], 2) if overlap(*pair)]
    for group, outer in placement.groups:
        for card_id, box in placement.cards.items():
            assert contains(outer, box) if card_id in group.members else not overlap(outer, box)
    whole = Box(-0.01, -0.01, placement.width + 0.02, placement.height + 0.02)
    assert all(contains(whole, box) for box in _boxes(placement))
    assert all(box.width == CARD_WIDTH for box in placement.cards.values())


def _boxes(placement: Placement) -> Iterator[Box]:
    yield from placement.cards.values()
    yield from (box for _, box in placement.groups)
    yield from (Box(x, y, 0, 0) for route in placement.routes for x, y in route.points)
