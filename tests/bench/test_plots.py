"""Plots are SVG that any background can bear, and show what they were given."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from bench.plots import COLOURS, DASHES, INK, Line, Panel, svg

WHITE, DARK = "#ffffff", "#0d1117"
SPACE = "{http://www.w3.org/2000/svg}"


def lightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((lightness(one), lightness(other)))
    return (high + 0.05) / (low + 0.05)


def drawn(panel: Panel) -> ET.Element:
    return ET.fromstring(svg("A plot", [panel]))


def panel(*lines: Line, y_range: tuple[float, float] | None = None, is_log: bool = False) -> Panel:
    return Panel(title="a < b", x_label="x", y_label="y", lines=lines, y_range=y_range, is_log=is_log)


@pytest.mark.parametrize("colour", [INK, *COLOURS])
@pytest.mark.parametrize("background", [WHITE, DARK])
def test_every_colour_can_be_told_from_white_and_from_dark(colour: str, background: str) -> None:
    assert contrast(colour, background) >= (4 if colour == INK else 3)


def test_lines_differ_without_colours_too() -> None:
    assert len(set(DASHES)) == len(set(COLOURS)) == 8


def test_titles_axes_and_legend_are_there_as_text_and_every_label_once() -> None:
    lines = [Line(label=name, points=[(0, 1), (1, 2)]) for name in ("us", "them")]
    root = ET.fromstring(svg("A plot", [panel(*lines), panel(*lines)]))
    texts = [one.text for one in root.iter(f"{SPACE}text")]
    assert [texts.count(one) for one in ("a < b", "x", "y", "us", "them")] == [2, 2, 2, 1, 1]


def test_what_is_not_known_interrupts_the_line() -> None:
    line = Line(label="us", points=[(0, 1), (1, 2), (2, None), (3, 1), (4, 0)])
    path = next(one for one in drawn(panel(line)).iter(f"{SPACE}path") if one.get("stroke-width") == "2.4")
    assert re.sub(r"[-\d. ]+", "", path.get("d", "")) == "MLML"


def test_nothing_is_drawn_outside_of_its_panel() -> None:
    line = Line(label="us", points=[(0, -5), (1, 500)], band=[(0, -9, 5), (1, 0, 900)])
    for one in drawn(panel(line, y_range=(0, 1))).iter(f"{SPACE}path"):
        assert all(0 <= float(number) <= 330 for number in re.findall(r"[-\d.]+", one.get("d", "")))


def test_ticks_of_a_logarithmic_axis_are_round_numbers() -> None:
    line = Line(label="us", points=[(0, 1), (1, 100)])
    texts = [one.text for one in drawn(panel(line, is_log=True)).iter(f"{SPACE}text")]
    assert [one for one in ("1", "2", "5", "10", "20", "50", "100") if one not in texts] == []
