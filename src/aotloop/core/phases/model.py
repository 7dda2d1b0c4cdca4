"""What a phase loop consists of. Field names are the keys of `.claude/autonomous-loop.json`; nothing here computes.

Everything is frozen: `advance` returns another state. The keys below `ours` are additive: a file without them is
complete, and one that is at its default is never written.
"""

from __future__ import annotations

from typing import Literal, get_args

from aotloop.core.model import Entry

Phase = Literal[
    "brainstorm", "plan", "spec_test", "deepen", "work", "review", "fix", "re_review", "compound", "test", "ship"
]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""In their order."""

Status = Literal["running", "waiting", "stopped", "completed", "cancelled"]
"""waiting: for a person's word on the acceptance tests. completed and cancelled are final."""

VERSION = 2


class Artifacts(Entry, frozen=True, kw_only=True):
    brainstorm_file: str | None = None
    plan_file: str | None = None
    acceptance_tests_file: str | None = None
    progress_file: str | None = None
    pr_url: str | None = None
    branch: str | None = None


class Receipt(Entry, frozen=True, kw_only=True):
    """What a phase claims to have produced; whether that is so is decided in aotloop.core.phases.receipts."""

    phase: Phase
    artifact: str
    git_sha: str
    timestamp: str


class Checkpoint(Entry, frozen=True, kw_only=True):
    """What whoever lost its memory is told about a phase."""

    phase: Phase
    summary: str
    failed_approaches: tuple[str, ...] = ()
    timestamp: str


class ErrorRecord(Entry, frozen=True, kw_only=True):
    phase: Phase
    message: str
    iteration: int
    timestamp: str
    # ours
    forced: bool = False
    """The phase was left by force, without having been completed."""
    refused: bool = False
    """A receipt that did not verify."""


class AcceptanceVerdict(Entry, frozen=True, kw_only=True):
    """What the acceptance tests said when we ran them last, and at which commit that was."""

    passed: bool
    commit: str
    timestamp: str


class Bill(Entry, frozen=True, kw_only=True):
    """What one turn, or one graph, has cost so far: told again after a crash, it is not counted again."""

    of: str
    usd: float


class PhaseLoop(Entry, frozen=True, kw_only=True):
    version: int = VERSION
    feature: str
    phase: Phase
    phase_iteration: int = 0
    global_iteration: int = 0
    max_iterations: int = 50
    max_phase_iterations: int = 10
    fix_review_cycles: int = 0
    max_fix_cycles: int = 3
    phases_completed: tuple[Phase, ...] = ()
    artifacts: Artifacts = Artifacts()
    receipts: tuple[Receipt, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    errors: tuple[ErrorRecord, ...] = ()
    budget_limit_usd: float = 20
    completion_promise: str = "SHIPPED"
    skip_brainstorm: bool = False
    skip_test_review: bool = False
    started_at: str
    last_updated: str
    # ours
    status: Status = "running"
    stop_reason: str | None = None
    phase_started_at: str | None = None
    session_id: str | None = None
    """The session that drives the loop; none: it is driven from outside of any."""
    spent_usd: float = 0
    """As far as agents tell what they cost."""
    bills: tuple[Bill, ...] = ()
    """Of which that is the sum."""
    enforce_budget: bool = False
    """Stop when the budget is spent, instead of warning."""
    no_graph: bool = False
    """One agent does the work, instead of a loop over the steps of the plan."""
    tests_verdict: AcceptanceVerdict | None = None


OURS: dict[type, tuple[str, ...]] = {
    PhaseLoop: (
        "status",
        "stop_reason",
        "phase_started_at",
        "session_id",
        "spent_usd",
        "bills",
        "enforce_budget",
        "no_graph",
        "tests_verdict",
    ),
    ErrorRecord: ("forced", "refused"),
}
"""Additive keys, written only when they say something. All others are in every file that we write."""
