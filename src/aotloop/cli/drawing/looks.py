"""How each look is shown: one row per look, read by every format, so that a colour means the same everywhere.

Colour never stands alone: there are words, a symbol for text, and a mark for drawings (path data, 14 by 14).
"""

from __future__ import annotations

import msgspec

from aotloop.cli.drawing.picture import Look


class Colours(msgspec.Struct, frozen=True):
    ink: str
    """Of borders and marks."""
    paper: str
    """Behind the text of a card."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    words: str
    symbol: str
    plain: str
    """The symbol in ASCII."""
    ansi: str
    """A style in the language of rich."""
    mark: str
    light: Colours
    dark: Colours


STYLES: dict[Look, Style] = {
    "resolved": Style(
        words="resolved",
        symbol="✔",
        plain="[x]",
        ansi="green",
        mark="M2.5 7.5 5.8 10.8 11.5 3.6",
        light=Colours("#1a7f37", "#e6f7ea"),
        dark=Colours("#3fb950", "#12261e"),
    ),
    "in_progress": Style(
        words="in progress",
        symbol="●",
        plain="[>]",
        ansi="bold blue",
        mark="M3.5 2.2 11.5 7 3.5 11.8Z",
        light=Colours("#0969da", "#ddf0ff"),
        dark=Colours("#58a6ff", "#11233b"),
    ),
    "ready": Style(
        words="ready",
        symbol="○",
        plain="[ ]",
        ansi="yellow",
        mark="M7 2.2A4.8 4.8 0 1 1 7 11.8A4.8 4.8 0 1 1 7 2.2Z",
        light=Colours("#9a6700", "#fff6cc"),
        dark=Colours("#d29922", "#2a230f"),
    ),
    "waiting": Style(
        words="waiting",
        symbol="◌",
        plain="[.]",
        ansi="default",
        mark="M2.6 7h.4M6.8 7h.4M11 7h.4",
        light=Colours("#59636e", "#f3f5f7"),
        dark=Colours("#8b949e", "#1b2129"),
    ),
    "decomposed": Style(
        words="decomposed",
        symbol="◇",
        plain="[/]",
        ansi="magenta",
        mark="M7 1.6 12.4 7 7 12.4 1.6 7Z",
        light=Colours("#8250df", "#f6edff"),
        dark=Colours("#a371f7", "#211a36"),
    ),
    "failed": Style(
        words="failed",
        symbol="✘",
        plain="[!]",
        ansi="red",
        mark="M3 3 11 11M11 3 3 11",
        light=Colours("#cf222e", "#ffebe9"),
        dark=Colours("#f85149", "#2d1518"),
    ),
    "unselected": Style(
        words="not selected",
        symbol="·",
        plain="[-]",
        ansi="dim",
        mark="M2.5 7H11.5",
        light=Colours("#818b98", "#ffffff"),
        dark=Colours("#6e7681", "#0d1117"),
    ),
}
