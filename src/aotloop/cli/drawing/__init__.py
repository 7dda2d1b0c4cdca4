"""Draws the work graph of a loop; every format shows the same picture, whatever the state of the file."""

from __future__ import annotations

from typing import Literal, assert_never

from aotloop.cli.drawing.picture import picture_of
from aotloop.core.model import Loop

Format = Literal["text", "mermaid", "dot", "svg"]

__all__ = ["Format", "draw"]


def draw(
    loop: Loop,
    format: Format,  # noqa: A002 - named like the option it answers
    *,
    width: int = 80,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """`width`, `colour` (ANSI) and `ascii_only` are about a terminal, so only "text" looks at them."""
    picture = picture_of(loop)
    # Imported when asked for: each format is slow to start in its own way ("svg" with the layout library).
    match format:
        case "text":
            from aotloop.cli.drawing.text import text_of  # noqa: PLC0415

            return text_of(picture, width=width, colour=colour, ascii_only=ascii_only)
        case "mermaid":
            from aotloop.cli.drawing.mermaid import mermaid_of  # noqa: PLC0415

            return mermaid_of(picture)
        case "dot":
            from aotloop.cli.drawing.dot import dot_of  # noqa: PLC0415

            return dot_of(picture)
        case "svg":
            from aotloop.cli.drawing.svg import svg_of  # noqa: PLC0415

            return svg_of(picture)
        case _:
            assert_never(format)
