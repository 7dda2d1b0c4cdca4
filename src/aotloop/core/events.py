"""What can happen to a loop: facts in the past tense. Time arrives on events; nothing here reads a clock."""

from __future__ import annotations

import msgspec

from aotloop.core.effects import Role
from aotloop.core.model import Asked, Atom, AtomCheck, Constraints, Decomposition, Objective, OrGroup, Used, Verdict


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that `advance` takes in, or refuses as impossible in the state the loop is in."""


# --- atoms -------------------------------------------------------------------------------------------------------


class AtomStarted(Event, frozen=True, kw_only=True):
    atom: str


class AtomResolved(Event, frozen=True, kw_only=True):
    """The work is done and, if the atom has a check, the check passed. `at` dates the choice this may settle.

    `commit` is what the branch was moved to by it.
    """

    atom: str
    summary: str | None = None
    artifacts: tuple[str, ...] = ()
    at: str = ""
    commit: str | None = None


class AtomAbandoned(Event, frozen=True, kw_only=True):
    """Given up without a result; counts as no attempt."""

    atom: str


class AtomFailed(Event, frozen=True, kw_only=True):
    """`final`: trying the same once more would show the same, as long as nothing else changes: its turn is over."""

    atom: str
    reason: str
    at: str
    final: bool = False
    because_of: tuple[str, ...] = ()
    """Atoms whose results are in its way, as the agent sees it."""
    progress: bool = False
    """Part of the work is there, and holds."""
    wants_probe: bool = False
    """The agent asks for a probe before the next attempt."""


class AtomProbed(Event, frozen=True, kw_only=True):
    """Somebody looked, without changing anything, whether it can be done, and at what cost (in minutes)."""

    atom: str
    feasible: bool
    findings: str
    at: str
    estimate: float | None = None


class AlternativeSought(Event, frozen=True, kw_only=True):
    """An atom has failed and is not tried again as it is: another try could not differ."""

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
    covers: tuple[str, ...] = ()
    estimate: float | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a decomposed atom. `depends_on` names other parts, by `name`, or atoms that are there already; parts
    with the same `or_group` are alternatives to one another, the first of them is tried first. `covers` names items of
    the base case, and `probe` asks for a probe before the first attempt.
    """

    description: str
    atom: str | None = None
    name: str | None = None
    depends_on: tuple[str, ...] = ()
    or_group: str | None = None
    estimate: float | None = None
    covers: tuple[str, ...] = ()
    probe: bool = False


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
    """Through the gate; that it is open was established before. What is not given stays as it is."""

    run_id: str | None = None
    objective_digest: str | None = None


class SessionBound(Event, frozen=True, kw_only=True):
    """This session drives the loop from now on; None: no session does. `take_over`: a person gave it the loop, whoever
    else has it.
    """

    session_id: str | None
    take_over: bool = False


class LoopStopped(Event, frozen=True, kw_only=True):
    reason: str | None = None


class Steered(Event, frozen=True, kw_only=True):
    """Whoever coordinates the loop in a session wanted to end, and was told something.

    `mark` tells what the loop is like now. `is_in_vain`: it is what it was when something was said last.
    """

    mark: str
    is_sent_back: bool = False
    is_in_vain: bool = False
    asked: Asked = ""


class StopRequested(Event, frozen=True, kw_only=True):
    reason: str | None = None


class VerdictReached(Event, frozen=True, kw_only=True):
    verdict: Verdict


class LoopCompleted(Event, frozen=True, kw_only=True):
    """The base case holds at this commit, as the recorded verdict says.

    `confirmed`: a person looked at it; only that completes a loop that has been stopped.
    """

    commit: str | None = None
    confirmed: bool = False


class BaseCaseFailed(Event, frozen=True, kw_only=True):
    """Everything is resolved, yet the recorded verdict did not pass: the failing items, each with its evidence."""

    failing: dict[str, str]
    at: str


class GenerationBegan(Event, frozen=True, kw_only=True):
    """The slots are filled. One that was begun and not judged goes on under its number."""


class GenerationEnded(Event, frozen=True, kw_only=True):
    """Every attempt that was under way when the generation began, or went on, has been reported."""

    at: str


class AttemptPaid(Event, frozen=True, kw_only=True):
    """What one attempt has cost; the sums of the loop are told by Spent."""

    role: Role
    usd: float = 0.0
    seconds: float = 0.0


class Spent(Event, frozen=True, kw_only=True):
    """Money, time and what models were used for, since it was last said."""

    usd: float = 0.0
    seconds: float = 0.0
    used: Used = Used()


# --- a person's corrections --------------------------------------------------------------------------------------


class RedirectRequested(Event, frozen=True, kw_only=True):
    """A person wants to change direction: what is under way ends, and nothing goes on until a correction is applied."""


class RedirectExpired(Event, frozen=True, kw_only=True):
    """Whoever wanted to change direction went away without doing so."""


class Corrected(Event, frozen=True, kw_only=True):
    """What all corrections say: in a person's words, what was changed, and when."""

    description: str
    at: str


class ObjectiveCorrected(Corrected, frozen=True, kw_only=True):
    """Alignment: essentially a restart. What was chosen and what failed before says nothing any more."""

    objective: Objective


class Realigned(Corrected, frozen=True, kw_only=True):
    """Aligned again: another objective with the graph that goes with it. The loop waits to be started, as if new."""

    objective: Objective
    atoms: tuple[Atom, ...]
    decompositions: tuple[Decomposition, ...] = ()
    or_groups: dict[str, OrGroup] = {}


class ConstraintsCorrected(Corrected, frozen=True, kw_only=True):
    constraints: Constraints


class ScopeExtended(Corrected, frozen=True, kw_only=True):
    added: AtomAdded


class ScopeReduced(Corrected, frozen=True, kw_only=True):
    """An unresolved atom is taken out of the graph, and out of every list that names it."""

    atom: str


class ChoiceForced(Corrected, frozen=True, kw_only=True):
    """A group goes on with this choice, failed before or not; the one it leaves has not failed by that."""

    or_group: str
    choice: str


class BindingOverridden(Corrected, frozen=True, kw_only=True):
    """A result is described anew; what was built on it has to be built again."""

    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


class RetryGranted(Corrected, frozen=True, kw_only=True):
    """Nothing is held against an atom any more, and its share of all attempts comes back."""

    atom: str
