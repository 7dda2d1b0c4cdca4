"""The timeline of a loop as SVG: one lane for each slot, each attempt a bar, and marks for what happened between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aotloop.app.history.attempts import Attempt, Fate
from aotloop.app.report.foreign_text import ForeignText
from aotloop.app.report.report_facts import MarkKind, TimeMark
from aotloop.clock import unix_time_of
from aotloop.text.phrases import lasting

WIDTH, LANE, HEAD, FOOT = 1000.0, 22.0, 16.0, 22.0
MOST_BARS = 3000
MOST_MARKS = 400
NARROWEST = 2.0

COLOURS: dict[Fate, str] = {
    "landed": "good",
    "merging": "busy",
    "running": "busy",
    "split": "split",
    "probed": "split",
    "undone": "undone",
    "failed": "bad",
    "not_merged": "bad",
    "waited": "idle",
    "cut_off": "idle",
}
"""Classes of the style sheet."""

_MARKS: dict[MarkKind, str] = {
    "run": "▸",
    "generation": "┆",
    "merged": "•",
    "taken_back": "↶",
    "ended": "■",
}


class _Bar:
    def __init__(self, attempt: Attempt, begin: float, end: float) -> None:
        self.attempt = attempt
        self.begin = begin
        self.end = end
        self.lane = 0


def timeline_svg(attempts: Sequence[Attempt], marks: Sequence[TimeMark], foreign: ForeignText, until: str) -> str:
    """Empty if nothing was tried. `until`: where bars of running attempts end."""
    bars = _bars(attempts[-MOST_BARS:], unix_time_of(until) or 0.0)
    points = [(time, mark) for mark in marks if (time := unix_time_of(mark.at)) is not None]
    if not bars:
        return ""
    lanes = _assign(bars)
    first = min([bar.begin for bar in bars] + [time for time, _ in points])
    last = max([bar.end for bar in bars] + [time for time, _ in points])
    scale = WIDTH / max(last - first, 1.0)
    height = HEAD + LANE * lanes + FOOT
    return "\n".join(
        [
            f'<svg class="timeline" role="img" viewBox="0 0 {WIDTH:.0f} {height:.0f}">',
            f"<title>Timeline: {len(bars)} attempts in {lanes} lanes</title>",
            *(_drawn(bar, first, scale, foreign) for bar in bars),
            *_points(points, first, scale, height - FOOT, foreign),
            f'<text class="axis" x="0" y="{height - 5:.0f}">0s</text>',
            f'<text class="axis" x="{WIDTH:.0f}" y="{height - 5:.0f}" text-anchor="end">{lasting(last - first)}</text>',
            "</svg>",
        ]
    )


def _bars(attempts: Sequence[Attempt], until: float) -> list[_Bar]:
    bars = []
    for attempt in attempts:
        begin = unix_time_of(attempt.began)
        end = unix_time_of(attempt.ended) if attempt.ended is not None else until
        if begin is not None:
            bars.append(_Bar(attempt, begin, max(end if end is not None else begin, begin)))
    return sorted(bars, key=lambda bar: bar.begin)


def _assign(bars: list[_Bar]) -> int:
    """Each bar gets the first lane that is free; the number of lanes. Times have whole seconds."""
    free: list[float] = []
    for bar in bars:
        lane = next((number for number, end in enumerate(free) if end <= bar.begin), len(free))
        if lane == len(free):
            free.append(0.0)
        free[lane] = max(bar.end, bar.begin + 0.5)
        bar.lane = lane
    return len(free)


def _drawn(bar: _Bar, first: float, scale: float, foreign: ForeignText) -> str:
    attempt = bar.attempt
    x, width = (bar.begin - first) * scale, max((bar.end - bar.begin) * scale, NARROWEST)
    x = min(x, WIDTH - width)
    what = foreign.line(f"{attempt.name} by {attempt.agent or 'a command'}: {attempt.fate}", 120)
    place = f'x="{x:.1f}" y="{HEAD + LANE * bar.lane:.0f}" width="{width:.1f}" height="{LANE - 6:.0f}"'
    title = f"<title>{what}, {lasting(attempt.seconds)}</title>"
    return f'<rect class="bar {COLOURS[attempt.fate]}" {place} rx="2">{title}</rect>'


def _points(
    points: Sequence[tuple[float, TimeMark]], first: float, scale: float, bottom: float, foreign: ForeignText
) -> Iterator[str]:
    for time, mark in points[-MOST_MARKS:]:
        x = min((time - first) * scale, WIDTH - 4)
        if mark.kind in ("generation", "run", "ended"):
            yield f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{HEAD:.0f}" y2="{bottom:.0f}"/>'
        what = foreign.line(mark.text, 120)
        yield f'<text class="mark" x="{x:.1f}" y="12">{_MARKS[mark.kind]}<title>{what}</title></text>'
