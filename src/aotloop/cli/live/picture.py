"""What is known about a run at a moment: the loop, and what the news have told since the run began. No clock, no I/O.

News may be missing or come late (a file was removed, a process killed): what the loop itself says is never doubted for
them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from aotloop.cli.bound import bound_of
from aotloop.cli.live.standing import Standing
from aotloop.cli.live.times import moment
from aotloop.cli.live.words import words
from aotloop.core.limits import Limits, limits_of
from aotloop.core.model import BaseCase, Constraints, Loop
from aotloop.runner import news as kinds

MOST_HAPPENINGS = 8


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that is being made. `since`: seconds since 1970, if that is known."""

    atom: str
    attempt: int
    role: Literal["worker", "probe"]
    agent: str
    since: float | None
    folder: str = ""
    line: str = ""
    """The last it printed."""


class Happening(msgspec.Struct, frozen=True):
    at: float | None
    told: str


class Picture:
    def __init__(self, loop: Loop) -> None:
        self.standing = Standing(loop)
        self.iteration = loop.control.iteration
        self.stall_count = loop.control.stall_count
        self.began: float | None = None
        self.branch: str | None = None
        self.overriding: dict[str, int | float | str] = {}
        """Limits of this run alone."""
        self.ended: kinds.RunEnded | None = None
        self.running: dict[int, Running] = {}
        """By attempt."""
        self.merging: set[str] = set()
        """Atoms whose work is done and not on the branch yet."""
        self.blocked: dict[str, str] = {}
        """Atoms whose work cannot reach the branch for now, and why."""
        self.verifying: dict[str | None, float | None] = {}
        """What is being checked, since when; None: the base case."""
        self.half_spent: kinds.HalfSpent | None = None
        """That a person should look at it, as long as nothing new has come of it."""
        self.bells = 0
        """How often that was told."""
        self.happened: deque[Happening] = deque(maxlen=MOST_HAPPENINGS)

    @property
    def loop(self) -> Loop:
        return self.standing.loop

    @property
    def is_of_phases(self) -> bool:
        """Its atoms are the phases of a feature: no base case bounds them, and they do not stall."""
        return self.loop.objective.base_case == BaseCase()

    @property
    def cost_usd(self) -> float:
        return self.loop.control.cost_usd

    def set_loop(self, loop: Loop) -> None:
        """The loop as it is now. What is shown later stays as it was here, whatever the caller does to it."""
        if not self.standing.follow(loop):
            self.standing = Standing(loop)
        self.iteration, self.stall_count = loop.control.iteration, loop.control.stall_count

    @property
    def bound(self) -> int | None:
        """Attempts that may still be made; None: phases have no such bound."""
        return None if self.is_of_phases else bound_of(self.loop, self.limits)

    @property
    def limits(self) -> Limits:
        """Those in force."""
        agreed = self.loop.objective.constraints
        try:
            return limits_of(msgspec.convert({**msgspec.structs.asdict(agreed), **self.overriding}, Constraints))
        except msgspec.ValidationError:  # the news are in a file that anybody may write
            return limits_of(agreed)

    def set_line(self, attempt: int, line: str) -> None:
        if attempt in self.running:
            self.running[attempt] = msgspec.structs.replace(self.running[attempt], line=line)

    def take(self, one: kinds.News) -> None:
        follow = _FOLLOWED.get(type(one))
        if follow is not None:
            follow(self, one)
        told = words(one)
        if told is not None:
            self.happened.append(Happening(moment(one.at), told))

    def forget_what_runs(self) -> None:
        self.running.clear()
        self.merging.clear()
        self.blocked.clear()
        self.verifying.clear()
        self.half_spent = None


# --- what follows from each kind ---------------------------------------------------------------------------------


def _run_began(picture: Picture, one: kinds.RunBegan) -> None:
    picture.forget_what_runs()
    picture.happened.clear()
    picture.ended = None
    picture.began = moment(one.at)
    picture.branch = one.branch
    picture.overriding = one.overriding


def _half_spent(picture: Picture, one: kinds.HalfSpent) -> None:
    picture.half_spent = one
    picture.bells += 1


def _corrected(picture: Picture, one: kinds.CorrectionTaken) -> None:  # noqa: ARG001 - a person has looked
    picture.half_spent = None


def _run_ended(picture: Picture, one: kinds.RunEnded) -> None:
    picture.forget_what_runs()
    picture.ended = one


def _attempt_began(picture: Picture, one: kinds.AttemptBegan) -> None:
    picture.merging.discard(one.atom)
    picture.blocked.pop(one.atom, None)
    picture.running[one.attempt] = Running(
        atom=one.atom, attempt=one.attempt, role=one.role, agent=one.agent, since=moment(one.at), folder=one.folder
    )


def _attempt_ended(picture: Picture, one: kinds.AttemptEnded) -> None:
    picture.running.pop(one.attempt, None)
    if one.outcome == "done":
        picture.merging.add(one.atom)


def _settled(picture: Picture, one: kinds.Merged | kinds.AtomResolved | kinds.AtomFailed) -> None:
    picture.merging.discard(one.atom)
    picture.blocked.pop(one.atom, None)
    if not isinstance(one, kinds.AtomFailed):
        picture.half_spent = None


def _not_merged(picture: Picture, one: kinds.NotMerged) -> None:
    picture.merging.discard(one.atom)
    if one.why == "blocked":
        picture.blocked[one.atom] = one.reason
    else:
        picture.blocked.pop(one.atom, None)


def _generation_ended(picture: Picture, one: kinds.GenerationEnded) -> None:
    picture.iteration, picture.stall_count = one.iteration, one.stall_count


def _verifying(picture: Picture, one: kinds.Verifying) -> None:
    picture.verifying[one.atom] = moment(one.at)


def _verified(picture: Picture, one: kinds.Verified) -> None:
    picture.verifying.pop(one.atom, None)


_FOLLOWED: dict[type[kinds.News], Callable[[Picture, Any], None]] = {
    kinds.RunBegan: _run_began,
    kinds.RunEnded: _run_ended,
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
"""The other kinds only happen; what they change is in the loop."""
