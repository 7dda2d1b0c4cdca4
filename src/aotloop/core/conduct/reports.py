"""What a driver tells a run: what came of each effect, and what else happened. Reports on what is over are ignored."""

from __future__ import annotations

import msgspec

from aotloop.core.events import Child, Event
from aotloop.core.model import Verdict


class Report(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    """When, in ISO 8601; nothing here reads a clock."""


# --- the run -----------------------------------------------------------------------------------------------------


class Began(Report, frozen=True, kw_only=True):
    """The gate is open. Atoms left in progress by a run that died are pending again.

    If the last verdict judged this commit and failed, the base case is not tried again: the work begins at once. So
    `commit` is not given where results of an earlier run may still be reported by ResultFound, or without git.
    """

    run_id: str | None = None
    objective_digest: str | None = None
    commit: str | None = None


class ResultFound(Report, frozen=True, kw_only=True):
    """An attempt of an earlier run had finished, in this epoch, and only had to be merged."""

    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


class Told(Report, frozen=True, kw_only=True):
    """Something that a person did: a request, a correction, money spent."""

    event: Event


class Halted(Report, frozen=True, kw_only=True):
    """It cannot go on, for a reason that is none of the loop's own: what is under way ends, and is kept."""

    reason: str


class LoopReplaced(Report, frozen=True, kw_only=True):
    """The loop was changed by others; `Run.loop` has been set to what it is now."""


# --- attempts ----------------------------------------------------------------------------------------------------


class OfAttempt(Report, frozen=True, kw_only=True, tag=True):
    """Each has its name in it when it is written down: a run that died may have left one to the next."""

    attempt: int


class WorkDone(OfAttempt, frozen=True, kw_only=True):
    """The worker claims success, and the atom's check agrees."""

    summary: str
    artifacts: tuple[str, ...] = ()


class WorkFailed(OfAttempt, frozen=True, kw_only=True):
    reason: str
    because_of: tuple[str, ...] = ()
    """Atoms whose results are in its way, as the agent sees it."""
    progress: bool = False
    """Part of the work is there, and holds: the next attempt starts from it."""
    wants_probe: bool = False
    """The agent asks for a probe before the next attempt."""


class ChildrenProposed(OfAttempt, frozen=True, kw_only=True):
    children: tuple[Child, ...]
    reason: str


class ProbeReturned(OfAttempt, frozen=True, kw_only=True):
    feasible: bool
    findings: str
    estimate: float | None = None
    children: tuple[Child, ...] = ()


class MustWait(OfAttempt, frozen=True, kw_only=True):
    """The attempt could not be made now (rate limit); WaitOver says when it can.

    `for_good`: it will not be possible in this run (a program that is not there): a person is needed.
    """

    reason: str
    for_good: bool = False


class WaitOver(Report, frozen=True, kw_only=True):
    atom: str


# --- merging -----------------------------------------------------------------------------------------------------


class Merged(OfAttempt, frozen=True, kw_only=True):
    commit: str | None = None


class BranchMoved(Report, frozen=True, kw_only=True):
    """Somebody else has committed: what was found out about the branch may not be so any more."""


class MergeRefused(OfAttempt, frozen=True, kw_only=True):
    """Together with what was merged meanwhile it does not pass its check, or it touches what it may not touch."""

    reason: str
    progress: bool = False


class MergeConflicted(OfAttempt, frozen=True, kw_only=True):
    """With what these atoms contributed while it worked."""

    others: tuple[str, ...] = ()


class MergeBlocked(OfAttempt, frozen=True, kw_only=True):
    """Something of a person's stands in the way; the result is kept until Unblocked."""

    reason: str


class Unblocked(OfAttempt, frozen=True, kw_only=True):
    pass


class Reverted(Report, frozen=True, kw_only=True):
    """`problem`: why it could not be done."""

    problem: str | None = None


# --- checks ------------------------------------------------------------------------------------------------------


class ParentChecked(Report, frozen=True, kw_only=True):
    atom: str
    passed: bool
    reason: str = ""


class Verified(Report, frozen=True, kw_only=True):
    """`evidence` for every failing item of the verdict."""

    number: int
    verdict: Verdict
    evidence: dict[str, str] = {}
