"""Bar charts as SVG, on a logarithmic scale, readable on white and on dark: no background, medium colours.

Our bars are filled, those of others are paler; every bar shows its value. Same data, same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

import msgspec

INK, OURS, OTHERS = "#787878", "#2477d4", "#a06f00"
PANEL, LABEL, VALUE = 470, 160, 60
"""Widths: of a panel, and within it of what stands before and behind the bars."""
ROW, TITLE, AXIS, GAP = 22, 34, 28, 12


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    value: float
    is_ours: bool = False


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    bars: Sequence[Bar]


def bars(panels: Sequence[Panel], *, unit: str, columns: int = 2) -> str:
    """Panels side by side, all on one scale."""
    values = [bar.value for panel in panels for bar in panel.bars]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)
    lines: list[str] = []
    top = 0
    for start in range(0, len(panels), columns):
        line = panels[start : start + columns]
        for place, panel in enumerate(line):
            lines += [f'<g transform="translate({place * PANEL},{top})">', *_panel(panel, low, high, unit), "</g>"]
        top += TITLE + AXIS + GAP + ROW * max(len(panel.bars) for panel in line)
    width = PANEL * min(columns, len(panels))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">'
    )
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def _panel(panel: Panel, low: int, high: int, unit: str) -> list[str]:
    length = PANEL - LABEL - VALUE

    def place(value: float) -> float:
        return round(LABEL + length * (log10(value) - low) / (high - low), 1)

    bottom = TITLE + ROW * len(panel.bars)
    lines = [f'<text x="8" y="20" font-size="14" font-weight="bold">{escape(panel.title)}</text>']
    for decade in range(low, high + 1):
        at = place(10.0**decade)
        lines.append(f'<path d="M{at} {TITLE}V{bottom}" stroke="{INK}" stroke-opacity="0.3"/>')
        lines.append(f'<text x="{at}" y="{bottom + 16}" text-anchor="middle">{10.0**decade:g} {escape(unit)}</text>')
    for number, bar in enumerate(panel.bars):
        y = TITLE + ROW * number
        end = max(place(bar.value), LABEL + 1)
        colour, opacity = (OURS, 1) if bar.is_ours else (OTHERS, 0.7)
        lines.append(f'<text x="{LABEL - 6}" y="{y + 15}" text-anchor="end">{escape(bar.label)}</text>')
        lines.append(
            f'<rect x="{LABEL}" y="{y + 3}" width="{round(end - LABEL, 1)}" height="{ROW - 6}" '
            f'fill="{colour}" fill-opacity="{opacity}"/>'
        )
        lines.append(f'<text x="{end + 5}" y="{y + 15}">{bar.value:.3g}</text>')
    return lines
