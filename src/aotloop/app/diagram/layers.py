"""Only this module calls the layout library: it decides the layers, their order, and the way of long edges.

The library knows no sizes, so its positions are wishes; aotloop.app.diagram.placement makes room for wide units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from aotloop.app.diagram.diagram import Card, Edge, Group, Picture

SPACING = 240.0
"""The distance that the library puts between the centres of neighbours."""
BEND_SIZE = 0.2
"""The room for an edge that passes a layer, as a part of SPACING."""

MOST_FOR_LIBRARY = 400
"""Connected units. The library needs minutes for some thousands of them."""
WIDEST, WIDEST_FOLDED = 36, 8
"""Units of a layer that stand side by side in a large picture; further ones start another row."""


class Spot(msgspec.Struct, frozen=True):
    """A unit, or a bend: the point where a long edge passes a layer. Bend numbers differ from all unit numbers."""

    number: int
    x: float
    is_bend: bool


class Component(msgspec.Struct, frozen=True):
    """Connected units: layers from top to bottom, each from left to right, and the bends of each arc."""

    layers: list[list[Spot]]
    bends: dict[Arc, list[int]]


def components(count: int, arcs: list[Arc], *, is_folded: bool = False) -> list[Component]:
    """`arcs` form no cycle. Connected units come first, then single units without arcs."""
    found = [
        _stacked(units, arcs, WIDEST_FOLDED if is_folded else WIDEST)
        if (is_folded or len(units) > MOST_FOR_LIBRARY) and len(units) > 1
        else _laid_out(units, count, arcs)
        for units in _connected(count, arcs)
    ]
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
            for unit in units:  # grows during the loop
                for neighbour in neighbours[unit]:
                    if not seen[neighbour]:
                        seen[neighbour] = True
                        units.append(neighbour)
            yield sorted(units)


def _laid_out(units: list[int], count: int, arcs: list[Arc]) -> Component:
    if len(units) == 1:
        return Component([[Spot(units[0], 0.0, is_bend=False)]], {})
    from fast_sugiyama import from_edges  # noqa: PLC0415 - only pictures need the library; text uses this module too

    # The library numbers the bends of a component from its size on, even if units have the same numbers.
    # So it gets one component at a time, with units numbered without gaps.
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


def _stacked(units: list[int], arcs: list[Arc], widest: int) -> Component:
    """Layers that wrap, each unit near the units that it follows. Edges are straight, and cards cover them."""
    inside = {unit: place for place, unit in enumerate(units)}
    own = [(inside[source], inside[target]) for source, target in arcs if source in inside]
    before: list[list[int]] = [[] for _ in units]
    for source, target in own:
        before[target].append(source)
    rank = ranks(len(units), own)
    by_rank: dict[int, list[int]] = {}
    for place, layer in enumerate(rank):
        by_rank.setdefault(layer, []).append(place)
    x = [0.0] * len(units)
    rows: list[list[Spot]] = []
    for layer in sorted(by_rank):
        wished = {node: sum(x[near] for near in before[node]) / max(len(before[node]), 1) for node in by_rank[layer]}
        ordered = sorted(by_rank[layer], key=lambda node: (wished[node], node))
        for start in range(0, len(ordered), widest):
            row = ordered[start : start + widest]
            for place, node in enumerate(row):
                x[node] = (place - len(row) / 2) * SPACING
            rows.append([Spot(units[node], x[node], is_bend=False) for node in row])
    return Component(rows, {(units[source], units[target]): [] for source, target in own})


def _bends(steps: list[Arc], count: int) -> Iterator[tuple[Arc, list[int]]]:
    """Follows each edge from its unit through its bends; a bend has one way in and one way out."""
    onward = {source: target for source, target in steps if source >= count}
    for source, first in steps:
        if source < count:
            way, here = [], first
            while here >= count:
                way.append(here)
                here = onward[here]
            yield (source, here), way


Arc = tuple[int, int]
"""Numbers of two units: from, to."""


class Unit(msgspec.Struct, frozen=True):
    cards: tuple[Card, ...]
    group: Group | None = None


class Units:
    """All units of a picture, each at the position of its first card."""

    def __init__(self, picture: Picture) -> None:
        card_of = {card.id: card for card in picture.cards}
        group_of = {member: group for group in picture.groups for member in group.members}
        self.all: list[Unit] = []
        self.number: dict[str, int] = {}
        for card in picture.cards:
            if card.id in self.number:
                continue
            group = group_of.get(card.id)
            cards = tuple(card_of[member] for member in group.members) if group else (card,)
            self.number.update((member.id, len(self.all)) for member in cards)
            self.all.append(Unit(cards, group))

    def arc(self, edge: Edge) -> Arc:
        return self.number[edge.source], self.number[edge.target]


def without_cycles(count: int, arcs: Iterable[Arc]) -> list[Arc]:
    """The same arcs without duplicates and self-loops; arcs that close a cycle are reversed."""
    following: list[list[int]] = [[] for _ in range(count)]
    for source, target in dict.fromkeys(arcs):
        if source != target:
            following[source].append(target)
    kept: dict[Arc, None] = {}
    entered, left = [False] * count, [False] * count
    for start in _sources_first(following):
        path = [] if entered[start] else [(start, iter(following[start]))]
        entered[start] = True
        while path:
            here, targets = path[-1]
            for target in targets:
                # A unit that was entered but not left is on our path, so this arc points back.
                back = entered[target] and not left[target]
                kept[(target, here) if back else (here, target)] = None
                if not entered[target]:
                    entered[target] = True
                    path.append((target, iter(following[target])))
                    break
            else:
                left[here] = True
                path.pop()
    return list(kept)


def ranks(count: int, arcs: Iterable[Arc]) -> list[int]:
    """The number of arcs on the longest way to each unit; the arcs must form no cycle."""
    following: list[list[int]] = [[] for _ in range(count)]
    open_arcs = [0] * count
    for source, target in arcs:
        following[source].append(target)
        open_arcs[target] += 1
    rank = [0] * count
    order = [unit for unit in range(count) if not open_arcs[unit]]
    for unit in order:  # grows during the loop
        for target in following[unit]:
            rank[target] = max(rank[target], rank[unit] + 1)
            open_arcs[target] -= 1
            if not open_arcs[target]:
                order.append(target)
    return rank


def _sources_first(following: list[list[int]]) -> list[int]:
    """Units without incoming arcs come first, so that few arcs point back."""
    targets = {target for each in following for target in each}
    return sorted(range(len(following)), key=lambda unit: unit in targets)
