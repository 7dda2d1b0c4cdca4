"""Reports of a driver to a run: the results of effects and other events. Reports about finished work are ignored."""

from __future__ import annotations

import msgspec

from aotloop.core.events import Child, Event
from aotloop.core.model import Verdict


class Report(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    """The time in ISO 8601. No code here reads a clock."""


# --- the run -----------------------------------------------------------------------------------------------------


class Began(Report, frozen=True, kw_only=True):
    """The gate is open. Atoms that a dead run left in progress are pending again.

    If the last verdict judged this commit and failed, the base case is not evaluated again, and the work begins at
    once. So `commit` is not given without git, or if ResultFound may still report results of an earlier run.
    """

    run_id: str | None = None
    objective_digest: str | None = None
    commit: str | None = None


class ResultFound(Report, frozen=True, kw_only=True):
    """An attempt of an earlier run had finished in this epoch. It only needs a merge."""

    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


class Happened(Report, frozen=True, kw_only=True):
    """An action of a person: a request, a correction, or money spent."""

    event: Event


class Halted(Report, frozen=True, kw_only=True):
    """The run cannot continue for a reason outside of the loop. Running work ends, and its results are kept."""

    reason: str


class LoopReplaced(Report, frozen=True, kw_only=True):
    """Another process changed the loop. `Run.loop` already holds the new loop."""


# --- attempts ----------------------------------------------------------------------------------------------------


class OfAttempt(Report, frozen=True, kw_only=True, tag=True):
    """A stored report contains its type name, because a dead run may leave a report to the next run."""

    attempt: int


class WorkDone(OfAttempt, frozen=True, kw_only=True):
    """The worker claims success, and the atom's check passes."""

    summary: str
    artifacts: tuple[str, ...] = ()


class WorkFailed(OfAttempt, frozen=True, kw_only=True):
    reason: str
    because_of: tuple[str, ...] = ()
    """Atoms whose results block this one, in the agent's opinion."""
    progress: bool = False
    """Part of the work is done and passes. The next attempt starts from it."""
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
    """The attempt cannot be made now (rate limit). WaitOver says when it can.

    `for_good`: it is not possible in this run (a missing program). A person is needed.
    """

    reason: str
    for_good: bool = False
    of_all: bool = False
    """The reason is none of this atom: every other one has it, too."""


class WaitOver(Report, frozen=True, kw_only=True):
    atom: str


# --- merging -----------------------------------------------------------------------------------------------------


class Merged(OfAttempt, frozen=True, kw_only=True):
    commit: str | None = None


class BranchMoved(Report, frozen=True, kw_only=True):
    """Another process committed to the branch, so earlier facts about the branch may be outdated."""


class MergeRefused(OfAttempt, frozen=True, kw_only=True):
    """Together with newer merges it fails its check, or it touches a forbidden file."""

    reason: str
    progress: bool = False


class MergeConflicted(OfAttempt, frozen=True, kw_only=True):
    """It conflicts with contributions of these atoms that were merged while it worked."""

    others: tuple[str, ...] = ()


class MergeBlocked(OfAttempt, frozen=True, kw_only=True):
    """A person's files block the merge. The result is kept until Unblocked."""

    reason: str


class Unblocked(OfAttempt, frozen=True, kw_only=True):
    pass


class Reverted(Report, frozen=True, kw_only=True):
    """`problem`: why the revert failed."""

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
