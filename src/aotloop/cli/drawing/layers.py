"""Only this module asks the layout library: it decides layers, the order in them and which way long edges take.

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
    """Units that hang together: layers from top to bottom, each from left to right, and the bends of each arc."""

    layers: list[list[Spot]]
    bends: dict[Arc, list[int]]


def components(count: int, arcs: list[Arc]) -> list[Component]:
    """`arcs` form no cycle. Units without arcs come last, one by one."""
    connected = sorted({unit for arc in arcs for unit in arc})
    # The library gives its bends the numbers after the units it was told of, so those must be without gaps.
    inside = {unit: place for place, unit in enumerate(connected)}
    layouts = from_edges(
        [(inside[source], inside[target]) for source, target in arcs],
        vertex_spacing=SPACING,
        dummy_vertices=True,
        dummy_size=BEND_SIZE,
    )
    found = [
        _component(connected, count, list(positions), list(steps or []))
        for positions, _width, _height, steps in layouts
    ]
    found.sort(key=lambda one: min(spot.number for layer in one.layers for spot in layer))
    alone = sorted(set(range(count)) - set(connected))
    return found + [Component([[Spot(unit, 0.0, is_bend=False)]], {}) for unit in alone]


def _component(
    connected: list[int],
    count: int,
    positions: list[tuple[int, tuple[float, float]]],
    steps: list[Arc],
) -> Component:
    def outside(vertex: int) -> int:
        return connected[vertex] if vertex < len(connected) else count + vertex

    by_height: dict[int, list[Spot]] = {}
    for vertex, (x, y) in positions:
        spot = Spot(outside(vertex), x, is_bend=vertex >= len(connected))
        by_height.setdefault(round(-y), []).append(spot)
    layers = [sorted(by_height[y], key=lambda spot: (spot.x, spot.number)) for y in sorted(by_height)]
    return Component(layers, dict(_bends([(outside(a), outside(b)) for a, b in steps], count)))


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
