"""Large pictures fold so that they can be read; nothing is lost by folding."""

from __future__ import annotations

import pytest
from hypothesis import given

from aotloop.app.diagram.diagram import picture_of
from aotloop.app.diagram.drawn_graph import drawing_of
from aotloop.app.diagram.fold import MOST_CARDS, fold
from aotloop.core.model import Loop
from tests.app.diagram.loops import any_loops, layered, sign_in, unhurried


def members(loop: Loop, *opened: str, everything: bool = False) -> list[str]:
    """Of all cards, folded or not."""
    folded = fold(picture_of(loop), opened, everything=everything)
    return sorted(
        member
        for card in folded.picture.cards
        for member in (folded.closed[card.id].members if card.id in folded.closed else (card.id,))
    )


@pytest.mark.parametrize("per_layer", [1, 7, 400])
def test_three_thousand_atoms_become_few_cards(per_layer: int) -> None:
    loop = layered(3000, per_layer)
    drawn = drawing_of(loop)
    assert len(drawn.cards) <= MOST_CARDS
    assert drawn.atoms >= 3000
    assert members(loop) == sorted(card.id for card in picture_of(loop).cards)


def test_an_open_fold_shows_its_members_and_can_be_closed() -> None:
    loop = layered(3000)
    name = next(card.fold for card in drawing_of(loop).cards if card.fold)
    opened = drawing_of(loop, [name])
    assert [fold.name for fold in opened.opened] == [name]
    assert len(opened.cards) > len(drawing_of(loop).cards)


def test_a_small_picture_is_folded_only_when_asked() -> None:
    assert all(card.fold is None for card in drawing_of(sign_in()).cards)
    assert any(card.fold is not None for card in drawing_of(sign_in(), everything=True).cards)


@unhurried
@given(loop=any_loops())
def test_every_atom_is_in_exactly_one_card(loop: Loop) -> None:
    assert members(loop, everything=True) == sorted({card.id for card in picture_of(loop).cards})
    drawing_of(loop, everything=True)
