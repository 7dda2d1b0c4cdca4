"""The style of each look, in one table for all formats, so that a colour means the same everywhere.

Colour never carries meaning alone: there are also words, a symbol for text, and a mark for drawings (14 by 14).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.app.diagram.diagram import Look


class Colours(msgspec.Struct, frozen=True):
    ink: str
    """The colour of borders and marks."""
    paper: str
    """The colour behind the text of a card."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    words: str
    symbol: str
    plain: str
    """The symbol in ASCII."""
    ansi: str
    """A style in the notation of rich."""
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


Surroundings = Literal["light", "dark"]

SURFACE = {
    #         background, strong,    soft,      edge,      group ink, group paper
    "light": ("#ffffff", "#1f2328", "#59636e", "#8c959f", "#d4a72c", "#fffaeb"),
    "dark": ("#0d1117", "#f0f6fc", "#9198a1", "#6e7681", "#9e7a1f", "#1a170e"),
}
SHAPES = """\
text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.title{font-size:16px;font-weight:600}
.label{font-size:13px;font-weight:600}
.text,.caption,.legend{font-size:11.5px}
.selected-word{font-size:10px;font-weight:600}
.face{stroke-width:1.3}
.selected .face{stroke-width:2.4}
.unselected .face{stroke-dasharray:5 4}
.ghost .face{stroke-dasharray:2 4}
.mark{fill:none;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.in_progress .mark{stroke-width:1.4}
.group{stroke-width:1.3}
.edge{fill:none;stroke-width:1.4}
.decomposed-edge{stroke-dasharray:5 4}
.cycle-edge{stroke-width:2}"""


def stylesheet() -> str:
    dark = "\n".join(_colours("dark"))
    return "\n".join(
        [
            *map(_confined, SHAPES.splitlines()),
            *_colours("light"),
            f"@media (prefers-color-scheme:dark){{\n{dark}\n}}",
        ]
    )


def _colours(surroundings: Surroundings) -> list[str]:
    background, strong, soft, edge, group_ink, group_paper = SURFACE[surroundings]
    rules = [
        f".background{{fill:{background}}}",
        f".title,.label{{fill:{strong}}}",
        f".text,.caption,.legend{{fill:{soft}}}",
        f".edge{{stroke:{edge}}}",
        f".head{{fill:{edge}}}",
        f".group{{fill:{group_paper};stroke:{group_ink}}}",
    ]
    for look, style in STYLES.items():
        colours = style.light if surroundings == "light" else style.dark
        rules += [
            f".{look} .face{{fill:{colours.paper};stroke:{colours.ink}}}",
            f".{look} .mark{{stroke:{colours.ink}}}",
            f".{look} .selected-word{{fill:{colours.ink}}}",
        ]
        if look == "in_progress":
            rules.append(f".{look} .mark{{fill:{colours.ink}}}")
        if look == "failed":
            rules += [f".cycle-edge{{stroke:{colours.ink}}}", f".cycle-head{{fill:{colours.ink}}}"]
    return [_confined(rule) for rule in rules]


def _confined(rule: str) -> str:
    """An SVG inside a page shares its CSS rules with the page, and the page may also use names such as "label"."""
    selectors, declarations = rule.split("{", 1)
    return ",".join(f".aot-graph {selector}" for selector in selectors.split(",")) + "{" + declarations
