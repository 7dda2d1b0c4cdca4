"""Explains what is in a drawing, and only that: one entry per look that occurs, one per kind of line."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.cli.drawing.lettering import breadth
from aotloop.cli.drawing.looks import STYLES
from aotloop.cli.drawing.picture import Picture

SIZE = 11.5
ROW = 22.0
MARK_ROOM = 20.0
LINE_ROOM = 38.0
BETWEEN = 12.0
LINES = {"and": ("edge", "is needed by"), "decomposed": ("edge decomposed-edge", "was split into")}


class Legend:
    def __init__(self, picture: Picture, width: float) -> None:
        looks = {card.look for card in picture.cards}
        kinds = {edge.kind for edge in picture.edges}
        entries = [(_mark(look, style.mark), MARK_ROOM, style.words) for look, style in STYLES.items() if look in looks]
        entries += [(_line(name), LINE_ROOM, words) for kind, (name, words) in LINES.items() if kind in kinds]
        self._placed: list[tuple[float, float, str, float, str]] = []
        x, y = 0.0, 0.0
        for sign, room, words in entries:
            breadth_of_entry = room + breadth(words, SIZE)
            if x > 0 and x + breadth_of_entry > width:
                x, y = 0.0, y + ROW
            self._placed.append((x, y, sign, room, words))
            x += breadth_of_entry + BETWEEN
        self.height = y + ROW if entries else 0.0

    def elements(self) -> Iterator[str]:
        for x, y, sign, room, words in self._placed:
            text = f'<text class="legend" x="{room}" y="12">{words}</text>'
            yield f'<g transform="translate({x:.1f} {y:.1f})">{sign}{text}</g>'


def _mark(look: str, mark: str) -> str:
    return f'<g class="{look}"><path class="mark" transform="translate(1 1)" d="{mark}"/></g>'


def _line(name: str) -> str:
    return f'<path class="{name}" marker-end="url(#aot-head)" d="M0 8H30"/>'
