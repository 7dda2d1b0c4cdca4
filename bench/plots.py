"""Line plots as SVG, readable on white and on dark: no background, medium colours.

Every line also has its own dash pattern, so that a reader does not need the colours. Same data, same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from math import ceil, floor, log10

import msgspec

INK = "#787878"
COLOURS = ("#2477d4", "#c2500f", "#2b8a3e", "#9c4fd0", "#a06f00", "#d0357f", "#0c8599", "#707a84")
DASHES = ("", "9 4", "2 3", "9 3 2 3", "5 3", "14 4", "4 2 1 2", "1 4")
WIDTH, HEIGHT = 330, 250
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 34, 44
LEGEND_ROW, LEGEND_COLUMN = 20, 240
TICKS = 5


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A y of None: nothing is known there, the line is interrupted."""

    label: str
    points: Sequence[tuple[float, float | None]]
    band: Sequence[tuple[float, float, float]] = ()
    """x, low, high."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    y_range: tuple[float, float] | None = None
    """What is above or below is cut off."""
    is_log: bool = False


class _Axis(msgspec.Struct, frozen=True):
    low: float
    high: float
    start: float
    length: float
    is_log: bool = False

    def place(self, value: float) -> float:
        low, high, at = (log10(one) if self.is_log else one for one in (self.low, self.high, value))
        return round(self.start + self.length * (at - low) / ((high - low) or 1), 1)

    def ticks(self) -> list[float]:
        if self.is_log:
            decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            of_decades = [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
            return [one for one in of_decades if self.low <= one <= self.high]
        rough = (self.high - self.low) / TICKS or 1
        power = 10 ** floor(log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.99)
        return [one * step for one in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)]


def svg(title: str, panels: Sequence[Panel], columns: int = 3) -> str:
    """Panels side by side, with one legend for all of them."""
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    columns = min(columns, len(panels))
    width, rows = columns * WIDTH, ceil(len(panels) / columns)
    fit = max(width // LEGEND_COLUMN, 1)
    height = rows * HEIGHT + ceil(len(labels) / fit) * LEGEND_ROW + 12
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    text = f'font-family="sans-serif" font-size="11" fill="{INK}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {text}>',
        f"<title>{escape(title)}</title>",
    ]
    for number, panel in enumerate(panels):
        parts.append(f'<g transform="translate({number % columns * WIDTH} {number // columns * HEIGHT})">')
        parts += [*_panel(panel, labels), "</g>"]
    for number, label in enumerate(labels):
        x, y = LEFT + number % fit * LEGEND_COLUMN, rows * HEIGHT + number // fit * LEGEND_ROW + 12
        parts.append(f'<path d="M{x} {y}h30" {_stroke(number)}/><text x="{x + 38}" y="{y + 4}">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, labels: list[str]) -> list[str]:
    xs = [x for line in panel.lines for x, _ in line.points]
    ys = [y for line in panel.lines for _, y in line.points if y is not None] or [1.0]
    low, high = panel.y_range or (min(ys) if panel.is_log else min(0.0, *ys), max(ys))
    across = _Axis(min(xs), max(xs), LEFT, WIDTH - LEFT - RIGHT)
    upward = _Axis(low, high, HEIGHT - BOTTOM, TOP + BOTTOM - HEIGHT, panel.is_log)
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts = [f'<text x="{middle}" y="18" text-anchor="middle" font-weight="600">{escape(panel.title)}</text>']
    for tick in upward.ticks():
        y = upward.place(tick)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{INK}" stroke-opacity="0.25"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    for tick in across.ticks():
        x = across.place(tick)
        parts.append(f'<path d="M{x} {HEIGHT - BOTTOM}v4" stroke="{INK}"/>')
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="{INK}"/>')
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(panel.x_label)}</text>')
    at = f"12 {(TOP + HEIGHT - BOTTOM) / 2}"
    parts.append(f'<text text-anchor="middle" transform="translate({at}) rotate(-90)">{escape(panel.y_label)}</text>')
    for line in reversed(panel.lines):  # the first one lies on top
        parts += _line(line, labels.index(line.label), across, upward)
    return parts


def _line(line: Line, number: int, across: _Axis, upward: _Axis) -> list[str]:
    def at(x: float, y: float) -> str:
        return f"{across.place(x)} {upward.place(min(max(y, upward.low), upward.high))}"

    parts, colour = [], COLOURS[number % len(COLOURS)]
    if line.band:
        edge = [at(x, high) for x, _, high in line.band] + [at(x, low) for x, low, _ in reversed(line.band)]
        parts.append(f'<path d="M{"L".join(edge)}Z" fill="{colour}" fill-opacity="0.13"/>')
    by_known = groupby(line.points, key=lambda point: point[1] is not None)
    stretches = [[at(x, y) for x, y in stretch if y is not None] for is_known, stretch in by_known if is_known]
    path = "".join(f"M{'L'.join(stretch)}" for stretch in stretches)
    dots = "".join(f"M{place}h0" for stretch in stretches for place in stretch)
    parts.append(f'<path d="{path}" {_stroke(number)}/>')
    parts.append(f'<path d="{dots}" stroke="{colour}" stroke-width="4.5" stroke-linecap="round"/>')
    return parts


def _stroke(number: int) -> str:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{colour}" stroke-width="{2.4 if number == 0 else 1.7}"{dashes}'
