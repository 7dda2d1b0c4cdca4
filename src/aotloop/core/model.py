"""The model of a loop. Field names are the keys of the state file; no code here computes anything.

Entries (an atom, a binding, a trail entry, …) are frozen: a change replaces the entry. So two versions of a loop can be
compared by identity, and the writer rewrites only new entries. The containers of `Loop` are mutable.
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
    """A value of the file. A change replaces it and never modifies it."""


# --- objective ---------------------------------------------------------------------------------------------------


class Criterion(Entry, frozen=True, kw_only=True):
    criterion: str
    weight: float
    description: str | None = None
    levels: dict[int, str] = {}


class CheckTerms(Entry, frozen=True, kw_only=True):
    """The fields of all check types. aotloop.core.checks.checklist says which fields a type needs."""

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
    """A checklist or, as before version 1.3, the fields of one single check."""

    checklist: tuple[ChecklistItem, ...] | None = None
    type: CheckType | None = None


class AtomCheck(CheckTerms, frozen=True, kw_only=True):
    """The check of one atom: the fields of a check, or a group, or an any_of."""

    type: CheckType | None = None
    group: tuple[ChecklistItem, ...] | None = None
    any_of: tuple[ChecklistItem, ...] | None = None


class Constraints(Entry, frozen=True, kw_only=True):
    """The constraints as agreed. `effort` sets the values that are None; see aotloop.core.limits.limits_of."""

    effort: Effort = "normal"
    max_iterations: int | None = None
    max_parallel_agents: int = 3
    max_stall_count: int | None = None
    max_attempts: int | None = None
    """The longest turn: this many failures in a row before the next alternative of a group has its turn."""
    max_total_attempts: int | None = None
    """Attempts of the whole loop. None: a share for each atom of the file."""
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
    """The last evaluation of the base case: its objective, its commit and its result."""

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
    """An atom was resolved, was reset or failed since then, so the verdict may not describe the present state."""


class Generation(Entry, frozen=True, kw_only=True):
    """The events since the last generation ended, as far as its judgement needs them."""

    outcomes: int = 0
    """Attempts that ended in this generation."""
    least: int = 0
    """The generation is judged only after this many attempts have ended."""
    got_smaller: bool = False
    """A choice was selected for the first time, or a verdict had fewer failing items than any before."""
    resolved: int = 0
    """Resolved atoms, without repairs."""
    grown: tuple[str, ...] = ()
    """Atoms that were decomposed."""
    grew_before: tuple[str, ...] = ()
    """Atoms decomposed in the previous generation, if it resolved nothing."""


class Used(Entry, frozen=True, kw_only=True):
    """Model usage of all agents: tokens and turns. Tokens read from a cache do not count as input."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int = 0


class Prices(Entry, frozen=True, kw_only=True):
    """The cost of attempts and probes, and the number of probes that said no. They decide whether a probe pays."""

    attempts: int = 0
    attempts_usd: float = 0.0
    attempts_seconds: float = 0.0
    probes: int = 0
    probes_usd: float = 0.0
    probes_seconds: float = 0.0
    negative: int = 0


class Steering(Entry, frozen=True, kw_only=True):
    """The last instruction to the agent that coordinates the loop in a session and wanted to end."""

    mark: str = ""
    """The state of the loop at that time. The same mark now means that nothing has changed."""
    sent_back: int = 0
    """How often in a row the agent was sent back without any change."""
    asked: Asked = ""
    """The instruction asked for a verification of the base case, or for a judgement of undecided items."""
    coordinator: str = ""
    """The agent that coordinates the loop now, as the client names it, or the call that starts it. Empty: none."""


class Control(Entry, frozen=True, kw_only=True):
    status: LoopStatus
    iteration: int
    stall_count: int
    prev_pending_count: int
    stop_requested: bool
    stop_reason: str | None = None
    redirect_requested: bool
    paused: bool = False
    """A person asked for a pause: nothing new starts, and what runs goes on. A start of the loop ends it."""
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
    """All attempts that counted."""
    won: int = 0
    """Atoms that an attempt resolved."""
    needed: int = 0
    """All attempts that those atoms needed."""
    fewest_unresolved: int | None = None
    """The lowest number of unresolved atoms since the objective was agreed. Added atoms are added to this number."""
    shares: int | None = None
    """Atoms that add attempts: those present at the start of the loop, and those that a person granted since."""
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
    parallel: bool = False
    """The command of `run` may share the project's folder with others, without isolation."""
    covers: tuple[str, ...] = ()
    """Items of the base case that this atom makes true. They are its check."""
    probe: bool = False
    agent: str | None = None
    timeout: Duration | None = None
    estimate: float | None = None
    attempts: int = 0
    """Failures in this turn."""
    failures: int = 0
    """Failures since the last change below it, including those of earlier turns."""
    alike: int = 0
    """Failures in a row with the same evidence."""
    partial: bool = False
    """A failed attempt left work that passes."""
    reopened: bool = False
    """The atom was resolved, but an item that it covers failed later. Its contribution is still there."""
    findings: str | None = None
    """The findings of a probe. None if there was no probe."""
    whole: bool = False
    """A decomposition did not help, so the atom is done in one piece."""
    repairs: str | None = None
    """The base case item, or the atom, whose check failed. This atom must repair it."""


class Decomposition(Entry, frozen=True, kw_only=True):
    parent: str
    children: tuple[str, ...]
    reason: str


class OrGroup(Entry, frozen=True, kw_only=True):
    choices: tuple[str, ...]
    selected: str
    failed: tuple[str, ...] = ()
    """Choices that had their turn in this round."""
    blamed: dict[str, tuple[str, ...]] = {}
    """Choices left in this round because of the work built on them, each with the groups that share the blame."""
    round: int = 0
    """How often all choices had their turn."""
    seen: tuple[str, ...] = ()
    """Choices that were selected at some time, without the first one."""
    blames: dict[str, int] = {}
    """How often a choice was left because of the work built on it."""
    hints: dict[str, tuple[str, ...]] = {}
    """For each choice, the atoms that reported once that it blocks them."""
    speculative: bool = False
    won: str | None = None
    """The winner of the race. The race is not run again while this choice is kept."""


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
        """A copy that is independent of later changes: it shares entries, but not containers."""
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
