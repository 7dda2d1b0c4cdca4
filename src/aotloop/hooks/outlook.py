"""The outlook: what is left to do in a loop while no agent works on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from aotloop.core.graph.board import Board
from aotloop.core.graph.units import parts_done
from aotloop.core.model import Loop, TrailEntry
from aotloop.text.phrases import listed
from aotloop.text.shorten import short_line


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    ready: tuple[str, ...]
    """Ready atoms, best first, limited to the number that can be shown."""
    left_in_progress: tuple[str, ...]
    to_check: tuple[str, ...]
    """Decomposed atoms with all parts resolved: only their check is missing."""

    @property
    def is_empty(self) -> bool:
        return not (self.ready or self.left_in_progress or self.to_check)


def outlook(board: Board) -> Outlook:
    return Outlook(
        ready=tuple(islice(board.best_ready(), MOST_NAMED)),
        left_in_progress=tuple(atom.id for atom in board.loop.atoms if atom.status == "in_progress"),
        to_check=parts_done(board),
    )


LONGEST_NAME = 40
MOST_NAMED = 8
MOST_FAILURES = 3


def short_name(text: str) -> str:
    return short_line(text, LONGEST_NAME)


def names(ids: Sequence[str]) -> str:
    return listed([short_name(name) for name in ids], MOST_NAMED)


def described(board: Board, ids: Iterable[str]) -> dict[str, str]:
    """One line for each atom, by id."""
    return {name: f"- {short_name(name)}: {short_line(board.atoms[name].description)}" for name in ids}


def last_failures(loop: Loop) -> list[str]:
    """The last failures, newest first, without those of atoms that were removed."""
    gone = {entry.atom for entry in loop.trail} - {atom.id for atom in loop.atoms} - {None}
    failures = [entry for entry in reversed(loop.trail) if entry.type == "failure" and entry.atom not in gone]
    return [f"- {_who(entry)}: {short_line(entry.reason)}" for entry in failures[:MOST_FAILURES]]


def _who(entry: TrailEntry) -> str:
    name = short_name(entry.atom or entry.or_group or "?")
    return name if entry.attempt is None else f"{name}, attempt {entry.attempt}"
