"""Draws a run for a terminal of a given size: head, atoms, foot; never wider or higher than the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from aotloop.app.diagram.diagram import Look
from aotloop.app.diagram.styles import STYLES
from aotloop.app.history.costs import spending
from aotloop.app.history.event_words import half_spent
from aotloop.cli.live.picture.atom_lines import AtomLines
from aotloop.cli.live.picture.atom_rows import kept
from aotloop.cli.live.picture.styled_lines import Lines, Piece, cut, fitted, flowed, identified, shown
from aotloop.cli.live.run_view import Picture
from aotloop.cli.ui.allowance import bound_in_words
from aotloop.text.phrases import ago, counted, lasting

STATUS_COLOURS = {
    "pending": "cyan",
    "running": "yellow",
    "waiting": "cyan",
    "stopped": "magenta",
    "completed": "green",
    "cancelled": "red",
}
LONGEST_BAR = 30
ROOMY = 60
"""From this number of columns on, additional facts are shown."""


def header(picture: Picture, width: int, now: float) -> list[list[Piece]]:
    goal = shown(picture.overview.goal) or "(no goal yet)"
    facts = flowed([cut(fact, width) for fact in _facts(picture, width, now)], width)
    return [fitted([(goal, "bold")], width), _progress(picture, width), *([(line, "dim")] for line in facts)]


def _progress(picture: Picture, width: int) -> list[Piece]:
    status = picture.ended.status if picture.ended is not None else picture.overview.status
    paused: list[Piece] = [("paused", "bold yellow"), ("  ", "")] if picture.is_paused else []
    done, required = picture.overview.resolved, picture.overview.required
    words = f"{done:,} of {required:,}{picture.overview.counted_as(width)}"
    room = min(width - len(status) - len(words) - 4, LONGEST_BAR)
    filled = room * done // required if required and room > 0 else 0
    bar: list[Piece] = [("█" * filled, "green"), ("░" * (room - filled), "dim"), ("  ", "")] if room >= 4 else []
    return fitted([(status, f"bold {STATUS_COLOURS[status]}"), ("  ", ""), *paused, *bar, (words, "")], width)


def _facts(picture: Picture, width: int, now: float) -> Iterator[str]:
    overview = picture.overview
    yield from overview.counters(picture.overriding)
    yield from spending(overview.cost_usd, overview.used, overview.most_usd(picture.overriding))
    if picture.ended is not None and picture.ended.seconds:
        yield lasting(picture.ended.seconds)
    elif picture.began is not None:
        yield lasting(now - picture.began)
    if (runtime := overview.runtime(picture.overriding)) is not None:
        yield f"{lasting(runtime[0] + _since_last_change(picture, now))} of {shown(runtime[1])} used"
    if picture.running and width >= ROOMY:
        yield f"{counted(len(picture.running), 'attempt')} under way"
    if picture.branch and width >= ROOMY:
        yield f"on {shown(picture.branch)}"
    if (bound := picture.bound) and overview.status != "completed":
        yield bound_in_words(bound)


def _since_last_change(picture: Picture, now: float) -> float:
    """The seconds to add to the picture's own time, which is that of its last change."""
    last = picture.happened[-1].at if picture.happened else None
    if picture.began is None or picture.ended is not None or last is None:
        return 0.0
    return max(0.0, now - max(last, picture.began))


MOST_BLOCKED = 3
AGE_COLUMNS = 7


def footer(picture: Picture, width: int, now: float, most_happenings: int) -> list[list[Piece]]:
    happened = list(picture.happened)[-most_happenings:] if most_happenings > 0 else []
    lines = [*_checked(picture, now), *_blocked(picture), *_half_spent(picture), *_reason(picture)]
    for happening in happened:
        age = ago(now - happening.at) if happening.at is not None else ""
        lines.append([(f"{age:>{AGE_COLUMNS}}  ", "dim"), (shown(happening.text), "")])
    return [fitted(line, width) for line in lines]


def _checked(picture: Picture, now: float) -> Iterator[list[Piece]]:
    """Only the base case; single atoms show it in their own lines."""
    if None in picture.verifying:
        since = picture.verifying[None]
        yield [("● ", "bold blue"), ("the base case is being checked", ""), (_since(since, now), "dim")]


def _since(since: float | None, now: float) -> str:
    return f"  {lasting(now - since)}" if since is not None else ""


def _blocked(picture: Picture) -> Iterator[list[Piece]]:
    for atom, reason in list(picture.blocked.items())[:MOST_BLOCKED]:
        yield [("! ", "bold yellow"), (f"{identified(atom)} waits to be merged: {shown(reason)}", "")]
    if len(picture.blocked) > MOST_BLOCKED:
        yield [("! ", "bold yellow"), (f"and {len(picture.blocked) - MOST_BLOCKED:,} more", "")]


def _half_spent(picture: Picture) -> Iterator[list[Piece]]:
    if picture.half_spent is not None:
        yield [("! ", "bold yellow"), (half_spent(picture.half_spent), "")]


def _reason(picture: Picture) -> Iterator[list[Piece]]:
    reason = picture.ended.reason if picture.ended is not None else picture.overview.stop_reason
    if reason:
        yield [("■ ", "bold magenta"), (shown(reason), "")]


MOST_HAPPENINGS = 5
LEAST_ROWS = 4
"""Rows of atoms; with less room, other parts are left out."""
NARROWEST = 24
"""Below this width nothing is readable; a narrower terminal wraps the lines itself."""


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
    overview = picture.overview
    if not overview.rows:
        return [[("no atoms yet", "dim")]]
    at_work = _at_work(picture)
    with_output = 2 * len(at_work) <= room
    heights = _heights(picture) if with_output else {}
    if picture.letters or picture.folds:
        numbers = _around(picture, [number for number in range(len(overview.rows)) if picture.is_shown(number)], room)
    elif len(overview.rows) + len(heights) <= room:
        numbers = list(range(len(overview.rows)))
    else:
        folds = 2 if overview.counts["resolved"] else 1
        numbers = kept(overview.rows, _interesting(picture, at_work, room), max(room - folds, 0), heights)
    shown = AtomLines(picture, numbers, width, now)
    hidden = overview.counts - Counter(overview.looks[number] for number in numbers)
    done: dict[Look | None, int] = {"resolved": hidden.pop("resolved", 0)}
    lines = [line for number in numbers for line in shown.of(number, with_output=with_output)]
    return [fitted(line, width) for line in (*_fold(done), *lines, *_fold(hidden))]


def _around(picture: Picture, numbers: list[int], room: int) -> list[int]:
    """As many rows as fit, the selected one among them; rows with output need two lines."""
    most = max(room - 2 - 2 * len(_heights(picture)), 1)
    place = next((at for at, number in enumerate(numbers) if picture.overview.rows[number].name == picture.selected), 0)
    first = max(min(place - most // 2, len(numbers) - most), 0)
    return numbers[first : first + most]


def _at_work(picture: Picture) -> list[int]:
    """Rows of atoms with a running attempt, in the order of the rows."""
    row_of = picture.overview.row_of
    return sorted({row_of[attempt.atom] for attempt in picture.running.values() if attempt.atom in row_of})


def _heights(picture: Picture) -> dict[int, int]:
    """Heights of rows with a line of output below them."""
    row_of = picture.overview.row_of
    return {row_of[attempt.atom]: 2 for attempt in picture.running.values() if attempt.line and attempt.atom in row_of}


def _interesting(picture: Picture, at_work: list[int], room: int) -> Iterator[int]:
    """Rows of atoms, the most interesting first; a row may occur twice."""
    overview = picture.overview
    by_look: dict[Look | None, list[int]] = {}
    for number, look in enumerate(overview.looks):
        by_look.setdefault(look, []).append(number)
    if picture.selected in overview.row_of:
        yield overview.row_of[picture.selected]
    yield from at_work
    yield from by_look.get("in_progress", ())
    yield from (overview.row_of[atom_id] for atom_id in picture.blocked if atom_id in overview.row_of)
    failed = by_look.get("failed", [])
    yield from failed[: room // 3]
    yield from (overview.row_of[atom_id] for atom_id in overview.ready)
    yield from failed
    yield from by_look.get("waiting", ())
    yield from reversed(by_look.get("resolved", ()))
    yield from by_look.get("decomposed", ())
    yield from by_look.get("unselected", ())


def _fold(hidden: Mapping[Look | None, int]) -> Iterator[list[Piece]]:
    words = ", ".join(f"{hidden[look]:,} {style.words}" for look, style in STYLES.items() if hidden.get(look))
    if words:
        yield [(f"… {words}", "dim")]
