"""Draws the work graph of a loop; every format shows the same picture, also of an invalid file."""

from __future__ import annotations

from typing import Literal, assert_never

from aotloop.app.diagram.diagram import picture_of
from aotloop.app.diagram.dot import dot_of
from aotloop.app.diagram.mermaid import mermaid_of
from aotloop.app.diagram.reduction import EASY_CARDS, MOST_CARDS, folded, reduced
from aotloop.app.diagram.svg import svg_of
from aotloop.app.diagram.terminal_text import text_of
from aotloop.core.model import Loop

Format = Literal["text", "mermaid", "dot", "svg"]

__all__ = ["EASY_CARDS", "Format", "draw"]


def draw(
    loop: Loop,
    format: Format,  # noqa: A002 - named like the option
    *,
    width: int = 80,
    colour: bool = False,
    ascii_only: bool = False,
    most: int | None = MOST_CARDS,
) -> str:
    """Only "text" uses `width`, `colour` (ANSI) and `ascii_only`, which describe a terminal.

    A picture for people with more than `most` cards is folded; None: never. Other formats are for programs.
    """
    picture = picture_of(loop)
    if format in ("text", "svg"):
        if most is not None and len(picture.cards) > most:
            picture = folded(picture)
        elif format == "svg" and len(picture.cards) > EASY_CARDS:
            picture = reduced(picture)
    match format:
        case "text":
            return text_of(picture, width=width, colour=colour, ascii_only=ascii_only)
        case "mermaid":
            return mermaid_of(picture)
        case "dot":
            return dot_of(picture)
        case "svg":
            return svg_of(picture)
        case _:
            assert_never(format)
