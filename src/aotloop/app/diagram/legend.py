"""Explains the looks and the kinds of lines that occur in a drawing, with one entry for each."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from aotloop.app.diagram.diagram import Picture
from aotloop.app.diagram.styles import STYLES

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


# As parts of the font size, measured in the widest usual sans-serif fonts (DejaVu, Verdana).
SLIM, LEAN, USUAL, BROAD, FULL = 0.34, 0.46, 0.65, 0.78, 1.05
SLIM_LETTERS = frozenset("ijlI.,:;'!| ")
LEAN_LETTERS = frozenset('frt()[]{}-/\\"`*')
FULL_LETTERS = frozenset("mwMW@%—…")
ELLIPSIS = "…"


def breadth(text: str, size: float) -> float:
    return size * sum(_letter(letter) for letter in text)


def _letter(letter: str) -> float:
    if letter in SLIM_LETTERS:
        return SLIM
    if letter in LEAN_LETTERS:
        return LEAN
    if letter in FULL_LETTERS:
        return FULL
    if letter.isascii():
        return BROAD if letter.isupper() else USUAL
    return (0.0, BROAD, FULL)[min(cell_len(letter), 2)]


def cut(text: str, room: float, size: float) -> str:
    """The text; if it does not fit, its beginning and an ellipsis."""
    if breadth(text, size) <= room:
        return text
    return _beginning(text, room - breadth(ELLIPSIS, size), size).rstrip() + ELLIPSIS


def wrapped(text: str, room: float, size: float, lines: int) -> list[str]:
    """Breaks between words where possible; the last line ends in an ellipsis if the text does not fit."""
    result: list[str] = []
    rest = text
    while rest and len(result) < lines - 1 and breadth(rest, size) > room:
        # At least one letter per line: otherwise a letter wider than the room causes an endless loop.
        line = _beginning(rest, room, size) or rest[0]
        space = line.rfind(" ") if rest[len(line)] != " " else len(line)
        line = line[:space] if space > 0 else line
        result.append(line.rstrip())
        rest = rest[len(line) :].lstrip()
    return [*result, cut(rest, room, size)] if rest else result


def _beginning(text: str, room: float, size: float) -> str:
    for end, letter in enumerate(text):
        room -= size * _letter(letter)
        if room < 0:
            return text[:end]
    return text
