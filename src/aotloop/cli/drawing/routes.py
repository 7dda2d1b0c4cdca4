"""Which way an edge takes: straight down past a row, bent between rows, and never over a card that is not its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from aotloop.cli.drawing.blocks import Block, Lane
from aotloop.cli.drawing.geometry import Box, Point
from aotloop.cli.drawing.picture import Edge, EdgeKind
from aotloop.cli.drawing.units import Arc, Units

Course = Literal["down", "up", "beside"]
"""`up` runs against the layers, so it is part of a cycle; `beside` stays within one unit."""


class Route(msgspec.Struct, frozen=True):
    """Points one above the other are joined by a line, others by a curve that is upright at both ends."""

    kind: EdgeKind
    course: Course
    points: tuple[Point, ...]


class Router:
    def __init__(
        self, units: Units, boxes: dict[int, Box], cards: dict[str, Box], blocks: Sequence[Block]
    ) -> None:
        self._units = units
        self._boxes = boxes
        self._cards = cards
        self._lanes: dict[int, Lane] = {}
        self._bends: dict[Arc, list[int]] = {}
        for block in blocks:
            self._lanes |= block.lanes
            self._bends |= block.bends

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
        """A dependency on one choice is met by whichever is selected: it leaves the group as a whole."""
        source = self._boxes[self._units.number[edge.source]]
        whole = edge.kind == "and"
        start = (source.middle, source.bottom if down else source.y) if whole else self._port(edge.source, below=down)
        return start, self._port(edge.target, below=not down)

    def _port(self, card_id: str, *, below: bool) -> Point:
        """On the card, unless another row of its group is in the way: then on the border of the group."""
        card, unit = self._cards[card_id], self._boxes[self._units.number[card_id]]
        others = [self._cards[other.id] for other in self._units.all[self._units.number[card_id]].cards]
        if below:
            free = all(other.y <= card.y for other in others)
            return card.middle, card.bottom if free else unit.bottom
        free = all(other.y >= card.y for other in others)
        return card.middle, card.y if free else unit.y

    def _way(self, upper: int, lower: int, start: Point, end: Point) -> Iterator[Point]:
        yield start
        yield start[0], self._lanes[upper][2]
        for bend in self._bends[upper, lower]:
            x, top, bottom = self._lanes[bend]
            yield x, top
            yield x, bottom
        yield end[0], self._lanes[lower][1]
        yield end
