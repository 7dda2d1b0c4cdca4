"""How much room text takes in a drawing, guessed on the wide side: the font is not known here."""

from __future__ import annotations

from rich.cells import cell_len

# In parts of the font size, as in the widest of the usual sans-serif fonts (DejaVu, Verdana).
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
    """The text, or as much of it as fits, and an ellipsis."""
    if breadth(text, size) <= room:
        return text
    return _beginning(text, room - breadth(ELLIPSIS, size), size).rstrip() + ELLIPSIS


def wrapped(text: str, room: float, size: float, lines: int) -> list[str]:
    """Broken between words where possible; the last line ends in an ellipsis if not all fits."""
    result: list[str] = []
    rest = text
    while rest and len(result) < lines - 1 and breadth(rest, size) > room:
        # At least one letter per line, or a single one broader than the room would keep us here.
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
