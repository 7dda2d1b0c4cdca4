"""Lines of a picture: styled pieces, cut to the available columns; no text in them can control the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from aotloop.text.sanitize import prose, visible

Piece = tuple[str, str]
"""A text, and its style in the notation of rich."""

LONGEST = 2000
"""The number of characters of a text that are used; no terminal is wider."""

_DOUBTFUL = str.maketrans("", "", "\u200d\ufe0f")
"""Terminals disagree on the width of joined or varied emoji; without these characters, they agree."""


def shown(text: str) -> str:
    return prose(text[:LONGEST]).translate(_DOUBTFUL)


def identified(text: str) -> str:
    return visible(text[:LONGEST])


def cut(text: str, room: int) -> str:
    if cell_len(text) <= room:
        return text
    return f"{set_cell_size(text, room - 1).rstrip()}…" if room > 0 else ""


def width_of(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(text) for text, _ in pieces)


def fitted(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Cut at the width, without blanks at the end."""
    fit: list[Piece] = []
    room = width
    for text, style in pieces:
        fit.append((cut(text, room), style))
        room -= cell_len(fit[-1][0])
    while fit and not fit[-1][0].strip():
        fit.pop()
    if fit:
        fit[-1] = fit[-1][0].rstrip(), fit[-1][1]
    return fit


def flowed(texts: Sequence[str], width: int, between: str = " · ") -> list[str]:
    """Texts side by side, as many on each line as fit."""
    lines: list[str] = []
    for text in texts:
        if lines and cell_len(lines[-1]) + cell_len(between) + cell_len(text) <= width:
            lines[-1] += between + text
        else:
            lines.append(text)
    return lines


class Lines(msgspec.Struct, frozen=True):
    """Lines that rich prints without wrapping."""

    lines: list[list[Piece]]
    colour: bool = True

    def __rich_console__(self, _: Console, __: ConsoleOptions) -> RenderResult:
        yield from self._segments()

    def _segments(self) -> Iterator[Segment]:
        for line in self.lines:
            for text, style in line:
                yield Segment(text, Style.parse(style) if self.colour and style else None)
            yield Segment.line()

    def text(self) -> str:
        return "".join(f"{''.join(text for text, _ in line)}\n" for line in self.lines)
