"""Only this module asks the layout library: it decides layers, the order in them, and the way of long edges.

The library knows no sizes, so its places are wishes; aotloop.cli.drawing.placing makes room for broad units.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from fast_sugiyama import from_edges

from aotloop.cli.drawing.units import Arc

SPACING = 240.0
"""How far apart the library puts the centres of neighbours."""
BEND_SIZE = 0.2
"""How much room an edge gets that passes a layer, in parts of that."""


class Spot(msgspec.Struct, frozen=True):
    """A unit, or a bend: where a long edge passes a layer. Bends have numbers that no unit has."""

    number: int
    x: float
    is_bend: bool


class Component(msgspec.Struct, frozen=True):
    """Units that hang together: layers downwards, each from left to right, and the bends of each arc."""

    layers: list[list[Spot]]
    bends: dict[Arc, list[int]]


def components(count: int, arcs: list[Arc]) -> list[Component]:
    """`arcs` form no cycle. What hangs together comes first, then the units without arcs, one by one."""
    found = [_laid_out(units, count, arcs) for units in _connected(count, arcs)]
    return sorted(found, key=lambda component: not component.bends)


def _connected(count: int, arcs: list[Arc]) -> Iterator[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for source, target in arcs:
        neighbours[source].append(target)
        neighbours[target].append(source)
    seen = [False] * count
    for start in range(count):
        if not seen[start]:
            seen[start] = True
            units = [start]
            for unit in units:  # grows while we walk it
                for neighbour in neighbours[unit]:
                    if not seen[neighbour]:
                        seen[neighbour] = True
                        units.append(neighbour)
            yield sorted(units)


def _laid_out(units: list[int], count: int, arcs: list[Arc]) -> Component:
    if len(units) == 1:
        return Component([[Spot(units[0], 0.0, is_bend=False)]], {})
    # The library numbers the bends of a component from its size on, even if units of it have such numbers.
    # So it gets one component at a time, the units numbered without gaps.
    inside = {unit: place for place, unit in enumerate(units)}
    (positions, _width, _height, steps), *_ = from_edges(
        [(inside[source], inside[target]) for source, target in arcs if source in inside],
        vertex_spacing=SPACING,
        dummy_vertices=True,
        dummy_size=BEND_SIZE,
    )

    def outside(vertex: int | str) -> int:
        return units[int(vertex)] if int(vertex) < len(units) else count + int(vertex)

    by_height: dict[int, list[Spot]] = {}
    for vertex, (x, y) in positions:
        number = outside(vertex)
        by_height.setdefault(round(-y), []).append(Spot(number, x, is_bend=number >= count))
    layers = [sorted(by_height[y], key=lambda spot: (spot.x, spot.number)) for y in sorted(by_height)]
    return Component(layers, dict(_bends([(outside(a), outside(b)) for a, b in steps or ()], count)))


def _bends(steps: list[Arc], count: int) -> Iterator[tuple[Arc, list[int]]]:
    """Follows each edge from its unit over its bends; a bend has one way in and one way out."""
    onward = {source: target for source, target in steps if source >= count}
    for source, first in steps:
        if source < count:
            way, here = [], first
            while here >= count:
                way.append(here)
                here = onward[here]
            yield (source, here), way
