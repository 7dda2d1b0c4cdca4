"""What a loop consists of. Field names are the keys of the state file; nothing here computes.

Entries (an atom, a binding, a trail entry, …) are frozen: a change replaces the entry, so that two versions of a
loop can be compared by identity and the writer rewrites only what is new. The containers of `Loop` are mutable.
"""

from __future__ import annotations

from typing import Literal

import msgspec

LoopStatus = Literal["pending", "running", "stopped", "completed"]
AtomStatus = Literal["pending", "in_progress", "resolved"]
CheckType = Literal["command", "not_command", "file", "not_file", "assertion", "quality"]
TrailType = Literal["selection", "failure", "user_correction"]
CorrectionType = Literal["objective_change", "dag_adjustment", "constraint_change", "bindings_override"]
Asked = Literal["", "verify", "judge"]
Effort = Literal["low", "normal", "high"]
Duration = int | float | str
"""Seconds, or a text such as "90s", "30m", "3h"; see aotloop.core.limits.seconds."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A value of the file that is replaced, never changed."""


# --- objective ---------------------------------------------------------------------------------------------------


class Criterion(Entry, frozen=True, kw_only=True):
    criterion: str
    weight: float
    description: str | None = None
    levels: dict[int, str] = {}


class CheckTerms(Entry, frozen=True, kw_only=True):
    """What a check of any type may carry; which of it a type needs is said in aotloop.core.checklist."""

    value: str | None = None
    rubric: tuple[Criterion, ...] | None = None
    criteria: str | None = None
    pass_threshold: float | None = None
    scope: str | tuple[str, ...] | None = None


class Check(CheckTerms, frozen=True, kw_only=True):
    type: CheckType


class ChecklistItem(Entry, frozen=True, kw_only=True):
    """Exactly one of check, group (all must pass) and any_of (one must pass)."""

    item: str
    check: Check | None = None
    group: tuple[ChecklistItem, ...] | None = None
    any_of: tuple[ChecklistItem, ...] | None = None


class BaseCase(CheckTerms, frozen=True, kw_only=True):
    """Either a checklist, or, as before version 1.3, the terms of one single check."""

    checklist: tuple[ChecklistItem, ...] | None = None
    type: CheckType | None = None


class AtomCheck(CheckTerms, frozen=True, kw_only=True):
    """Decides one atom: the terms of a check, or a group, or an any_of."""

    type: CheckType | None = None
    group: tuple[ChecklistItem, ...] | None = None
    any_of: tuple[ChecklistItem, ...] | None = None


class Constraints(Entry, frozen=True, kw_only=True):
    """As they were agreed on. What is None is set by `effort`; see aotloop.core.limits.limits_of."""

    effort: Effort = "normal"
    max_iterations: int | None = None
    max_parallel_agents: int = 3
    max_stall_count: int | None = None
    max_attempts: int | None = None
    """The longest turn: failures in a row before the next alternative of a group has its turn."""
    max_total_attempts: int | None = None
    """Attempts of the whole loop; None: a share for each atom of the file."""
    max_depth: int = 3
    max_children: int = 8
    max_cost_usd: float | None = None
    max_runtime: Duration | None = None
    verify_each_iteration: bool = False


class Objective(Entry, frozen=True, kw_only=True):
    goal: str
    base_case: BaseCase
    background_intent: str
    deliverables: str
    definition_of_done: str
    constraints: Constraints = Constraints()
    protect: tuple[str, ...] = ()


# --- control -----------------------------------------------------------------------------------------------------


class Verdict(Entry, frozen=True, kw_only=True):
    """The last evaluation of the base case: of which objective, at which commit, and how it went."""

    passed: bool
    objective_digest: str
    at: str
    commit: str | None = None
    undecided: bool = False
    failing: tuple[str, ...] = ()
    fewest_failing: int | None = None
    repair_rounds: dict[str, int] = {}
    scores: dict[str, dict[str, float]] = {}
    outdated: bool = False
    """An atom was resolved, reset or has failed since: it says nothing about what is there now."""


class Generation(Entry, frozen=True, kw_only=True):
    """What happened since the last generation ended, as far as its judgement needs it."""

    outcomes: int = 0
    """Attempts that ended in it."""
    least: int = 0
    """It is not judged before so many attempts have ended."""
    got_smaller: bool = False
    """A choice was selected for the first time, or a verdict has fewer failing items than any before."""
    resolved: int = 0
    """Atoms, repairs not counted."""
    grown: tuple[str, ...] = ()
    """Atoms that were decomposed."""
    grew_before: tuple[str, ...] = ()
    """Atoms decomposed in the generation before, if that one resolved nothing."""


class Used(Entry, frozen=True, kw_only=True):
    """What agents used of their models, all in all: tokens, and turns. What is read from a cache is no input."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int = 0


class Prices(Entry, frozen=True, kw_only=True):
    """What attempts and probes have cost so far, and how many probes said no: whether another probe pays."""

    attempts: int = 0
    attempts_usd: float = 0.0
    attempts_seconds: float = 0.0
    probes: int = 0
    probes_usd: float = 0.0
    probes_seconds: float = 0.0
    negative: int = 0


class Steering(Entry, frozen=True, kw_only=True):
    """What whoever coordinates the loop in a session was last told when it wanted to end."""

    mark: str = ""
    """Of the loop as it was then: with the same mark, nothing has come of it."""
    sent_back: int = 0
    """How often in a row, with nothing having come of it."""
    asked: Asked = ""
    """It was told to have the base case verified, or what is undecided in it judged."""


class Control(Entry, frozen=True, kw_only=True):
    status: LoopStatus
    iteration: int
    stall_count: int
    prev_pending_count: int
    stop_requested: bool
    stop_reason: str | None = None
    redirect_requested: bool
    run_id: str | None = None
    epoch: int = 0
    session_id: str | None = None
    cost_usd: float = 0.0
    used: Used = Used()
    objective_digest: str | None = None
    last_sha: str | None = None
    verdict: Verdict | None = None
    generation: Generation = Generation()
    ran_seconds: float = 0.0
    steering: Steering = Steering()
    tried: int = 0
    """Attempts that counted, in all."""
    won: int = 0
    """Atoms that an attempt resolved."""
    needed: int = 0
    """Attempts that those atoms needed, in all."""
    fewest_unresolved: int | None = None
    """There were never fewer unresolved atoms since the objective was agreed on; what was added is added here."""
    shares: int | None = None
    """Atoms that bring attempts: those there when the loop started, and what a person granted since."""
    prices: Prices = Prices()


# --- work graph --------------------------------------------------------------------------------------------------


class Atom(Entry, frozen=True, kw_only=True):
    id: str
    description: str
    status: AtomStatus
    depends_on: tuple[str, ...]
    or_group: str | None = None
    run: str | None = None
    check: AtomCheck | None = None
    touches: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    """Items of the base case that this atom makes true: they are its check."""
    probe: bool = False
    agent: str | None = None
    timeout: Duration | None = None
    estimate: float | None = None
    attempts: int = 0
    """Failures in this turn."""
    failures: int = 0
    """Failures since what it rests on changed last, those of earlier turns included."""
    alike: int = 0
    """Failures in a row with the same evidence."""
    partial: bool = False
    """A failed attempt left work behind that holds."""
    reopened: bool = False
    """It was resolved, and what it covers failed after all: what it contributed is still there."""
    findings: str | None = None
    """What a probe found out; None if none was there."""
    whole: bool = False
    """Decomposing it led nowhere; it is done in one piece."""
    repairs: str | None = None
    """The item of the base case, or the atom, whose check failed and which this atom is to mend."""


class Decomposition(Entry, frozen=True, kw_only=True):
    parent: str
    children: tuple[str, ...]
    reason: str


class OrGroup(Entry, frozen=True, kw_only=True):
    choices: tuple[str, ...]
    selected: str
    failed: tuple[str, ...] = ()
    """Choices that have had their turn in this round."""
    blamed: dict[str, tuple[str, ...]] = {}
    """Choices left for what was built on them in this round, with the groups they may not go together with."""
    round: int = 0
    """How often all choices have had their turn."""
    seen: tuple[str, ...] = ()
    """Choices that were selected at some time, the first one not counted."""
    blames: dict[str, int] = {}
    """How often a choice was left for what was built on it."""
    hints: dict[str, tuple[str, ...]] = {}
    """By choice, the atoms that said once that it is in their way."""
    speculative: bool = False
    won: str | None = None
    """Who was first in the race; it is not run again as long as this choice is not given up."""


class Binding(Entry, frozen=True, kw_only=True):
    summary: str
    artifacts: tuple[str, ...] = ()


class TrailEntry(Entry, frozen=True, kw_only=True):
    or_group: str | None = None
    selected: str | None = None
    reason: str
    timestamp: str
    type: TrailType = "selection"
    atom: str | None = None
    attempt: int | None = None


class Correction(Entry, frozen=True, kw_only=True):
    timestamp: str
    type: CorrectionType
    description: str
    trail_cleared: bool


class Loop(msgspec.Struct, kw_only=True):
    objective: Objective
    control: Control
    atoms: list[Atom]
    decompositions: list[Decomposition] = []
    or_groups: dict[str, OrGroup] = {}
    bindings: dict[str, Binding] = {}
    trail: list[TrailEntry] = []
    corrections: list[Correction] = []

    def snapshot(self) -> Loop:
        """A copy that later changes of this loop do not reach: entries are shared, containers are not."""
        return Loop(
            objective=self.objective,
            control=self.control,
            atoms=self.atoms.copy(),
            decompositions=self.decompositions.copy(),
            or_groups=self.or_groups.copy(),
            bindings=self.bindings.copy(),
            trail=self.trail.copy(),
            corrections=self.corrections.copy(),
        )
