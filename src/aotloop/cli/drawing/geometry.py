"""Points, boxes, and how to make room in a row; nothing here knows what it is that stands there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

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
    """Centres in the order given, as near to the wishes (least squares) as widths and gap allow."""
    reach = [0.0] if widths else []
    for left, right in pairwise(widths):
        reach.append(reach[-1] + (left + right) / 2 + gap)
    # With the room each one needs taken out, what remains is to make a sequence rise: neighbours that would
    # fall are joined, and share their mean.
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
