"""What can happen to a loop: facts in the past tense. Time arrives on events; nothing here reads a clock."""

from __future__ import annotations

import msgspec

from aotloop.core.model import AtomCheck, Verdict


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that `advance` takes in, or refuses as impossible in the state the loop is in."""


# --- atoms -------------------------------------------------------------------------------------------------------


class AtomStarted(Event, frozen=True, kw_only=True):
    atom: str


class AtomResolved(Event, frozen=True, kw_only=True):
    """The work is done and, if the atom has a check, the check passed."""

    atom: str
    summary: str | None = None
    artifacts: tuple[str, ...] = ()


class AtomAbandoned(Event, frozen=True, kw_only=True):
    """Given up without a result; counts as no attempt."""

    atom: str


class AtomFailed(Event, frozen=True, kw_only=True):
    atom: str
    reason: str
    at: str


class BindingWritten(Event, frozen=True, kw_only=True):
    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


# --- the graph ---------------------------------------------------------------------------------------------------


class AtomAdded(Event, frozen=True, kw_only=True):
    """`atom` None: the next free number. A group that does not exist yet is made, with this atom selected."""

    description: str
    atom: str | None = None
    depends_on: tuple[str, ...] = ()
    or_group: str | None = None
    run: str | None = None
    check: AtomCheck | None = None
    estimate: float | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    description: str
    atom: str | None = None


class AtomDecomposed(Event, frozen=True, kw_only=True):
    parent: str
    children: tuple[Child, ...]
    reason: str


class BranchSwitched(Event, frozen=True, kw_only=True):
    """The selected choice is given up as failed; another takes its place."""

    or_group: str
    choice: str
    reason: str
    at: str


# --- the loop ----------------------------------------------------------------------------------------------------


class LoopStarted(Event, frozen=True, kw_only=True):
    """Through the gate; that it is open was established before."""


class LoopStopped(Event, frozen=True, kw_only=True):
    reason: str | None = None


class StopRequested(Event, frozen=True, kw_only=True):
    reason: str | None = None


class VerdictReached(Event, frozen=True, kw_only=True):
    verdict: Verdict


class LoopCompleted(Event, frozen=True, kw_only=True):
    """The base case holds, as the verdict recorded for this objective says."""

    objective_digest: str
    commit: str | None = None
