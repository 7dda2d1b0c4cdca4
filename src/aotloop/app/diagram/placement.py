"""Positions everything in pixels: cards never overlap, and a group's box holds only its members."""

from __future__ import annotations

from math import sqrt

import msgspec

from aotloop.app.diagram.blocks import Block, Box, Size
from aotloop.app.diagram.diagram import Group, Picture
from aotloop.app.diagram.edge_routes import Route, Router
from aotloop.app.diagram.layers import Arc, Unit, Units, components, without_cycles

CARD_WIDTH = 204.0
GROUP_PADDING = 14.0
GROUP_CAPTION = 18.0
GROUP_GAP = 16.0
GROUP_ROW = 4
"""Members that stand side by side; further members start another row."""
BLOCK_GAP = 36.0
FAVOURITE_SHAPE = 1.6
"""The ratio of width to height, if several components have to be arranged."""


class Placement(msgspec.Struct, frozen=True):
    width: float
    height: float
    cards: dict[str, Box]
    groups: list[tuple[Group, Box]]
    routes: list[Route]


def place(picture: Picture, card_height: float) -> Placement:
    units = Units(picture)
    arcs = without_cycles(len(units.all), [*map(units.arc, picture.edges), *_after_parts(picture, units)])
    is_folded = any(card.count > 1 for card in picture.cards)
    sizes = [_size(unit, card_height) for unit in units.all]
    blocks = [Block(component, sizes) for component in components(len(units.all), arcs, is_folded=is_folded)]
    width, height = _arrange(blocks)
    boxes = {number: box for block in blocks for number, box in block.boxes.items()}
    cards = {
        card_id: box
        for number, unit in enumerate(units.all)
        for card_id, box in _inside(unit, boxes[number], card_height).items()
    }
    router = Router(picture, units, boxes, cards, blocks)
    return Placement(
        width=width,
        height=height,
        cards=cards,
        groups=[(unit.group, boxes[number]) for number, unit in enumerate(units.all) if unit.group],
        routes=list(dict.fromkeys(map(router.route, picture.edges))),
    )


def _after_parts(picture: Picture, units: Units) -> list[Arc]:
    """A dependent of a split atom waits for the parts, so it is drawn below the last of them."""
    parts: dict[str, list[int]] = {}
    for edge in picture.edges:
        if edge.kind == "decomposed":
            parts.setdefault(edge.source, []).append(units.number[edge.target])
    inner = {units.arc(edge) for edge in picture.edges if edge.kind == "and"}
    last = {
        parent: [part for part in own if not any((part, other) in inner for other in own)]
        for parent, own in parts.items()
    }
    return [
        (part, units.number[edge.target])
        for edge in picture.edges
        if edge.kind == "and"
        for part in last.get(edge.source, ())
    ]


def _size(unit: Unit, card_height: float) -> Size:
    if unit.group is None:
        return CARD_WIDTH, card_height
    columns = min(len(unit.cards), GROUP_ROW)
    rows = -(-len(unit.cards) // GROUP_ROW)
    width = columns * (CARD_WIDTH + GROUP_GAP) - GROUP_GAP + 2 * GROUP_PADDING
    height = rows * (card_height + GROUP_GAP) - GROUP_GAP + 2 * GROUP_PADDING + GROUP_CAPTION
    return width, height


def _inside(unit: Unit, box: Box, card_height: float) -> dict[str, Box]:
    if unit.group is None:
        return {unit.cards[0].id: box}
    return {
        card.id: Box(
            box.x + GROUP_PADDING + (place % GROUP_ROW) * (CARD_WIDTH + GROUP_GAP),
            box.y + GROUP_PADDING + (place // GROUP_ROW) * (card_height + GROUP_GAP),
            CARD_WIDTH,
            card_height,
        )
        for place, card in enumerate(unit.cards)
    }


def _arrange(blocks: list[Block]) -> tuple[float, float]:
    """Side by side in shelves, in the given order."""
    area = sum((block.width + BLOCK_GAP) * (block.height + BLOCK_GAP) for block in blocks)
    limit = max([sqrt(area * FAVOURITE_SHAPE), *(block.width for block in blocks)])
    left = top = right = bottom = 0.0
    for block in blocks:
        if left > 0 and left + block.width > limit:
            left, top = 0.0, bottom + BLOCK_GAP
        block.move(left, top)
        right, bottom = max(right, left + block.width), max(bottom, top + block.height)
        left += block.width + BLOCK_GAP
    return right, bottom
