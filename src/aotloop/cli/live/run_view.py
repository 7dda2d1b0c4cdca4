"""Keeps the state of a run at a moment: the loop, and the events since the run began. No clock, no I/O.

Events may be missing or late (a file was removed, a process was killed): the loop itself always counts more than
events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from aotloop.app.history.event_words import words
from aotloop.cli.live.picture.overview import overview_of
from aotloop.clock import unix_time_of
from aotloop.execution import run_events as kinds
from aotloop.execution.observer import Watched

MOST_HAPPENINGS = 8


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """A running attempt. `since`: seconds since 1970, if known."""

    atom: str
    attempt: int
    role: Literal["worker", "probe"]
    agent: str
    since: float | None
    folder: str = ""
    name: str = ""
    """Such as `A2#1`; empty in journals of earlier versions."""
    line: str = ""
    """The last line that it printed."""


class Happening(msgspec.Struct, frozen=True):
    at: float | None
    text: str


class Picture:
    def __init__(self, loop: Watched) -> None:
        self.overview = overview_of(loop)
        self.began: float | None = None
        self.branch: str | None = None
        self.overriding: dict[str, int | float | str] = {}
        """Limits of this run only."""
        self.ended: kinds.RunEnded | None = None
        self.running: dict[int, Running] = {}
        """Keys are attempts."""
        self.merging: set[str] = set()
        """Atoms with finished work that is not on the branch yet."""
        self.blocked: dict[str, str] = {}
        """Atoms whose work cannot be merged now, and the reason."""
        self.verifying: dict[str | None, float | None] = {}
        """Checks in progress and their start; None: the base case."""
        self.half_spent: kinds.HalfSpent | None = None
        """The warning that half is spent, until there is progress."""
        self.bells = 0
        """How often a person was needed: for that warning, a judgement, or an obstacle that only a person removes."""
        self.selected: str | None = None
        """The atom that a person has selected by keys."""
        self.letters = ""
        """Only atoms with these letters are shown."""
        self.folds = False
        """Resolved atoms are not shown."""
        self.is_paused = False
        self.happened: deque[Happening] = deque(maxlen=MOST_HAPPENINGS)

    def set_loop(self, loop: Watched) -> None:
        """Takes the present loop. Later changes by the caller do not affect this view."""
        if not self.overview.follow(loop):
            self.overview = overview_of(loop)

    @property
    def bound(self) -> int | None:
        """Attempts that may still be made; None: unknown."""
        return self.overview.bound(self.overriding)

    def is_shown(self, number: int) -> bool:
        """Whether a row passes the filter and the fold."""
        row = self.overview.rows[number]
        if self.folds and self.overview.looks[number] == "resolved":
            return False
        described = f"{row.name} {self.overview.description(row.name) or ''}" if not row.is_group else row.name
        return not self.letters or self.letters in described.casefold()

    def choosable(self) -> list[str]:
        """Atoms that can be selected, from top to bottom."""
        rows = enumerate(self.overview.rows)
        return [row.name for number, row in rows if not row.is_group and self.is_shown(number)]

    def set_line(self, attempt: int, line: str) -> None:
        if attempt in self.running:
            self.running[attempt] = msgspec.structs.replace(self.running[attempt], line=line)

    def take(self, event: kinds.RunEvent) -> None:
        follow = _FOLLOWED.get(type(event))
        if follow is not None:
            follow(self, event)
        words_of_event = words(event)
        if words_of_event is not None:
            self.happened.append(Happening(unix_time_of(event.at), words_of_event))

    def settle(self) -> None:
        """No process runs the loop. What a person did since its last run counts more than how that run ended."""
        self.forget_what_runs()
        if self.ended is not None and self.ended.status != self.overview.status:
            self.ended = self.began = None

    def forget_what_runs(self) -> None:
        self.running.clear()
        self.merging.clear()
        self.blocked.clear()
        self.verifying.clear()
        self.half_spent = None


# --- what follows from each kind ---------------------------------------------------------------------------------


def _run_began(picture: Picture, event: kinds.RunBegan) -> None:
    picture.forget_what_runs()
    picture.happened.clear()
    picture.ended = None
    picture.is_paused = False
    picture.began = unix_time_of(event.at)
    picture.branch = event.branch
    picture.overriding = event.overriding


def _half_spent(picture: Picture, event: kinds.HalfSpent) -> None:
    picture.half_spent = event
    picture.bells += 1


def _corrected(picture: Picture, event: kinds.CorrectionTaken) -> None:  # noqa: ARG001 - a person has looked
    picture.half_spent = None


def _paused(picture: Picture, event: kinds.Paused | kinds.PauseEnded) -> None:
    picture.is_paused = isinstance(event, kinds.Paused)


def _run_ended(picture: Picture, event: kinds.RunEnded) -> None:
    picture.forget_what_runs()
    picture.ended = event
    picture.bells += (event.reason or "").startswith("blocked:")


def _attempt_began(picture: Picture, event: kinds.AttemptBegan) -> None:
    picture.merging.discard(event.atom)
    picture.blocked.pop(event.atom, None)
    picture.running[event.attempt] = Running(
        atom=event.atom,
        attempt=event.attempt,
        role=event.role,
        agent=event.agent,
        since=unix_time_of(event.at),
        folder=event.folder,
        name=event.name,
    )


def _attempt_ended(picture: Picture, event: kinds.AttemptEnded) -> None:
    picture.running.pop(event.attempt, None)
    if event.outcome == "done":
        picture.merging.add(event.atom)


def _settled(picture: Picture, event: kinds.Merged | kinds.AtomResolved | kinds.AtomFailed) -> None:
    picture.merging.discard(event.atom)
    picture.blocked.pop(event.atom, None)
    if not isinstance(event, kinds.AtomFailed):
        picture.half_spent = None


def _not_merged(picture: Picture, event: kinds.NotMerged) -> None:
    picture.merging.discard(event.atom)
    if event.why == "blocked":
        picture.bells += event.atom not in picture.blocked
        picture.blocked[event.atom] = event.reason
    else:
        picture.blocked.pop(event.atom, None)


def _generation_ended(picture: Picture, event: kinds.GenerationEnded) -> None:
    picture.overview.end_generation(event.iteration, event.stall_count)


def _verifying(picture: Picture, event: kinds.Verifying) -> None:
    picture.verifying[event.atom] = unix_time_of(event.at)


def _verified(picture: Picture, event: kinds.Verified) -> None:
    picture.verifying.pop(event.atom, None)
    picture.bells += event.undecided


_FOLLOWED: dict[type[kinds.RunEvent], Callable[[Picture, Any], None]] = {
    kinds.RunBegan: _run_began,
    kinds.RunEnded: _run_ended,
    kinds.Paused: _paused,
    kinds.PauseEnded: _paused,
    kinds.AttemptBegan: _attempt_began,
    kinds.AttemptEnded: _attempt_ended,
    kinds.Merged: _settled,
    kinds.NotMerged: _not_merged,
    kinds.AtomResolved: _settled,
    kinds.AtomFailed: _settled,
    kinds.HalfSpent: _half_spent,
    kinds.CorrectionTaken: _corrected,
    kinds.GenerationEnded: _generation_ended,
    kinds.Verifying: _verifying,
    kinds.Verified: _verified,
}
"""Other kinds need no function; the loop contains what they change."""
