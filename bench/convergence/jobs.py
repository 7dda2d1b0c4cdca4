"""Jobs: AND/OR graphs of units; which of their ways are dead ends is not known to any policy.

A unit has one way or several, of which one has to be done. A way consists of parts. A job has a solution, unless it is
made to have none: one way of each unit is right. Each of the other ways is impossible with the same chance. Where there
are late dead ends, a possible way that is not the right one may spoil a unit built on it: that cannot be done as long
as this way is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import msgspec
from msgspec.structs import replace

IMPOSSIBLE = 0.3
SPOILS = 0.5
WAYS = 3
MOST_NEEDS = 2

Part = tuple[int, int, int]
"""Unit, way, number of the part."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    needs: tuple[int, ...]
    """Units that have to be done before; their numbers are smaller."""
    possible: tuple[bool, ...]
    """By way, in the order in which a person would try them."""
    parts: int = 1
    spoiled_by: frozenset[tuple[int, int]] = frozenset()
    """Ways (unit, way) with which this unit cannot be done."""

    def parts_of(self, way: int) -> list[Part]:
        return [(self.number, way, part) for part in range(self.parts)]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    units: tuple[Unit, ...]

    def share_of(self, done: Iterable[int]) -> float:
        """Of the units that are done, together with all that they need."""
        held, counted = set(done), set[int]()
        for unit in self.units:
            if unit.number in held and counted.issuperset(unit.needs):
                counted.add(unit.number)
        return len(counted) / len(self.units)

    @property
    def least(self) -> int:
        """Parts that have to be done, for any choice of ways."""
        return sum(unit.parts for unit in self.units)


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    layers: int
    width: int
    """Units in each layer."""
    every: int = 0
    """One unit in so many has several ways; 0: none."""
    large: int = 1
    """Parts of every second unit; the others have one."""
    late: bool = False
    """There are late dead ends."""

    @property
    def title(self) -> str:
        return f"{self.name}, {self.layers * self.width} units"


SHAPES = (
    Shape(name="chain", layers=10, width=1),
    Shape(name="wide", layers=1, width=12, every=3),
    Shape(name="layered", layers=4, width=3, every=3),
    Shape(name="layered", layers=6, width=5, every=3),
    Shape(name="late dead ends", layers=4, width=3, every=3, late=True),
    Shape(name="large units", layers=3, width=3, every=3, large=4),
)
"""From the easiest, where nothing can go wrong but an attempt, to where most can."""


def job_of(shape: Shape, seed: str, impossible: float = IMPOSSIBLE, *, solvable: bool = True) -> Job:
    """The draws do not depend on what is impossible: with a greater chance, more is.

    Not `solvable`: the same job, but one unit cannot be done in any way.
    """
    random = Random(f"{shape.title} {seed}")
    units: list[Unit] = []
    right: list[int] = []
    for number in range(shape.layers * shape.width):
        ways = WAYS if shape.every and number % shape.every == 0 else 1
        right.append(random.randrange(ways))
        drawn = [random.random() for _ in range(ways)]
        needs = _needs(random, shape, number)
        wrong = [(one, way) for one in needs for way in range(len(units[one].possible)) if way != right[one]]
        spoilers = frozenset(one for one in wrong if random.random() < SPOILS)
        units.append(
            Unit(
                number=number,
                needs=needs,
                possible=tuple(way == right[number] or drawn[way] >= impossible for way in range(ways)),
                parts=shape.large if number % 2 == 0 else 1,
                spoiled_by=spoilers if shape.late else frozenset(),
            )
        )
    if not solvable:
        number = Random(f"unsolvable {shape.title} {seed}").randrange(len(units))
        units[number] = replace(units[number], possible=tuple(False for _ in units[number].possible))
    return Job(units=tuple(units))


def _needs(random: Random, shape: Shape, number: int) -> tuple[int, ...]:
    """Some of the layer before."""
    start = number // shape.width * shape.width
    before = range(max(start - shape.width, 0), start)
    return tuple(sorted(random.sample(before, min(random.randint(1, MOST_NEEDS), len(before)))))
