"""Sizes one component of the graph: rows from top to bottom, units side by side in each row.

Edges bend in the gaps between rows. Inside a row they run straight down, each in its own lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from aotloop.app.diagram.layers import Component

SIDE_GAP = 26.0
LANE_WIDTH = 6.0
ROW_GAP = 50.0
STEEPEST = 0.07
"""A row gap grows by this part of the longest sideways way of an edge; otherwise edges would be nearly flat."""
MOST_GROWTH = 70.0

Size = tuple[float, float]
Lane = tuple[float, float, float]
"""The position of a unit or a bend: its middle, and the top and bottom of its row."""


class Block:
    def __init__(self, component: Component, sizes: Sequence[Size]) -> None:
        self.bends = component.bends
        self.lanes: dict[int, Lane] = {}
        self.boxes: dict[int, Box] = {}
        middles = _middles(component, sizes)
        top = 0.0
        for layer, gap in zip(component.layers, [*_gaps(component, middles), 0.0], strict=True):
            units = [spot.number for spot in layer if not spot.is_bend]
            height = max((sizes[unit][1] for unit in units), default=0.0)
            self.lanes |= {spot.number: (middles[spot.number], top, top + height) for spot in layer}
            for unit in units:
                wide, high = sizes[unit]
                self.boxes[unit] = Box(middles[unit] - wide / 2, top + (height - high) / 2, wide, high)
            top += height + gap
        left = min([box.x for box in self.boxes.values()] + [x - LANE_WIDTH for x, _, _ in self.lanes.values()])
        right = max([box.right for box in self.boxes.values()] + [x + LANE_WIDTH for x, _, _ in self.lanes.values()])
        self.width = right - left
        self.height = top
        self.move(-left, 0.0)

    def move(self, right: float, down: float) -> None:
        self.boxes = {unit: box.moved(right, down) for unit, box in self.boxes.items()}
        self.lanes = {number: (x + right, top + down, bottom + down) for number, (x, top, bottom) in self.lanes.items()}


def _middles(component: Component, sizes: Sequence[Size]) -> dict[int, float]:
    wishes = {spot.number: spot.x for layer in component.layers for spot in layer}
    middles = _spread(component, sizes, wishes)
    # The spacing moved some ends of straight lines: their lanes follow, if the distance is small.
    for (source, target), way in component.bends.items():
        for bend in way:
            end = min((source, target), key=lambda unit: abs(middles[unit] - wishes[bend]))
            if abs(middles[end] - wishes[bend]) < SIDE_GAP:
                wishes[bend] = middles[end]
    return _spread(component, sizes, wishes)


def _spread(component: Component, sizes: Sequence[Size], wishes: dict[int, float]) -> dict[int, float]:
    middles: dict[int, float] = {}
    for layer in component.layers:
        widths = [LANE_WIDTH if spot.is_bend else sizes[spot.number][0] for spot in layer]
        places = spread([wishes[spot.number] for spot in layer], widths, SIDE_GAP)
        middles |= {spot.number: place for spot, place in zip(layer, places, strict=True)}
    return middles


def _gaps(component: Component, middles: dict[int, float]) -> Iterator[float]:
    layer_of = {spot.number: row for row, layer in enumerate(component.layers) for spot in layer}
    furthest = [0.0] * (len(component.layers) - 1)
    for (source, target), way in component.bends.items():
        for here, there in pairwise([source, *way, target]):
            row = layer_of[here]
            furthest[row] = max(furthest[row], abs(middles[here] - middles[there]))
    for sideways in furthest:
        yield ROW_GAP + min(STEEPEST * sideways, MOST_GROWTH)


Point = tuple[float, float]


class Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    def moved(self, right: float, down: float) -> Box:
        return Box(self.x + right, self.y + down, self.width, self.height)


def spread(wishes: Sequence[float], widths: Sequence[float], gap: float) -> list[float]:
    """Centres in the given order, as close to the wishes (least squares) as widths and gap allow."""
    reach = [0.0] if widths else []
    for left, right in pairwise(widths):
        reach.append(reach[-1] + (left + right) / 2 + gap)
    # Without the room that each item needs, the sequence only has to rise: neighbours that would fall
    # are joined and share their mean.
    runs: list[tuple[float, int]] = []
    for wish, taken in zip(wishes, reach, strict=True):
        mean, count = wish - taken, 1
        while runs and runs[-1][0] > mean:
            before, members = runs.pop()
            mean = (before * members + mean * count) / (members + count)
            count += members
        runs.append((mean, count))
    places = [mean for mean, count in runs for _ in range(count)]
    return [place + taken for place, taken in zip(places, reach, strict=True)]
