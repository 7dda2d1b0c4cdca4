"""Draws the work graph of a loop; every format shows the same picture, also of an invalid file."""

from __future__ import annotations

from typing import Literal, assert_never

from aotloop.cli.graph.diagram import picture_of
from aotloop.core.model import Loop

Format = Literal["text", "mermaid", "dot", "svg"]

__all__ = ["Format", "draw"]


def draw(
    loop: Loop,
    format: Format,  # noqa: A002 - named like the option
    *,
    width: int = 80,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """Only "text" uses `width`, `colour` (ANSI) and `ascii_only`, which describe a terminal."""
    picture = picture_of(loop)
    # Imported on demand, because each format is slow to import ("svg" imports the layout library).
    match format:
        case "text":
            from aotloop.cli.graph.terminal_text import text_of  # noqa: PLC0415

            return text_of(picture, width=width, colour=colour, ascii_only=ascii_only)
        case "mermaid":
            from aotloop.cli.graph.mermaid import mermaid_of  # noqa: PLC0415

            return mermaid_of(picture)
        case "dot":
            from aotloop.cli.graph.dot import dot_of  # noqa: PLC0415

            return dot_of(picture)
        case "svg":
            from aotloop.cli.graph.svg import svg_of  # noqa: PLC0415

            return svg_of(picture)
        case _:
            assert_never(format)
