"""Finds the route of an edge: straight through a row, bent between rows, never over a foreign card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from aotloop.app.diagram.blocks import Block, Box, Lane, Point
from aotloop.app.diagram.diagram import Edge, EdgeKind, Picture
from aotloop.app.diagram.layers import Arc, Units

Course = Literal["down", "up", "beside"]
"""`up` runs against the layers, as part of a cycle; `beside` stays inside one unit."""

MOST_GIVING_WAY = 14.0


class Route(msgspec.Struct, frozen=True):
    """A line joins points above each other; a curve with vertical ends joins the others."""

    kind: EdgeKind
    course: Course
    points: tuple[Point, ...]


class Router:
    def __init__(
        self,
        picture: Picture,
        units: Units,
        boxes: dict[int, Box],
        cards: dict[str, Box],
        blocks: Sequence[Block],
    ) -> None:
        self._units = units
        self._boxes = boxes
        self._cards = cards
        self._lanes: dict[int, Lane] = {}
        self._bends: dict[Arc, list[int]] = {}
        for block in blocks:
            self._lanes |= block.lanes
            self._bends |= block.bends
        self._common = _common(picture, units)

    def route(self, edge: Edge) -> Route:
        source, target = self._units.arc(edge)
        if source == target:
            return Route(edge.kind, "beside", (self._foot(edge.source), self._foot(edge.target)))
        if (source, target) in self._bends:
            return Route(edge.kind, "down", tuple(self._way(source, target, *self._ports(edge, down=True))))
        start, end = self._ports(edge, down=False)
        return Route(edge.kind, "up", tuple(self._way(target, source, end, start))[::-1])

    def _foot(self, card_id: str) -> Point:
        box = self._cards[card_id]
        return box.middle, box.bottom

    def _ports(self, edge: Edge, *, down: bool) -> tuple[Point, Point]:
        """An edge that applies to a whole group starts or ends at the border of the group."""
        source, target = self._units.arc(edge)
        # The selected choice meets a dependency on any choice; a choice that is a part stands for all choices.
        leaves_all = edge.kind == "and"
        meets_all = edge.kind == "decomposed" or (edge.source, target) in self._common
        start = self._border(source, below=down) if leaves_all else self._port(edge.source, below=down)
        end = self._border(target, below=not down) if meets_all else self._port(edge.target, below=not down)
        return start, end

    def _border(self, unit: int, *, below: bool) -> Point:
        box = self._boxes[unit]
        return box.middle, box.bottom if below else box.y

    def _port(self, card_id: str, *, below: bool) -> Point:
        """The port is on the card; if another row of its group is in the way, on the border of the group."""
        unit = self._units.number[card_id]
        card, others = self._cards[card_id], [self._cards[other.id] for other in self._units.all[unit].cards]
        blocked = any(other.y > card.y if below else other.y < card.y for other in others)
        edge = self._border(unit, below=below)[1] if blocked else card.bottom if below else card.y
        return card.middle, edge

    def _way(self, upper: int, lower: int, start: Point, end: Point) -> Iterator[Point]:
        lanes = [self._lanes[bend] for bend in self._bends[upper, lower]]
        first = _beside(start[0], lanes[0][0] if lanes else end[0])
        last = _beside(end[0], lanes[-1][0] if lanes else first)
        yield first, start[1]
        yield first, self._lanes[upper][2]
        for x, top, bottom in lanes:
            yield x, top
            yield x, bottom
        yield last, self._lanes[lower][1]
        yield last, end[1]


def _beside(port: float, lane: float) -> float:
    """Moves a port a little where this makes a straight line: a kink of a few pixels looks like a mistake."""
    return lane if abs(port - lane) <= MOST_GIVING_WAY else port


def _common(picture: Picture, units: Units) -> set[tuple[str, int]]:
    """Pairs of a card and a group whose choices all depend on it; ghosts have no dependencies."""
    dependents: dict[tuple[str, int], int] = {}
    for edge in picture.edges:
        if edge.kind == "and":
            key = edge.source, units.number[edge.target]
            dependents[key] = dependents.get(key, 0) + 1
    return {
        (source, unit)
        for (source, unit), count in dependents.items()
        if count == sum(not card.ghost for card in units.all[unit].cards) > 1
    }
