"""The model of a phase loop. Field names are the keys of `.claude/autonomous-loop.json`; nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from aotloop.core.model import Entry

Phase = Literal[
    "brainstorm", "plan", "spec_test", "deepen", "work", "review", "fix", "re_review", "compound", "test", "ship"
]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""All phases in their order."""

Status = Literal["running", "waiting", "stopped", "completed", "cancelled"]
"""waiting: for a person's decision on the acceptance tests. completed and cancelled are final."""

VERSION = 2


class Artifacts(Entry, frozen=True, kw_only=True):
    brainstorm_file: str | None = None
    plan_file: str | None = None
    acceptance_tests_file: str | None = None
    progress_file: str | None = None
    pr_url: str | None = None
    branch: str | None = None


class Receipt(Entry, frozen=True, kw_only=True):
    """The claim of a phase about its product. aotloop.core.phases.receipts decides whether the claim is true."""

    phase: Phase
    artifact: str
    git_sha: str
    timestamp: str


class Checkpoint(Entry, frozen=True, kw_only=True):
    """The information about a phase for an agent that has lost its context."""

    phase: Phase
    summary: str
    failed_approaches: tuple[str, ...] = ()
    timestamp: str


class ErrorRecord(Entry, frozen=True, kw_only=True):
    phase: Phase
    message: str
    iteration: int
    timestamp: str
    # keys of aotloop
    forced: bool = False
    """The phase was left by force and is not completed."""
    refused: bool = False
    """A receipt that did not verify."""


class AcceptanceVerdict(Entry, frozen=True, kw_only=True):
    """The last result of the acceptance tests when aotloop ran them, and the commit."""

    passed: bool
    commit: str
    timestamp: str


class Bill(Entry, frozen=True, kw_only=True):
    """The cost of one turn, or one graph, so far. A repeated report after a crash is not counted again."""

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
    # keys of aotloop
    status: Status = "running"
    stop_reason: str | None = None
    phase_started_at: str | None = None
    session_id: str | None = None
    """The session that drives the loop. None: a process outside of any session drives it."""
    spent_usd: float = 0
    """The cost so far, as far as agents report it."""
    bills: tuple[Bill, ...] = ()
    """The bills that add up to `spent_usd`."""
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
"""Additional keys, written only when they have a value. All other keys are in every written file."""


class ShipSettings(msgspec.Struct, frozen=True, kw_only=True):
    test_command: str | None = None
    """Runs acceptance tests; the path of their file is appended. None: the type of the file decides."""
    test_timeout: float = 600.0
    """Seconds."""
    commands: Mapping[Phase, str] = {}
    """The person's own commands or skills, by phase."""
