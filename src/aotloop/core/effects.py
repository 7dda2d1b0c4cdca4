"""Effects: requests of a loop, named in the imperative. The driver of the loop carries them out."""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["worker", "probe"]


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    pass


class CheckParent(Effect, frozen=True, kw_only=True):
    """All children of this atom are resolved. Run its check, and report AtomResolved or AtomFailed."""

    atom: str


class Resolved(Effect, frozen=True, kw_only=True):
    """Report to observers that this atom became resolved as a consequence (a parent by its last child)."""

    atom: str


class Backtracked(Effect, frozen=True, kw_only=True):
    """A group switched to another choice, and these atoms were reset.

    `dropped` are repairs of the choice that was left; they are removed from the graph. `undone` are the reset or
    dropped atoms that had been resolved: the driver must take back their contributions.
    """

    or_group: str
    left: str
    selected: str
    reset: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()


class Withdrawn(Effect, frozen=True, kw_only=True):
    """Decomposing these atoms did not help. Their parts are removed, and each atom is done in one piece."""

    parents: tuple[str, ...]
    atoms: tuple[str, ...]


class Retry(Effect, frozen=True, kw_only=True):
    """The atom is tried again in another way. `attempts` of the `allowed` attempts in this turn have failed."""

    atom: str
    attempts: int
    allowed: int


class Exhausted(Effect, frozen=True, kw_only=True):
    """Nothing is left to try for this atom. None: for the base case, when all atoms are resolved."""

    atom: str | None


class Reopened(Effect, frozen=True, kw_only=True):
    """These atoms had been resolved, but an item of the base case that they cover fails. They must be done again."""

    atoms: tuple[str, ...]


class Added(Effect, frozen=True, kw_only=True):
    """These atoms were added, with these ids."""

    atoms: tuple[str, ...]


# --- requests of a run to its driver-----------------------------------------------------------------------------


class StartAttempt(Effect, frozen=True, kw_only=True):
    """Start one agent process, or one command, for one atom. Reports name the attempt's number, which is never reused.

    The result of a worker counts only while the loop still has the epoch given here. A probe changes nothing.
    """

    attempt: int
    atom: str
    epoch: int
    role: Role


class CancelAttempt(Effect, frozen=True, kw_only=True):
    """End the attempt at once. Reports about it are ignored from now on.

    Without `discard`, only the run is over: if the attempt had finished, the next run may use its result.
    """

    attempt: int
    atom: str
    discard: bool = True


class Integrate(Effect, frozen=True, kw_only=True):
    """Merge the work of this attempt, after checking it together with newer merges. Only one merge runs at a time."""

    attempt: int
    atom: str


class Revert(Effect, frozen=True, kw_only=True):
    """Take back the contributions of these atoms, newest first. Nothing starts or merges before this is done."""

    atoms: tuple[str, ...]


class VerifyBaseCase(Effect, frozen=True, kw_only=True):
    """Evaluate the base case in its present state. Nothing is merged during the evaluation."""

    number: int


class CancelVerification(Effect, frozen=True, kw_only=True):
    number: int


class CancelCheck(Effect, frozen=True, kw_only=True):
    """End the check of this decomposed atom. Its finding is not reported."""

    atom: str


class EndAnnounced(Effect, frozen=True, kw_only=True):
    """The run will end for this reason. These attempts still run: they are waited for, or they are ended now."""

    reason: str
    attempts: tuple[tuple[int, str], ...]
    """Number and atom."""
    are_ended: bool = False


class Finished(Effect, frozen=True, kw_only=True):
    """The run is over. `reason` is None if the base case holds."""

    status: Literal["stopped", "completed"]
    reason: str | None = None
