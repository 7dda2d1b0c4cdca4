"""The context of a run of the AoT machine. It is put together once, before the run begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from aotloop.checks.judge import Judge
from aotloop.core.model import Atom, Objective, Verdict
from aotloop.core.scheduler.run_state import Run
from aotloop.execution.agent_pool import AgentPool
from aotloop.execution.attempts.attempt import Attempts
from aotloop.execution.attempts.attempt_names import AttemptNames
from aotloop.execution.budget import Budget
from aotloop.execution.checker import Checks
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.journals.journal import Journal
from aotloop.execution.run_events import RunEvent
from aotloop.execution.task import JudgeIn, OnSpent
from aotloop.execution.verification import Verification
from aotloop.fence.checkout_witness import CheckoutWitness
from aotloop.process.sandbox import Confinement
from aotloop.runner.crash_recovery import UnmergedResults


class JudgeAt(Protocol):
    def __call__(self, objective: Objective, commit: str | None, root: Path, on_spent: OnSpent) -> Judge | None:
        """Returns the judge for this objective at this commit, for the files in this folder."""
        ...


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    run: Run
    run_id: str
    root: Path
    """The folder of the project."""
    isolation: Isolation
    verification: Verification
    checks: Checks
    """Of commits: they may run on other machines."""
    judge_at: JudgeAt
    agent_pool: AgentPool
    journal: Journal
    unmerged: UnmergedResults
    attempts: Attempts
    budget: Budget
    names: AttemptNames
    tell: Callable[[RunEvent], None]
    confinement: Callable[[], Confinement | None] = lambda: None
    """What commands that run in the checkout may not change."""
    keep_verdict: Callable[[Verdict], None] = lambda _: None
    """Backs a verdict: what the state file says about it is a claim."""
    commit_title: Callable[[Atom], str] = lambda _: ""
    """The title of an atom's commit; empty: the usual one, with its id and its description."""

    witness: CheckoutWitness | None = None
    """Notices what commands in the checkout changed, although they may not."""

    def edited(self, paths: Sequence[str]) -> None:
        """A person or another process has changed the state file."""
        self.isolation.edited(paths)
        if self.witness is not None:
            self.witness.edited(paths)

    def judge(self, objective: Objective, commit: str | None = None) -> JudgeIn:
        return partial(self.judge_at, objective, commit)

    def name_of(self, atom: str, number: int) -> str:
        """A result of an earlier run has another number in this run; it keeps its name."""
        return self.names.of(atom, self.unmerged.number_before(number))
