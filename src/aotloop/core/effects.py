"""What a loop asks for: wishes in the imperative, carried out by whoever drives it."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["worker", "probe"]


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    pass


class CheckParent(Effect, frozen=True, kw_only=True):
    """All children of this atom are resolved; run its check and report AtomResolved, or AtomFailed."""

    atom: str


class Resolved(Effect, frozen=True, kw_only=True):
    """Tell whoever watches that this atom was resolved by what happened (a parent by its last child)."""

    atom: str


class Backtracked(Effect, frozen=True, kw_only=True):
    """A group switched; these atoms were reset by it.

    `dropped` are repairs of what was left; they are no atoms any more. `undone` are those, reset or dropped, that had
    been resolved: what they had contributed is to be taken back.
    """

    or_group: str
    left: str
    selected: str
    reset: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()


class Withdrawn(Effect, frozen=True, kw_only=True):
    """Decomposing these atoms led nowhere: their parts are no atoms any more, and they are done in one piece."""

    parents: tuple[str, ...]
    atoms: tuple[str, ...]


class Retry(Effect, frozen=True, kw_only=True):
    """The atom is tried again, differently: `attempts` have failed of the `allowed` in this turn."""

    atom: str
    attempts: int
    allowed: int


class Exhausted(Effect, frozen=True, kw_only=True):
    """Nothing is left to try for this atom; None: for the base case, all atoms being resolved."""

    atom: str | None


class Reopened(Effect, frozen=True, kw_only=True):
    """These atoms had been resolved; an item of the base case that they cover fails, so they are to be done again."""

    atoms: tuple[str, ...]


class Added(Effect, frozen=True, kw_only=True):
    """These atoms came into being, with these ids."""

    atoms: tuple[str, ...]


# --- what a run asks of its driver -------------------------------------------------------------------------------


class StartAttempt(Effect, frozen=True, kw_only=True):
    """One agent process, or one command, on one atom. Reports name the attempt's number; a number is never reused.

    A worker's result counts only while the loop's epoch is the one given here. A probe changes nothing.
    """

    attempt: int
    atom: str
    epoch: int
    role: Role


class CancelAttempt(Effect, frozen=True, kw_only=True):
    """End it, whatever it does; reports about it are ignored from now on.

    Not `discard`: only the run is over; if the attempt had finished, the next run may take up its result.
    """

    attempt: int
    atom: str
    discard: bool = True


class Integrate(Effect, frozen=True, kw_only=True):
    """Merge what this attempt did, after checking it against what was merged meanwhile. One at a time."""

    attempt: int
    atom: str


class Revert(Effect, frozen=True, kw_only=True):
    """Take back what these atoms had contributed, newest first; nothing starts or merges before it is done."""

    atoms: tuple[str, ...]


class VerifyBaseCase(Effect, frozen=True, kw_only=True):
    """Evaluate the base case as things are; nothing is merged meanwhile."""

    number: int


class CancelVerification(Effect, frozen=True, kw_only=True):
    number: int


class CancelCheck(Effect, frozen=True, kw_only=True):
    """End the check of this decomposed atom; what it would have found is not reported."""

    atom: str


class Finished(Effect, frozen=True, kw_only=True):
    """The run is over. `reason` is None if the base case holds."""

    status: Literal["stopped", "completed"]
    reason: str | None = None
