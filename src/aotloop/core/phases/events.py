"""What can happen to a phase loop: facts in the past tense, each with its time, and with what was found out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.core.phases.facts import Facts
from aotloop.core.phases.model import Checkpoint, Phase, Receipt


class PhaseEvent(msgspec.Struct, frozen=True, kw_only=True):
    at: str


class IterationEnded(PhaseEvent, frozen=True, kw_only=True):
    """An agent's turn is over, and the phase is not. `tests_pass`: the acceptance tests, if anybody has run them."""

    session_id: str | None = None
    tests_pass: bool | None = None


class ReceiptFiled(PhaseEvent, frozen=True, kw_only=True):
    """Somebody claims that the phase is done; `facts` are what was found when it was looked into."""

    receipt: Receipt
    facts: Facts


class ApprovalGiven(PhaseEvent, frozen=True, kw_only=True):
    """A person agrees to the acceptance tests; `facts` are of the moment in which it did."""

    facts: Facts


class ApprovalRefused(PhaseEvent, frozen=True, kw_only=True):
    reason: str


class PromiseMade(PhaseEvent, frozen=True, kw_only=True):
    """The agent wrote the completion promise. `facts`: of each receipt, by phase, as things are now."""

    session_id: str | None = None
    text: str
    facts: Mapping[Phase, Facts]


class CheckpointWritten(PhaseEvent, frozen=True, kw_only=True):
    checkpoint: Checkpoint


class ErrorMet(PhaseEvent, frozen=True, kw_only=True):
    message: str


class ArtifactsNamed(PhaseEvent, frozen=True, kw_only=True):
    """None: as it was. Files of phases are named by their receipts."""

    progress_file: str | None = None
    pr_url: str | None = None
    branch: str | None = None


class SessionBound(PhaseEvent, frozen=True, kw_only=True):
    """`take_over`: a person wants it even if another session drives the loop. None: no session does any more."""

    session_id: str | None
    take_over: bool = False


class AcceptanceRun(PhaseEvent, frozen=True, kw_only=True):
    """The acceptance tests were run by us, at this commit; they passed, or ran and failed."""

    passed: bool
    commit: str


class MoneySpent(PhaseEvent, frozen=True, kw_only=True):
    """`usd`: all that this turn, or this graph, has cost so far."""

    of: str
    usd: float


class PhaseForced(PhaseEvent, frozen=True, kw_only=True):
    """A person wants the phase to be left as it is. `tests_pass`: the acceptance tests, if anybody has run them."""

    reason: str
    tests_pass: bool | None = None


class LoopStopped(PhaseEvent, frozen=True, kw_only=True):
    reason: str


class LoopResumed(PhaseEvent, frozen=True, kw_only=True):
    """A person wants it to go on, perhaps with other limits. The phase gets its iterations anew."""

    max_iterations: int | None = None
    max_phase_iterations: int | None = None
    max_fix_cycles: int | None = None
    budget_limit_usd: float | None = None
    enforce_budget: bool | None = None


class LoopCancelled(PhaseEvent, frozen=True, kw_only=True):
    reason: str
