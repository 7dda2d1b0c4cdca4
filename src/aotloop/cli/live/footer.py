"""The last lines of a picture: what is being checked, what a person could clear up, and what happened last."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.cli.live.lines import Piece, fitted, identified, shown
from aotloop.cli.live.picture import Picture
from aotloop.cli.live.times import ago, lasting
from aotloop.cli.live.words import half_spent

MOST_BLOCKED = 3
AGE_COLUMNS = 7


def footer(picture: Picture, width: int, now: float, most_happenings: int) -> list[list[Piece]]:
    happened = list(picture.happened)[-most_happenings:] if most_happenings > 0 else []
    lines = [*_checked(picture, now), *_blocked(picture), *_half_spent(picture), *_reason(picture)]
    for one in happened:
        age = ago(now - one.at) if one.at is not None else ""
        lines.append([(f"{age:>{AGE_COLUMNS}}  ", "dim"), (shown(one.told), "")])
    return [fitted(line, width) for line in lines]


def _checked(picture: Picture, now: float) -> Iterator[list[Piece]]:
    """Single atoms say so themselves."""
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
    control = picture.loop.control
    reason = picture.ended.reason if picture.ended is not None else control.stop_reason
    if reason and (picture.ended is not None or control.status == "stopped"):
        yield [("■ ", "bold magenta"), (shown(reason), "")]
