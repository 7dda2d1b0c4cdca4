"""Writes Graphviz DOT: names are generated; a person's text appears only in quoted, escaped labels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from aotloop.app.diagram.diagram import Card, Group, Picture
from aotloop.app.diagram.styles import STYLES

HEAD = """\
digraph loop {
  rankdir=TB; nodesep=0.3; ranksep=0.5; bgcolor="#ffffff"; fontname="Helvetica"; fontsize=11;
  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, margin="0.15,0.08"];
  edge [color="#818b98", arrowsize=0.7];"""
LINE = 30
LINES = 4


def dot_of(picture: Picture) -> str:
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    names = {card.id: f"n{number}" for number, card in enumerate(picture.cards)}
    cards = {card.id: card for card in picture.cards}
    grouped = {member for group in picture.groups for member in group.members}
    yield HEAD
    for number, group in enumerate(picture.groups):
        yield f"  subgraph cluster_{number} {{"
        yield f'    label="{_group_label(group)}"; labelloc=b; labeljust=l; style="rounded,filled";'
        yield '    color="#bf8700"; fillcolor="#fffaeb";'
        for member in group.members:
            yield f"    {_card(names[member], cards[member], selected=member == group.selected)}"
        yield "  }"
    for card in picture.cards:
        if card.id not in grouped:
            yield f"  {_card(names[card.id], card)}"
    for edge in picture.edges:
        dashed = " [style=dashed]" if edge.kind == "decomposed" else ""
        yield f"  {names[edge.source]} -> {names[edge.target]}{dashed};"
    yield "}"


def _card(name: str, card: Card, *, selected: bool = False) -> str:
    style = STYLES[card.look]
    described = textwrap.wrap(card.description, LINE, max_lines=LINES, placeholder=" …")
    chosen = " — selected" if selected else ""
    label = r"\n".join(_escaped(line) for line in [f"{style.symbol} {card.label}{chosen}", *described])
    dashed = ', style="rounded,filled,dashed"' if card.ghost or card.look == "unselected" else ""
    colours = f'color="{style.light.ink}", fillcolor="{style.light.paper}"'
    return f'{name} [label="{label}", {colours}{dashed}];'


def _group_label(group: Group) -> str:
    return f"{_escaped(group.label)} — {'all tried at once' if group.speculative else 'one of'}"


def _escaped(text: str) -> str:
    """Graphviz interprets backslash escapes and HTML entities even in plain labels."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
