"""Events: facts that can happen to a loop, named in the past tense. Time arrives on events; nothing reads a clock."""

from __future__ import annotations

import msgspec

from aotloop.core.effects import Role
from aotloop.core.model import Asked, Atom, AtomCheck, Constraints, Decomposition, Objective, OrGroup, Used, Verdict


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A fact. `advance` accepts it, or refuses it as impossible in the present state of the loop."""


# --- atoms -------------------------------------------------------------------------------------------------------


class AtomStarted(Event, frozen=True, kw_only=True):
    atom: str


class AtomResolved(Event, frozen=True, kw_only=True):
    """The work is done and, if the atom has a check, the check passed. `at` is the date of the choice this may settle.

    `commit` is the new tip of the branch.
    """

    atom: str
    summary: str | None = None
    artifacts: tuple[str, ...] = ()
    at: str = ""
    commit: str | None = None


class AtomAbandoned(Event, frozen=True, kw_only=True):
    """The attempt ended without a result. It does not count as an attempt."""

    atom: str


class AtomFailed(Event, frozen=True, kw_only=True):
    """An attempt failed. `final`: its turn is over, because the same attempt would fail again while nothing else
    changes.
    """

    atom: str
    reason: str
    at: str
    final: bool = False
    because_of: tuple[str, ...] = ()
    """Atoms whose results block this one, in the agent's opinion."""
    progress: bool = False
    """Part of the work is done, and it passes."""
    wants_probe: bool = False
    """The agent asks for a probe before the next attempt."""


class AtomProbed(Event, frozen=True, kw_only=True):
    """A probe examined whether the atom can be done, and at what cost (in minutes). It changed nothing."""

    atom: str
    feasible: bool
    findings: str
    at: str
    estimate: float | None = None


class AlternativeSought(Event, frozen=True, kw_only=True):
    """An atom has failed, and the same attempt is not repeated, because it would give the same result."""

    atom: str
    reason: str
    at: str


class BindingWritten(Event, frozen=True, kw_only=True):
    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


# --- the graph ---------------------------------------------------------------------------------------------------


class AtomAdded(Event, frozen=True, kw_only=True):
    """A new atom. `atom` None: it gets the next free number. A missing group is created, with this atom selected."""

    description: str
    atom: str | None = None
    depends_on: tuple[str, ...] = ()
    or_group: str | None = None
    run: str | None = None
    check: AtomCheck | None = None
    covers: tuple[str, ...] = ()
    estimate: float | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a decomposed atom.

    `depends_on` names other parts (by `name`) or existing atoms. Parts with the same `or_group` are alternatives; the
    first of them is tried first. `covers` names items of the base case. `probe` asks for a probe before the first
    attempt.
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
    """The selected choice is given up as failed, and another choice replaces it."""

    or_group: str
    choice: str
    reason: str
    at: str


# --- the loop ----------------------------------------------------------------------------------------------------


class LoopStarted(Event, frozen=True, kw_only=True):
    """The loop was started. The caller has checked that the gate is open. Values that are not given stay the same."""

    run_id: str | None = None
    objective_digest: str | None = None


class SessionBound(Event, frozen=True, kw_only=True):
    """This session drives the loop from now on. None: no session does. `take_over`: a person gave the loop to this
    session, even if another session has it.
    """

    session_id: str | None
    take_over: bool = False


class LoopStopped(Event, frozen=True, kw_only=True):
    reason: str | None = None


class Steered(Event, frozen=True, kw_only=True):
    """The agent that coordinates the loop in a session wanted to end, and received an instruction.

    `mark` describes the present state of the loop. `is_in_vain`: the state is the same as at the last instruction.
    """

    mark: str
    is_sent_back: bool = False
    is_in_vain: bool = False
    asked: Asked = ""


class CoordinatorChanged(Event, frozen=True, kw_only=True):
    """An agent of the session that drives the loop coordinates it from now on. Empty: no agent does."""

    agent: str = ""


class StopRequested(Event, frozen=True, kw_only=True):
    reason: str | None = None


class PauseRequested(Event, frozen=True, kw_only=True):
    """Nothing new starts; what runs goes on."""


class PauseEnded(Event, frozen=True, kw_only=True):
    pass


class VerdictReached(Event, frozen=True, kw_only=True):
    verdict: Verdict


class LoopCompleted(Event, frozen=True, kw_only=True):
    """The base case holds at this commit, according to the recorded verdict.

    `confirmed`: a person confirmed it. Only such a confirmation completes a loop that was stopped.
    """

    commit: str | None = None
    confirmed: bool = False


class BaseCaseFailed(Event, frozen=True, kw_only=True):
    """All atoms are resolved, but the recorded verdict did not pass. Contains the failing items with their evidence."""

    failing: dict[str, str]
    at: str


class GenerationBegan(Event, frozen=True, kw_only=True):
    """The slots are filled. A generation that was begun but not judged continues under its number."""


class GenerationEnded(Event, frozen=True, kw_only=True):
    """Every attempt that was running when the generation began or continued has reported."""

    at: str


class AttemptPaid(Event, frozen=True, kw_only=True):
    """The cost of one attempt. `Spent` reports the sums of the loop."""

    role: Role
    usd: float = 0.0
    seconds: float = 0.0


class Spent(Event, frozen=True, kw_only=True):
    """Money, time and model usage since the last report."""

    usd: float = 0.0
    seconds: float = 0.0
    used: Used = Used()


# --- corrections by a person------------------------------------------------------------------------------------


class RedirectRequested(Event, frozen=True, kw_only=True):
    """A person wants to change direction. Running work ends, and the loop waits until a correction is applied."""


class RedirectExpired(Event, frozen=True, kw_only=True):
    """The person who wanted to change direction left without a correction."""


class Corrected(Event, frozen=True, kw_only=True):
    """The fields of all corrections: the person's words, the change, and the time."""

    description: str
    at: str


class ObjectiveCorrected(Corrected, frozen=True, kw_only=True):
    """The objective has changed: this is almost a restart. Earlier choices and failures no longer count."""

    objective: Objective


class Realigned(Corrected, frozen=True, kw_only=True):
    """The loop was aligned again: it has another objective and another graph. It waits for a start, like a new loop."""

    objective: Objective
    atoms: tuple[Atom, ...]
    decompositions: tuple[Decomposition, ...] = ()
    or_groups: dict[str, OrGroup] = {}


class ConstraintsCorrected(Corrected, frozen=True, kw_only=True):
    constraints: Constraints


class ScopeExtended(Corrected, frozen=True, kw_only=True):
    added: AtomAdded


class ScopeReduced(Corrected, frozen=True, kw_only=True):
    """An unresolved atom is removed from the graph, and from every list that names it."""

    atom: str


class ChoiceForced(Corrected, frozen=True, kw_only=True):
    """A group continues with this choice, even if it failed before. The choice it leaves does not count as failed."""

    or_group: str
    choice: str


class BindingOverridden(Corrected, frozen=True, kw_only=True):
    """A result has a new description. Everything that was built on it must be built again."""

    atom: str
    summary: str
    artifacts: tuple[str, ...] = ()


class WorkUndone(Corrected, frozen=True, kw_only=True):
    """The work of these atoms is no longer on the branch. They are open again, with all that was built on them."""

    atoms: tuple[str, ...]


class RetryGranted(Corrected, frozen=True, kw_only=True):
    """All failures of an atom are forgotten, and its share of all attempts is restored."""

    atom: str
