"""Events of a phase loop: facts in the past tense, each with its time and with the facts that were established."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.core.phases.model import Checkpoint, Phase, Receipt


class PhaseEvent(msgspec.Struct, frozen=True, kw_only=True):
    at: str


class IterationEnded(PhaseEvent, frozen=True, kw_only=True):
    """An agent's turn is over, but the phase is not. `tests_pass`: of the acceptance tests, if they were run."""

    session_id: str | None = None
    tests_pass: bool | None = None


class ReceiptFiled(PhaseEvent, frozen=True, kw_only=True):
    """An agent or a person claims that the phase is done. `facts`: what aotloop itself established about the claim."""

    receipt: Receipt
    facts: Facts


class ApprovalGiven(PhaseEvent, frozen=True, kw_only=True):
    """A person agrees to the acceptance tests. `facts` describe the moment of the agreement."""

    facts: Facts


class ApprovalRefused(PhaseEvent, frozen=True, kw_only=True):
    reason: str


class PromiseMade(PhaseEvent, frozen=True, kw_only=True):
    """The agent wrote the completion promise. `facts`: the present facts of each receipt, by phase."""

    session_id: str | None = None
    text: str
    facts: Mapping[Phase, Facts]


class CheckpointWritten(PhaseEvent, frozen=True, kw_only=True):
    checkpoint: Checkpoint


class ErrorMet(PhaseEvent, frozen=True, kw_only=True):
    message: str


class ArtifactsNamed(PhaseEvent, frozen=True, kw_only=True):
    """Names of files. None: no change. Receipts name the files of phases."""

    progress_file: str | None = None
    pr_url: str | None = None
    branch: str | None = None


class SessionBound(PhaseEvent, frozen=True, kw_only=True):
    """`take_over`: a person wants this session, even if another one drives the loop. None: no session drives it."""

    session_id: str | None
    take_over: bool = False


class AcceptanceRun(PhaseEvent, frozen=True, kw_only=True):
    """aotloop ran the acceptance tests at this commit. They passed, or ran and failed."""

    passed: bool
    commit: str


class MoneySpent(PhaseEvent, frozen=True, kw_only=True):
    """`usd`: the total cost of this turn, or of this graph, so far."""

    of: str
    usd: float


class PhaseForced(PhaseEvent, frozen=True, kw_only=True):
    """A person wants to leave the phase unfinished. `tests_pass`: of the acceptance tests, if they were run."""

    reason: str
    tests_pass: bool | None = None


class LoopStopped(PhaseEvent, frozen=True, kw_only=True):
    reason: str


class LoopResumed(PhaseEvent, frozen=True, kw_only=True):
    """A person wants the loop to continue, perhaps with other limits. The phase gets all its iterations again."""

    max_iterations: int | None = None
    max_phase_iterations: int | None = None
    max_fix_cycles: int | None = None
    budget_limit_usd: float | None = None
    enforce_budget: bool | None = None


class LoopCancelled(PhaseEvent, frozen=True, kw_only=True):
    reason: str


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    artifact_exists: bool | None = None
    """The artifact is a file in the project."""
    artifact_has_content: bool | None = None
    commit_known: bool | None = None
    """The commit is in this repository, and part of the checked-out history."""
    commit_is_newer: bool | None = None
    """The commit is newer than the beginning of the phase."""
    plan_names_files_and_steps: bool | None = None
    tests_pass: bool | None = None
    """The acceptance tests, run by aotloop just now. False: they ran and failed. None: they could not run."""
    tests_said: str = ""
    """The evidence for `tests_pass`: how the tests ended, or why they could not run."""
    tests_untouched: bool | None = None
    """The acceptance tests are the same as in the receipt of spec_test."""
    open_findings: int | None = None
    """Findings of the last review that are neither resolved nor accepted."""
    has_branch_or_pull_request: bool | None = None
