"""A drawing as data: the places and texts of the SVG, for a program that makes the elements itself."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from aotloop.app.diagram.blocks import Box
from aotloop.app.diagram.diagram import Card, EdgeKind, Look, picture_of
from aotloop.app.diagram.edge_routes import Course
from aotloop.app.diagram.fold import Folded, fold
from aotloop.app.diagram.legend import cut, wrapped
from aotloop.app.diagram.placement import CARD_WIDTH, place
from aotloop.app.diagram.styles import STYLES
from aotloop.app.diagram.svg import (
    CARD_HEAD,
    CARD_PADDING,
    LABEL_SIZE,
    MARK_ROOM,
    MOST_LINES,
    SELECTED_ROOM,
    TEXT_LINE,
    TEXT_SIZE,
    caption_of,
    path_of,
)
from aotloop.core.model import Loop


class DrawnCard(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    label: str
    lines: tuple[str, ...]
    words: str
    """The look, in words."""
    look: Look
    mark: str
    box: Box
    is_ghost: bool = False
    is_selected: bool = False
    fold: str | None = None
    """The card stands for several atoms: opening this fold shows them."""
    members: tuple[str, ...] = ()


class DrawnGroup(msgspec.Struct, frozen=True, kw_only=True):
    caption: str
    box: Box


class DrawnEdge(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    kind: EdgeKind
    course: Course


class OpenFold(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    label: str


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    width: float
    height: float
    atoms: int
    """All atoms, those inside of folds included."""
    cards: tuple[DrawnCard, ...]
    groups: tuple[DrawnGroup, ...]
    edges: tuple[DrawnEdge, ...]
    opened: tuple[OpenFold, ...]


def drawing_of(loop: Loop, opened: Collection[str] = (), *, everything: bool = False) -> Drawing:
    """`opened` and `everything`: see `fold`."""
    picture = picture_of(loop)
    folded = fold(picture, opened, everything=everything)
    shown = folded.picture
    lines = {card.id: wrapped(card.description, _ROOM, TEXT_SIZE, MOST_LINES) for card in shown.cards}
    placement = place(shown, CARD_HEAD + TEXT_LINE * max(map(len, lines.values()), default=0) + 4)
    selected = {group.selected for group in shown.groups}
    return Drawing(
        width=placement.width,
        height=placement.height,
        atoms=len(picture.cards),
        cards=tuple(_card(card, placement.cards[card.id], lines[card.id], folded, selected) for card in shown.cards),
        groups=tuple(DrawnGroup(caption=caption_of(group, box), box=box) for group, box in placement.groups),
        edges=tuple(DrawnEdge(path=path_of(route), kind=route.kind, course=route.course) for route in placement.routes),
        opened=tuple(OpenFold(name=opened.name, label=opened.label) for opened in folded.opened),
    )


_ROOM = CARD_WIDTH - 2 * CARD_PADDING


def _card(card: Card, box: Box, lines: list[str], folded: Folded, selected: set[str]) -> DrawnCard:
    style, closed = STYLES[card.look], folded.closed.get(card.id)
    room = _ROOM - MARK_ROOM - (SELECTED_ROOM if card.id in selected else 0)
    return DrawnCard(
        id=card.id,
        label=cut(card.label, room, LABEL_SIZE),
        lines=tuple(lines),
        words=style.words,
        look=card.look,
        mark=style.mark,
        box=box,
        is_ghost=card.ghost,
        is_selected=card.id in selected,
        fold=closed.name if closed is not None else None,
        members=closed.members if closed is not None else (),
    )
