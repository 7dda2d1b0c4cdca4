"""The first lines of a picture: what it is about, how far it is, and what bounds it."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.cli.bound import bound_in_words
from aotloop.cli.live.lines import Piece, cut, fitted, flowed, shown
from aotloop.cli.live.picture import Picture
from aotloop.cli.live.times import lasting
from aotloop.cli.output import counted
from aotloop.cli.spending import spending

STATUS_COLOURS = {"pending": "cyan", "running": "yellow", "stopped": "magenta", "completed": "green"}
LONGEST_BAR = 30
ROOMY = 60
"""Columns from which on more is said than is needed."""


def header(picture: Picture, width: int, now: float) -> list[list[Piece]]:
    goal = shown(picture.loop.objective.goal) or "(no goal yet)"
    facts = flowed([cut(fact, width) for fact in _facts(picture, width, now)], width)
    return [fitted([(goal, "bold")], width), _progress(picture, width), *([(line, "dim")] for line in facts)]


def _progress(picture: Picture, width: int) -> list[Piece]:
    status = picture.ended.status if picture.ended is not None else picture.loop.control.status
    done, required = picture.standing.resolved, picture.standing.required
    told = f"{done:,} of {required:,}"
    if picture.is_of_phases:
        told += " phases done" if width >= 48 else ""
    else:
        told += " required atoms resolved" if width >= 72 else " resolved" if width >= 48 else ""
    room = min(width - len(status) - len(told) - 4, LONGEST_BAR)
    filled = room * done // required if required and room > 0 else 0
    bar: list[Piece] = [("█" * filled, "green"), ("░" * (room - filled), "dim"), ("  ", "")] if room >= 4 else []
    return fitted([(status, f"bold {STATUS_COLOURS[status]}"), ("  ", ""), *bar, (told, "")], width)


def _facts(picture: Picture, width: int, now: float) -> Iterator[str]:
    limits = picture.limits
    yield f"{'turn' if picture.is_of_phases else 'iteration'} {picture.iteration:,} of {limits.max_iterations:,}"
    if not picture.is_of_phases:
        yield f"stalls {picture.stall_count:,} of {limits.max_stall_count:,}"
    yield from spending(picture.cost_usd, picture.loop.control.used, limits.max_cost_usd)
    if picture.ended is not None and picture.ended.seconds:
        yield lasting(picture.ended.seconds)
    elif picture.began is not None:
        yield lasting(now - picture.began)
    if limits.max_runtime is not None:
        yield f"{lasting(picture.loop.control.ran_seconds)} of {shown(str(limits.max_runtime))} used"
    if picture.running and width >= ROOMY:
        yield f"{counted(len(picture.running), 'attempt')} under way"
    if picture.branch and width >= ROOMY:
        yield f"on {shown(picture.branch)}"
    if picture.bound and picture.loop.control.status != "completed":
        yield bound_in_words(picture.bound)
