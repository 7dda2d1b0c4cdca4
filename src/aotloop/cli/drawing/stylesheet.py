"""The colours and strokes of an SVG, for light and dark surroundings; no rule reaches beyond the drawing.

Plain CSS without variables, because converters to other formats know no more than that.
"""

from __future__ import annotations

from typing import Literal

from aotloop.cli.drawing.looks import STYLES

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
    """An SVG pasted into a page shares its rules with it, and the page has words such as "label" too."""
    selectors, declarations = rule.split("{", 1)
    return ",".join(f".aot-graph {one}" for one in selectors.split(",")) + "{" + declarations
