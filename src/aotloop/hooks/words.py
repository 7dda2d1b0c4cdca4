"""What comes from the file is told in one short line each: it is long, and written by others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aotloop.core.board import Board
from aotloop.core.model import Loop, TrailEntry

LONGEST_LINE = 160
MOST_NAMED = 8
MOST_FAILURES = 3


def line(text: str, longest: int = LONGEST_LINE) -> str:
    """Only as much is looked at as can be shown."""
    seen = text[: 4 * longest]
    if not seen.isprintable():  # what a terminal would obey is not shown
        seen = "".join(one for one in seen if one.isprintable() or one.isspace())
    short = " ".join(seen.split())
    return short if len(short) <= longest and len(text) <= 4 * longest else f"{short[:longest]}…"


def names(ids: Sequence[str]) -> str:
    shown = ", ".join(line(one, 40) for one in ids[:MOST_NAMED])
    return f"{shown} and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else shown


def described(board: Board, ids: Iterable[str]) -> dict[str, str]:
    """A line for each, by id."""
    return {one: f"- {line(one, 40)}: {line(board.atoms[one].description)}" for one in ids}


def last_failures(loop: Loop) -> list[str]:
    """Newest first."""
    failures = [entry for entry in reversed(loop.trail) if entry.type == "failure"][:MOST_FAILURES]
    return [f"- {_who(entry)}: {line(entry.reason)}" for entry in failures]


def _who(entry: TrailEntry) -> str:
    name = line(entry.atom or entry.or_group or "?", 40)
    return name if entry.attempt is None else f"{name}, attempt {entry.attempt}"
