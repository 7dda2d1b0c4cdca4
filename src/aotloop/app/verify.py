"""Evaluates the base case in the project's folder and keeps the verdict; with a passing verdict a loop completes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app.checkout_fence import fenced_checkout
from aotloop.app.loops import CHECK_TIMEOUT, Permit, apply
from aotloop.checks.evaluation import Progress
from aotloop.checks.judge import ConfirmedByPerson, Judge
from aotloop.checks.results import Report
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.commands import commands_in
from aotloop.core.machine import advance
from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.errors import NotVerified, Unavailable
from aotloop.git.command import head_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust.confirmations import Subject, confirmed
from aotloop.trust.verdicts import keep_verdict

JudgeFor = Callable[[Subject], Judge]
"""Returns the judge for this objective at this commit: it decides items that no program decides."""

JudgeOf = Callable[[Subject], Judge | None]
"""The same, where no judge is needed or allowed: None."""


class Verification(msgspec.Struct, frozen=True):
    report: Report
    verdict: Verdict
    unrecorded: str | None = None
    """Why the verdict is not in the state file, if it is not."""


def verify(
    store: Store,
    *,
    timeout: float = CHECK_TIMEOUT,
    on_progress: Progress | None = None,
    record: bool = True,
    permit: Permit | None = None,
    judge: JudgeFor | None = None,
) -> Verification:
    """Without another judge, only what a person confirmed before decides judged items."""
    loop = store.load()
    subject = subject_of(store, loop)
    tree = base_case_tree(loop.objective.base_case)
    if permit is not None:
        permit(list(commands_in(tree)))
    asked = (judge or remembered)(subject)
    root = Path(project_root(store.path))
    with fenced_checkout(store.path, loop.objective.protect) as checkout:
        report = checkout.report(tree, timeout=timeout, on_progress=on_progress, judge=asked)
    if head_of(root) != subject.commit:  # what was tried is neither the one commit nor the other
        raise NotVerified("another commit was checked out while it was verified: undecided; verify again")
    verdict = Verdict(
        passed=report.passed,
        objective_digest=subject.objective_digest,
        at=now(),
        commit=subject.commit,
        undecided=report.undecided,
        failing=tuple(report.failing),
        scores=report.scores,
    )
    keep_verdict(store.path, verdict)
    unrecorded = None
    if record:
        try:
            store.update(_recording(verdict))
        except Unavailable as error:  # the result is useful even if it cannot be kept
            unrecorded = error.message
    return Verification(report, verdict, unrecorded)


def complete_loop(
    store: Store,
    *,
    timeout: float = CHECK_TIMEOUT,
    permit: Permit | None = None,
    judge: JudgeFor | None = None,
    unless: Callable[[Loop], None] = lambda _: None,
) -> None:
    """Runs the base case and completes the loop only if it holds. `unless` raises if the loop may not complete."""
    loop = store.load()
    if loop.control.status == "completed":
        return
    if loop.control.status == "running":
        done = verify(store, timeout=timeout, permit=permit, judge=judge)
        if not done.report.passed:
            raise NotVerified(f"the base case does not hold: {_described(done.report)}")
        event = events.LoopCompleted(commit=done.verdict.commit)
    else:
        event = events.LoopCompleted()
    unless(store.load())
    apply(store, event)


def subject_of(store: Store, loop: Loop) -> Subject:
    """What a verdict, or a person's confirmation, is about now."""
    root = Path(project_root(store.path))
    return Subject(state_file=store.path, objective_digest=digest_of(loop.objective), commit=head_of(root))


def remembered(subject: Subject, otherwise: Judge | None = None) -> Judge:
    """Answers with what a person confirmed about exactly this; another judge answers the rest."""
    return ConfirmedByPerson(confirmed(subject), otherwise=otherwise)


def _recording(verdict: Verdict) -> Callable[[Loop], Any]:
    def change(loop: Loop) -> None:
        if digest_of(loop.objective) != verdict.objective_digest:
            raise NotVerified("the objective changed while it was verified; verify again")
        advance(loop, events.VerdictReached(verdict=verdict))

    return change


def _described(report: Report) -> str:
    failing = [f"{name}: {result.evidence}" for name, result in report.failing.items()]
    waiting = [f"{name}: {result.evidence}" for name, result in report.waiting.items()]
    return "; ".join(failing + waiting)
