"""Writes a picture as one self-contained SVG: no script, no font, no other file.

A person's text gets into it only through `_written`; pictures hold no characters that XML forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from aotloop.app.diagram.blocks import Box, Point
from aotloop.app.diagram.diagram import Card, Group, Picture
from aotloop.app.diagram.edge_routes import Route
from aotloop.app.diagram.legend import Legend, cut, wrapped
from aotloop.app.diagram.placement import CARD_WIDTH, GROUP_PADDING, Placement, place
from aotloop.app.diagram.styles import STYLES, stylesheet

MARGIN = 28.0
NARROWEST = 400.0
TITLE_SIZE, LABEL_SIZE, TEXT_SIZE = 16.0, 13.0, 11.5
TITLE_LINE, TEXT_LINE = 22.0, 15.5
MOST_LINES = 3
CARD_PADDING = 11.0
CARD_HEAD = 34.0
MARK_ROOM = 20.0
SELECTED_ROOM = 54.0
DIP = 18.0
"""The depth of the curve of an edge between members of the same group."""


def svg_of(picture: Picture) -> str:
    room = CARD_WIDTH - 2 * CARD_PADDING
    lines = {card.id: wrapped(card.description, room, TEXT_SIZE, MOST_LINES) for card in picture.cards}
    card_height = CARD_HEAD + TEXT_LINE * max(map(len, lines.values()), default=0) + 4
    placement = place(picture, card_height)
    inner = max(placement.width, NARROWEST)
    title = wrapped(picture.title, inner, TITLE_SIZE, 2)
    top = MARGIN + TITLE_LINE * len(title) + (12 if title else 0)
    legend = Legend(picture, inner)
    foot = top + placement.height + (28 if picture.cards else 0)
    width, height = inner + 2 * MARGIN, foot + legend.height + MARGIN
    return "\n".join(
        [
            *_opening(picture, width, height),
            *(_text("title", MARGIN, MARGIN + 14 + TITLE_LINE * row, line) for row, line in enumerate(title)),
            f'<g transform="translate({_n(MARGIN + (inner - placement.width) / 2)} {_n(top)})">',
            *_graph(picture, placement, lines),
            "</g>",
            f'<g transform="translate({_n(MARGIN)} {_n(foot)})">',
            *legend.elements(),
            "</g>",
            "</svg>",
            "",
        ]
    )


def _opening(picture: Picture, width: float, height: float) -> Iterator[str]:
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="aot-graph" role="img" {size}>'
    yield f"<title>{_written(picture.title)}</title>"
    yield f"<desc>{_written(_summary(picture))}</desc>"
    yield f"<style>\n{stylesheet()}\n</style>"
    yield "<defs>"
    for name in ("head", "cycle-head"):
        yield (
            f'<marker id="aot-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
            ' markerUnits="userSpaceOnUse" orient="auto">'
            f'<path class="{name}" d="M0 .6 7.4 4 0 7.4Z"/></marker>'
        )
    yield "</defs>"
    yield f'<rect class="background" width="{_n(width)}" height="{_n(height)}"/>'


def _summary(picture: Picture) -> str:
    counts = {look: sum(card.count for card in picture.cards if card.look == look) for look in STYLES}
    states = [f"{count} {STYLES[look].words}" for look, count in counts.items() if count]
    return f"Work graph of {sum(counts.values())} atoms: {', '.join(states)}" if states else "Work graph, no atoms yet"


def _graph(picture: Picture, placement: Placement, lines: dict[str, list[str]]) -> Iterator[str]:
    """Draws groups first, then edges, then cards, so that cards are never covered."""
    for _group, box in placement.groups:
        yield _rect("group", box, 14)
    for route in placement.routes:
        yield _edge(route)
    for group, box in placement.groups:
        yield _caption(group, box)
    selected = {group.selected for group in picture.groups if group.selected in group.members}
    for card in picture.cards:
        yield from _card(card, placement.cards[card.id], lines[card.id], selected=card.id in selected)


def _caption(group: Group, box: Box) -> str:
    return _text("caption", box.x + GROUP_PADDING, box.bottom - 10, caption_of(group, box))


def caption_of(group: Group, box: Box) -> str:
    manner = "all tried at once" if group.speculative else f"one of {len(group.members)}"
    return cut(f"{group.label} — {manner}", box.width - 2 * GROUP_PADDING, TEXT_SIZE)


def _card(card: Card, box: Box, lines: list[str], *, selected: bool) -> Iterator[str]:
    style = STYLES[card.look]
    classes = f"card {card.look}{' ghost' if card.ghost else ''}{' selected' if selected else ''}"
    yield f'<g class="{classes}">'
    yield f"<title>{_written(f'{card.label} ({style.words}) {card.description}')}</title>"
    yield _rect("face", box, 9)
    yield (
        f'<path class="mark" transform="translate({_n(box.x + CARD_PADDING - 1)} {_n(box.y + 9)})" d="{style.mark}"/>'
    )
    room = CARD_WIDTH - 2 * CARD_PADDING - MARK_ROOM - (SELECTED_ROOM if selected else 0)
    yield _text("label", box.x + CARD_PADDING + MARK_ROOM, box.y + 21, cut(card.label, room, LABEL_SIZE))
    if selected:
        yield _text("selected-word", box.right - CARD_PADDING, box.y + 20, "selected", anchor="end")
    for row, line in enumerate(lines):
        yield _text("text", box.x + CARD_PADDING, box.y + CARD_HEAD + 6 + TEXT_LINE * row, line)
    yield "</g>"


def _edge(route: Route) -> str:
    classes = "edge" + (" decomposed-edge" if route.kind == "decomposed" else "")
    head = "head"
    if route.course != "down":
        classes, head = f"{classes} cycle-edge", "cycle-head"
    return f'<path class="{classes}" marker-end="url(#aot-{head})" d="{path_of(route)}"/>'


def path_of(route: Route) -> str:
    return _loop(*route.points) if route.course == "beside" else _path(route.points)


def _path(points: tuple[Point, ...]) -> str:
    path = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for (x, y), (to_x, to_y) in pairwise(points):
        if (x, y) == (to_x, to_y):
            continue
        half = (y + to_y) / 2
        path += f"V{_n(to_y)}" if x == to_x else f"C{_n(x)} {_n(half)} {_n(to_x)} {_n(half)} {_n(to_x)} {_n(to_y)}"
    return path


def _loop(start: Point, end: Point) -> str:
    (x, y), (to_x, to_y) = (start, end) if start != end else ((start[0] - 12, start[1]), (end[0] + 12, end[1]))
    return f"M{_n(x)} {_n(y)}C{_n(x)} {_n(y + DIP)} {_n(to_x)} {_n(to_y + DIP)} {_n(to_x)} {_n(to_y)}"


def _rect(name: str, box: Box, radius: float) -> str:
    place = f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect class="{name}" {place} rx="{_n(radius)}"/>'


def _text(name: str, x: float, y: float, text: str, *, anchor: str = "start") -> str:
    place = f'x="{_n(x)}" y="{_n(y)}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text class="{name}" {place}>{_written(text)}</text>'


def _written(text: str) -> str:
    # xml.sax.saxutils does the same, and loads an HTTP client for it.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
