"""Folds a large picture until a person can read it: atoms under way stay, resolved or distant ones become one card.

Cards are folded layer by layer, so a folded card never stands both before and behind another one.
"""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from aotloop.app.diagram.diagram import Card, Edge, Look, Picture
from aotloop.app.diagram.layers import Arc, Units, ranks, without_cycles
from aotloop.text.phrases import listed

EASY_CARDS, MOST_CARDS = 300, 3_000
"""A person can read a picture of 300 cards. A picture of more than 3,000 cards is useless."""
MOST_KEPT = 48
MOST_NAMED = 6
_FRONT: tuple[Look, ...] = ("in_progress", "failed", "ready", "waiting", "decomposed", "unselected", "resolved")
"""What a person looks for, first things first."""


def folded(picture: Picture) -> Picture:
    units = Units(picture)
    arcs = without_cycles(len(units.all), map(units.arc, picture.edges))
    kept = _kept(units, arcs)
    band_of = _bands(ranks(len(units.all), arcs), kept)
    stands_for: dict[str, str] = {}
    heaps: dict[tuple[int, Look], list[Card]] = {}
    for number, unit in enumerate(units.all):
        for card in unit.cards:
            heap = (band_of[number], card.look)
            stands_for[card.id] = card.id if number in kept else f"\0{heap}"  # no atom has such an id
            if number not in kept:
                heaps.setdefault(heap, []).append(card)
    shown = [card for card in picture.cards if units.number[card.id] in kept]
    more = [_heap(f"\0{heap}", cards) for heap, cards in sorted(heaps.items())]
    ends = ((stands_for[edge.source], stands_for[edge.target], edge.kind) for edge in picture.edges)
    edges = tuple(dict.fromkeys(Edge(source, target, kind) for source, target, kind in ends if source != target))
    groups = tuple(group for group in picture.groups if units.number[group.members[0]] in kept)
    return reduced(replace(picture, cards=(*shown, *more), edges=edges, groups=groups))


def _kept(units: Units, arcs: list[Arc]) -> set[int]:
    """The units at the front of the work, and their neighbours, nearest first, as long as there is room."""
    looks = [min((_FRONT.index(card.look) for card in unit.cards), default=0) for unit in units.all]
    near: list[list[int]] = [[] for _ in units.all]
    for source, target in arcs:
        near[source].append(target)
        near[target].append(source)
    front = min(looks, default=0)
    first = [number for number, look in enumerate(looks) if look <= max(front, _FRONT.index("failed"))]
    kept: set[int] = set()
    room = MOST_KEPT
    waiting = deque(sorted(first, key=lambda number: (looks[number], number)))
    reached = set(waiting)
    while waiting and room > 0:
        number = waiting.popleft()
        kept.add(number)
        room -= len(units.all[number].cards)
        fresh = sorted(
            (neighbour for neighbour in near[number] if neighbour not in reached),
            key=lambda neighbour: (looks[neighbour], neighbour),
        )
        reached.update(fresh)
        waiting.extend(fresh)
    return kept


def _bands(rank: list[int], kept: set[int]) -> list[int]:
    """Layers with kept units are bands of their own; the layers between two of them are one band."""
    own = {rank[number] for number in kept}
    band, bands = 0, []
    for layer in range(max(rank, default=0) + 1):
        if layer in own or layer - 1 in own:
            band += 1
        bands.append(band)
    return [bands[layer] for layer in rank]


def _heap(card_id: str, cards: list[Card]) -> Card:
    names = listed([card.label for card in cards], MOST_NAMED)
    noun = "atom" if len(cards) == 1 else "atoms"
    return Card(
        id=card_id,
        label=f"{len(cards):,} {noun}",
        description=names,
        look=cards[0].look,
        count=len(cards),
    )


def reduced(picture: Picture) -> Picture:
    """The picture without dependencies that follow from others."""
    units = Units(picture)
    count = len(units.all)
    arcs = without_cycles(count, map(units.arc, picture.edges))
    following: list[list[int]] = [[] for _ in range(count)]
    for source, target in arcs:
        following[source].append(target)
    rank = ranks(count, arcs)
    reach = [0] * count  # bit sets
    implied: set[Arc] = set()
    for number in sorted(range(count), key=lambda card: -rank[card]):
        below = 0
        for target in sorted(following[number], key=lambda card: rank[card]):  # a nearer one may lead to a farther one
            if below >> target & 1:
                implied.add((number, target))
            else:
                below |= reach[target] | 1 << target
        reach[number] = below
    edges = (edge for edge in picture.edges if edge.kind != "and" or units.arc(edge) not in implied)
    return replace(picture, edges=tuple(edges))
