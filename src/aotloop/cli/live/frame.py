"""Draws a picture of a run for a terminal of a given size: never wider, never higher, whatever is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from aotloop.cli.drawing.looks import STYLES
from aotloop.cli.drawing.picture import Look
from aotloop.cli.live.atom_lines import AtomLines
from aotloop.cli.live.folding import kept
from aotloop.cli.live.footer import footer
from aotloop.cli.live.header import header
from aotloop.cli.live.lines import Lines, Piece, fitted
from aotloop.cli.live.picture import Picture

MOST_HAPPENINGS = 5
LEAST_ROWS = 4
"""Of atoms; where there are fewer, other things give way."""
NARROWEST = 24
"""Below this, nothing can be told apart any more; a narrower terminal breaks the lines itself."""


def draw(picture: Picture, width: int, height: int, now: float, colour: bool = True) -> Lines:
    """`now`: seconds since 1970."""
    width = max(width, NARROWEST)
    above = header(picture, width, now)
    happenings = min(MOST_HAPPENINGS, max((height - len(above) - LEAST_ROWS) // 3, 0))
    below = footer(picture, width, now, happenings)
    is_roomy = height - len(above) - len(below) - 2 >= LEAST_ROWS
    blank: list[list[Piece]] = [[]] if is_roomy else []
    room = max(height - len(above) - len(below) - len(blank) - (len(blank) if below else 0), 0)
    atoms = _atoms(picture, width, room, now)
    lines = [*above, *blank, *atoms, *(blank if below else []), *below]
    return Lines(lines[: max(height, 1)], colour)


def _atoms(picture: Picture, width: int, room: int, now: float) -> list[list[Piece]]:
    standing = picture.standing
    if not standing.rows:
        return [[("no atoms yet", "dim")]]
    at_work = _at_work(picture)
    with_output = 2 * len(at_work) <= room
    heights = _heights(picture) if with_output else {}
    if len(standing.rows) + len(heights) <= room:
        numbers = list(range(len(standing.rows)))
    else:
        folds = 2 if standing.counts["resolved"] else 1
        numbers = kept(standing.rows, _interesting(picture, at_work, room), max(room - folds, 0), heights)
    shown = AtomLines(picture, numbers, width, now)
    hidden = standing.counts - Counter(standing.looks[number] for number in numbers)
    done: dict[Look | None, int] = {"resolved": hidden.pop("resolved", 0)}
    lines = [line for number in numbers for line in shown.of(number, with_output=with_output)]
    return [fitted(line, width) for line in (*_fold(done), *lines, *_fold(hidden))]


def _at_work(picture: Picture) -> list[int]:
    """Rows of atoms with an attempt, in the order of the rows."""
    row_of = picture.standing.row_of
    return sorted({row_of[one.atom] for one in picture.running.values() if one.atom in row_of})


def _heights(picture: Picture) -> dict[int, int]:
    """Of rows with a line of output below them."""
    row_of = picture.standing.row_of
    return {row_of[one.atom]: 2 for one in picture.running.values() if one.line and one.atom in row_of}


def _interesting(picture: Picture, at_work: list[int], room: int) -> Iterator[int]:
    """Rows of atoms, the most interesting first; a row may come twice."""
    standing = picture.standing
    by_look: dict[Look | None, list[int]] = {}
    for number, look in enumerate(standing.looks):
        by_look.setdefault(look, []).append(number)
    yield from at_work
    yield from by_look.get("in_progress", ())
    yield from (standing.row_of[one] for one in picture.blocked if one in standing.row_of)
    failed = by_look.get("failed", [])
    yield from failed[: room // 3]
    yield from (standing.row_of[one] for one in standing.ready)
    yield from failed
    yield from by_look.get("waiting", ())
    yield from reversed(by_look.get("resolved", ()))
    yield from by_look.get("decomposed", ())
    yield from by_look.get("unselected", ())


def _fold(hidden: Mapping[Look | None, int]) -> Iterator[list[Piece]]:
    told = ", ".join(f"{hidden[look]:,} {style.words}" for look, style in STYLES.items() if hidden.get(look))
    if told:
        yield [(f"… {told}", "dim")]
