"""A large graph becomes a picture that a person can read: nothing is lost, far parts are one card."""

from __future__ import annotations

import re
from random import Random

import pytest
from msgspec.structs import replace

from aotloop.app.diagram import Format, draw
from aotloop.app.diagram.diagram import Edge, Picture, picture_of
from aotloop.app.diagram.layers import Units, ranks
from aotloop.app.diagram.reduction import EASY_CARDS, folded, reduced
from aotloop.core.model import Loop, OrGroup
from tests.loops import a_loop, atom


def large(count: int = 900) -> Loop:
    """Ten layers, a third of them resolved, some groups."""
    random, width = Random(count), count // 10
    atoms = []
    for number in range(count):
        layer = number // width * width
        needs = sorted({f"A{random.randrange(layer - width, layer)}" for _ in range(3)}) if layer else []
        status = "resolved" if number < count // 3 else "pending"
        atoms.append(atom(f"A{number}", *needs, status=status))
    loop = a_loop(*atoms)
    for number in range(5):
        names = (f"A{count - 2 * number - 1}", f"A{count - 2 * number - 2}")
        loop.or_groups[f"G{number}"] = OrGroup(choices=names, selected=names[0])
    loop.atoms[count // 3] = replace(loop.atoms[count // 3], status="in_progress")
    return loop


def test_every_atom_is_shown_or_counted() -> None:
    picture = picture_of(large())
    small = folded(picture)
    assert len(small.cards) < len(picture.cards) / 5
    for look in {card.look for card in picture.cards}:
        before = sum(card.count for card in picture.cards if card.look == look)
        assert sum(card.count for card in small.cards if card.look == look) == before


def test_what_is_under_way_and_its_neighbours_are_not_folded() -> None:
    loop = large()
    shown = {card.id for card in folded(picture_of(loop)).cards}
    assert {"A300", *loop.atoms[300].depends_on} <= shown


def test_a_folded_picture_has_no_cycle() -> None:
    small = folded(picture_of(large()))
    units = Units(small)
    arcs = {units.arc(edge) for edge in small.edges}
    rank = ranks(len(units.all), arcs)
    assert arcs
    assert all(rank[source] < rank[target] for source, target in arcs)


def closure(picture: Picture) -> set[tuple[int, int]]:
    units = Units(picture)
    pairs = {units.arc(edge) for edge in picture.edges}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs


def test_a_reduced_picture_says_the_same_with_fewer_lines() -> None:
    picture = picture_of(
        a_loop(atom("A"), atom("B", "A"), atom("C", "A", "B"), atom("D", "A", "B", "C"), atom("E", "A"))
    )
    small = reduced(picture)
    assert set(small.edges) == {Edge(a, b, "and") for a, b in ("AB", "BC", "CD", "AE")}
    assert closure(small) == closure(picture)


@pytest.mark.parametrize("form", ["text", "svg"])
def test_a_large_graph_is_folded_if_it_has_more_cards_than_asked(form: Format) -> None:
    loop = large(EASY_CARDS + 100)
    assert "A399" not in draw(loop, form, most=EASY_CARDS)
    assert re.search(r"\d+ atoms", draw(loop, form, most=EASY_CARDS))
    assert all(f"A{number}" in draw(loop, form, most=None) for number in (0, 399))


def test_formats_for_programs_are_never_folded() -> None:
    loop = large(EASY_CARDS + 100)
    drawn = draw(loop, "dot", most=EASY_CARDS)
    assert all(f"A{number}" in drawn for number in range(400))


def test_a_small_graph_is_as_it_was() -> None:
    loop = large(EASY_CARDS)
    assert draw(loop, "svg", most=EASY_CARDS) == draw(loop, "svg", most=None)


def test_layers_of_a_large_picture_wrap() -> None:
    loop = a_loop(atom("root"), *(atom(f"A{number}", "root") for number in range(600)))
    for most, widest in ((None, 10_000), (EASY_CARDS, 3_000)):
        width = re.search(r'width="([\d.]+)"', draw(loop, "svg", most=most))
        assert width is not None
        assert float(width[1]) < widest
