"""Writes Mermaid: names are generated; a person's text appears only in quoted, escaped labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aotloop.app.diagram.diagram import Card, Group, Picture
from aotloop.app.diagram.styles import STYLES
from aotloop.text.shorten import shorten

ARROWS = {"and": "-->", "decomposed": "-.->"}
LONGEST = 120
SPECIAL = re.compile(r"(?<=[^\W_])(?P<joint>[-._])(?=[^\W_])|[^\w ,]|_")


def mermaid_of(picture: Picture) -> str:
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    names = {card.id: f"n{number}" for number, card in enumerate(picture.cards)}
    cards = {card.id: card for card in picture.cards}
    grouped = {member for group in picture.groups for member in group.members}
    yield "flowchart TD"
    for number, group in enumerate(picture.groups):
        yield f'  subgraph g{number}["{_group_label(group)}"]'
        for member in group.members:
            yield f"    {_card(names[member], cards[member], selected=member == group.selected)}"
        yield "  end"
    for card in picture.cards:
        if card.id not in grouped:
            yield f"  {_card(names[card.id], card)}"
    for edge in picture.edges:
        yield f"  {names[edge.source]} {ARROWS[edge.kind]} {names[edge.target]}"
    yield from _classes(picture, names)


def _card(name: str, card: Card, *, selected: bool = False) -> str:
    head = f"{STYLES[card.look].symbol} {_escaped(card.label)}{' — selected' if selected else ''}"
    below = f"<br/>{_escaped(shorten(card.description, LONGEST))}" if card.description else ""
    return f'{name}["{head}{below}"]'


def _group_label(group: Group) -> str:
    return f"{_escaped(group.label)} — {'all tried at once' if group.speculative else 'one of'}"


def _classes(picture: Picture, names: dict[str, str]) -> Iterator[str]:
    for look, style in STYLES.items():
        members = [names[card.id] for card in picture.cards if card.look == look]
        if members:
            dashes = ",stroke-dasharray:4 3" if look == "unselected" else ""
            colours = f"fill:{style.light.paper},stroke:{style.light.ink},color:#1f2328"
            # "c_" prevents a conflict with Mermaid's keywords.
            yield f"  classDef c_{look} {colours}{dashes}"
            yield f"  class {','.join(members)} c_{look}"
    ghosts = [names[card.id] for card in picture.cards if card.ghost]
    if ghosts:
        yield "  classDef c_ghost stroke-dasharray:2 4"
        yield f"  class {','.join(ghosts)} c_ghost"


def _escaped(text: str) -> str:
    """Keeps letters and the signs between them; all others become entity codes, because Mermaid interprets many signs.

    Mermaid also interprets the start of a line ("1. ", "- ") and signs around a word ("_").
    """
    return SPECIAL.sub(lambda found: found["joint"] or f"#{ord(found[0])};", text)
