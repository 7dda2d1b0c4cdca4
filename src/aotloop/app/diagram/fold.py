"""Folds a picture that is too large to read: groups, parts of a split atom, and then neighbours become one card each.

A fold has a name; the caller says which folds are open. A folded card shows the most urgent look of its members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import msgspec

from aotloop.app.diagram.diagram import Card, Edge, Group, Look, Picture
from aotloop.app.diagram.layers import ranks, without_cycles
from aotloop.app.diagram.styles import STYLES

MOST_CARDS = 120
"""A picture with more cards is folded."""
_URGENT: tuple[Look, ...] = ("in_progress", "failed", "ready", "waiting", "decomposed", "resolved", "unselected")


class Fold(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    label: str
    members: tuple[str, ...]
    """Atoms."""
    cards: tuple[str, ...] = ()
    """What it folds, if that is not the atoms themselves but cards that are folds already."""


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    picture: Picture
    closed: dict[str, Fold]
    """Folded card → what it stands for."""
    opened: tuple[Fold, ...]
    """Folds that are open, so that a person can close them again."""


def fold(picture: Picture, opened: Collection[str] = (), *, everything: bool = False) -> Folded:
    """`everything`: also folds groups and parts of a picture that is small enough to read."""
    is_large = len(picture.cards) > MOST_CARDS
    folds = list(_by_structure(picture)) if is_large or everything else []
    folded = _folded(picture, picture, [fold for fold in folds if fold.name not in opened])
    if len(folded.picture.cards) > MOST_CARDS:
        rows = list(_by_depth(folded))
        smaller = _folded(picture, folded.picture, [fold for fold in rows if fold.name not in opened])
        folded = msgspec.structs.replace(smaller, closed=folded.closed | smaller.closed)
        folds += rows
    return msgspec.structs.replace(folded, opened=tuple(fold for fold in folds if fold.name in opened))


def _by_structure(picture: Picture) -> Iterator[Fold]:
    """Split atoms with all that they were split into, then groups. Each card is in one fold at most."""
    taken: set[str] = set()
    parts: dict[str, list[str]] = {}
    for edge in picture.edges:
        if edge.kind == "decomposed":
            parts.setdefault(edge.source, []).append(edge.target)
    choices = {member: group.members for group in picture.groups for member in group.members}
    below = {part for own in parts.values() for part in own}
    for parent in parts:
        members = [parent] if parent not in below else []
        for member in members:  # grows during the loop
            inner = (*parts.get(member, ()), *choices.get(member, ()))
            members += [atom_id for atom_id in dict.fromkeys(inner) if atom_id not in members]
        if len(members) > 1 and taken.isdisjoint(members):
            taken.update(members)
            yield Fold(name=f"parts:{parent}", label=f"{parent} and its parts", members=tuple(members))
    for group in picture.groups:
        if len(group.members) > 1 and taken.isdisjoint(group.members):
            taken.update(group.members)
            yield Fold(name=f"group:{group.label}", label=group.label, members=group.members)


def _by_depth(folded: Folded) -> Iterator[Fold]:
    """Neighbours by their depth, then by the order of the file; so many that the picture becomes small enough.

    What is needed comes before what needs it, so no cycle arises between such folds.
    """
    cards = folded.picture.cards
    numbers = {card.id: number for number, card in enumerate(cards)}
    arcs = [(numbers[edge.source], numbers[edge.target]) for edge in folded.picture.edges]
    depth = ranks(len(cards), without_cycles(len(cards), arcs))
    ordered = sorted(cards, key=lambda card: depth[numbers[card.id]])
    size = -(-len(ordered) // (MOST_CARDS // 2))
    for first in range(0, len(ordered), size):
        part = ordered[first : first + size]
        name = f"depth:{first // size}"
        ends = f"{part[0].label} … {part[-1].label}"
        members = (member for card in part for member in _members(card.id, folded.closed))
        yield Fold(name=name, label=ends, members=tuple(members), cards=tuple(card.id for card in part))


def _members(card: str, closed: dict[str, Fold]) -> tuple[str, ...]:
    return closed[card].members if card in closed else (card,)


def _folded(atoms: Picture, picture: Picture, folds: list[Fold]) -> Folded:
    """`atoms`: the picture before any fold."""
    looks = {card.id: card.look for card in atoms.cards}
    closed = {fold.name: fold for fold in folds}
    stands_for = {card: fold.name for fold in folds for card in fold.cards or fold.members}
    shown: dict[str, Card] = {}
    for card in picture.cards:
        name = stands_for.get(card.id)
        if name is None:
            shown[card.id] = card
        elif name not in shown:
            shown[name] = _summary(closed[name], looks)
    edges = (
        Edge(stands_for.get(edge.source, edge.source), stands_for.get(edge.target, edge.target), edge.kind)
        for edge in picture.edges
    )
    groups = tuple(group for group in picture.groups if _is_whole(group, stands_for))
    kept = dict.fromkeys(edge for edge in edges if edge.source != edge.target)
    smaller = Picture(title=picture.title, cards=tuple(shown.values()), edges=tuple(kept), groups=groups)
    return Folded(picture=smaller, closed=closed, opened=())


def _is_whole(group: Group, stands_for: dict[str, str]) -> bool:
    return all(member not in stands_for for member in group.members)


def _summary(fold: Fold, looks: dict[str, Look]) -> Card:
    counts = Counter(looks[member] for member in fold.members)
    look = next(look for look in _URGENT if counts[look])
    summary = ", ".join(f"{counts[look]} {STYLES[look].words}" for look in _URGENT if counts[look])
    return Card(id=fold.name, label=fold.label, description=f"{len(fold.members)} atoms: {summary}", look=look)
