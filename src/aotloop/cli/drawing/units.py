"""Order among what is drawn: the choices of a group are one unit, and cycles are cut, never followed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from aotloop.cli.drawing.picture import Card, Edge, Group, Picture

Arc = tuple[int, int]
"""From one unit to another, by their numbers."""


class Unit(msgspec.Struct, frozen=True):
    cards: tuple[Card, ...]
    group: Group | None = None


class Units:
    """All units of a picture, each where its first card stands."""

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
    """The same arcs, once each; those that close a cycle turned round; none from a unit to itself."""
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
                # Entered and not left means: we came from there, so this arc points back.
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
    """How many arcs the longest way to each unit has; the arcs form no cycle."""
    following: list[list[int]] = [[] for _ in range(count)]
    open_arcs = [0] * count
    for source, target in arcs:
        following[source].append(target)
        open_arcs[target] += 1
    rank = [0] * count
    order = [unit for unit in range(count) if not open_arcs[unit]]
    for unit in order:  # grows while we walk it
        for target in following[unit]:
            rank[target] = max(rank[target], rank[unit] + 1)
            open_arcs[target] -= 1
            if not open_arcs[target]:
                order.append(target)
    return rank


def _sources_first(following: list[list[int]]) -> list[int]:
    """Walks start where nothing leads to, so that as few arcs as possible point back."""
    targets = {target for each in following for target in each}
    return sorted(range(len(following)), key=lambda unit: unit in targets)
