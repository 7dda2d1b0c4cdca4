"""Puts a picture in rows: dependencies first, and parts below the atom that was split.

aotloop.app.diagram.terminal_text decides how a row becomes a line, its width and its colour.
"""

from __future__ import annotations

import msgspec

from aotloop.app.diagram.diagram import Card, Group, Picture
from aotloop.app.diagram.layers import Unit, Units, ranks, without_cycles


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A card or the heading of a group. `layer` is set on the first row of each layer only."""

    layer: int | None
    branch: str
    shown: Card | Group
    selected: bool = False


class Glyphs(msgspec.Struct, frozen=True):
    between: str
    last: str
    past: str
    opening: str
    closing: str


LINES = Glyphs("├╴", "└╴", "│ ", "┌ ", "└ ")
ASCII_LINES = Glyphs("|-", "`-", "| ", ",-", "`-")
BLANK = "  "


def outline(picture: Picture, glyphs: Glyphs) -> list[Row]:
    units = Units(picture)
    parts = _Parts(picture, units)
    layer_of = _layers(picture, units, parts)
    rows: list[Row] = []
    shown_layer = -1
    for layer, number in sorted((layer_of[number], number) for number in parts.roots):
        fresh = _rows(units.all[number], parts, glyphs)
        if layer != shown_layer:
            shown_layer = layer
            fresh[0] = msgspec.structs.replace(fresh[0], layer=layer + 1)
        rows += fresh
    return rows


class _Parts:
    """The units below each card. A unit with several parents is below the first of them."""

    def __init__(self, picture: Picture, units: Units) -> None:
        arcs = without_cycles(len(units.all), map(units.arc, picture.edges))
        rank = ranks(len(units.all), arcs)
        self._parent: dict[int, int] = {}
        under: dict[str, list[int]] = {}
        for edge in picture.edges:
            parent, child = units.arc(edge)
            if edge.kind == "decomposed" and child not in self._parent and self.root(parent) != child:
                self._parent[child] = parent
                under.setdefault(edge.source, []).append(child)
        self.under: dict[str, list[Unit]] = {
            card_id: [units.all[child] for child in sorted(children, key=lambda unit: (rank[unit], unit))]
            for card_id, children in under.items()
        }
        self.roots = [number for number in range(len(units.all)) if number not in self._parent]

    def root(self, number: int) -> int:
        while number in self._parent:
            number = self._parent[number]
        return number


def _layers(picture: Picture, units: Units, parts: _Parts) -> list[int]:
    """A unit counts for its root, so that a split atom and its parts are in the same layer."""
    roots = [parts.root(number) for number in range(len(units.all))]
    arcs = [(roots[source], roots[target]) for source, target in map(units.arc, picture.edges)]
    return ranks(len(units.all), without_cycles(len(units.all), arcs))


def _rows(unit: Unit, parts: _Parts, glyphs: Glyphs) -> list[Row]:
    """Depth first with our own stack: a hostile file may nest deeper than Python's call stack."""
    rows: list[Row] = []
    stack: list[tuple[Unit | Card, bool, str, str]] = [(unit, False, "", "")]
    while stack:
        thing, selected, branch, below = stack.pop()
        if isinstance(thing, Unit) and thing.group is not None:
            rows.append(Row(layer=None, branch=branch + glyphs.opening, shown=thing.group))
            stack += reversed(
                [
                    (
                        card,
                        card.id == thing.group.selected,
                        below + (glyphs.closing if card is thing.cards[-1] else glyphs.past),
                        # A choice leaves room for the pointer before it; its parts come after that.
                        below + (BLANK if card is thing.cards[-1] else glyphs.past) + BLANK,
                    )
                    for card in thing.cards
                ]
            )
            continue
        card = thing.cards[0] if isinstance(thing, Unit) else thing
        rows.append(Row(layer=None, branch=branch, shown=card, selected=selected))
        children = parts.under.get(card.id, [])
        stack += reversed(
            [
                (
                    child,
                    False,
                    below + (glyphs.last if child is children[-1] else glyphs.between),
                    below + (BLANK if child is children[-1] else glyphs.past),
                )
                for child in children
            ]
        )
    return rows
