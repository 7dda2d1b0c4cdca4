"""Checks of the loop as a whole: the base case, and decomposed atoms that have a check."""

from __future__ import annotations

from functools import partial

import msgspec

from aotloop.checks.results import Report, doubted
from aotloop.clock import now
from aotloop.core.checks.checklist import base_case_tree, check_of
from aotloop.core.model import Atom, Objective, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.scheduler import reports
from aotloop.execution import run_events
from aotloop.execution.threads import in_thread
from aotloop.execution.verification import evidence_of
from aotloop.fence.observation import CHECKOUT, Observation
from aotloop.runner.ledger import Item
from aotloop.runner.run_context import RunContext

MOVED = "another commit was checked out while the base case was tried"
_REMEDY = "a person takes it with `aot redirect --accept`, or it is changed back"
_MOST_TRIES = 3
"""How often the base case is tried again after a commit of a person meanwhile."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The base case, tried once."""

    verdict: Verdict
    evidence: dict[str, str]
    """The evidence of each failing item."""
    holding: dict[str, str]
    waiting: dict[str, str]
    """The reason of each undecided item."""


class LoopChecks:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._is_first = True

    async def base_case(self, number: int, objective: Objective) -> list[Item]:
        tell = self._context.tell
        tell(run_events.Verifying(at=now()))
        judged = await self._judged(objective)
        verdict = judged.verdict
        tell(_told(judged))
        for item, why in judged.waiting.items() if verdict.undecided else ():
            tell(run_events.Warned(at=now(), text=f"undecided: {item}: {why}"))
        if self._is_before_work() and judged.holding and not verdict.passed:
            held = ", ".join(judged.holding)
            tell(run_events.Warned(at=now(), text=f"already holds before any work, so it may prove nothing: {held}"))
        self._is_first = False
        return [reports.Verified(at=now(), number=number, verdict=verdict, evidence=judged.evidence)]

    def _is_before_work(self) -> bool:
        """The work of an earlier run may already hold."""
        return self._is_first and all(atom.status != "resolved" for atom in self._context.run.loop.atoms)

    async def parent(self, atom: Atom) -> list[Item]:
        self._context.tell(run_events.Verifying(at=now(), atom=atom.id))
        problem = await self._problem_of(atom, self._context.run.loop.objective)
        failing = {atom.id: problem} if problem is not None else {}
        self._context.tell(run_events.Verified(at=now(), atom=atom.id, passed=problem is None, failing=failing))
        return [reports.ParentChecked(at=now(), atom=atom.id, passed=problem is None, reason=problem or "")]

    async def _problem_of(self, atom: Atom, objective: Objective) -> str | None:
        """Why its check fails; None if it passes, or if it has none."""
        check = check_of(atom, objective.base_case)
        if check is None:
            return None
        context = self._context
        judge = context.judge(objective)
        observation = await in_thread(partial(self._observation, objective))
        return (
            await context.verification.found(check, context.root, judge, context.confinement(), observation)
        ).problem

    async def _judged(self, objective: Objective) -> Judged:
        """A verdict belongs to one commit: if another one was checked out meanwhile, the check is repeated.

        If that happens again and again, nothing is decided.
        """
        context, tree = self._context, base_case_tree(objective.base_case)
        for _ in range(_MOST_TRIES):
            commit = await in_thread(context.isolation.head)
            judge = context.judge(objective, commit)
            observation = await in_thread(partial(self._observation, objective))
            report = await context.verification.report(tree, context.root, judge, context.confinement(), observation)
            has_moved = await in_thread(context.isolation.head) != commit
            if not has_moved or observation.witness is None or not observation.witness.is_closed:
                break  # a command that can move HEAD may do so only once
        report = await self._as_agreed(report, objective)
        verdict = Verdict(
            passed=report.passed and not has_moved,
            objective_digest=digest_of(objective),
            at=now(),
            commit=commit,
            undecided=report.undecided or has_moved,
            failing=tuple(report.failing),
            scores=report.scores,
        )
        context.keep_verdict(verdict)
        is_doubted = CHECKOUT in report.waiting
        failing = {} if is_doubted else report.failing
        evidence = {name: evidence_of(result) for name, result in failing.items()}
        waiting = {name: result.evidence for name, result in report.waiting.items()}
        waiting |= {"HEAD": MOVED} if has_moved else {}
        holding = {name: result.evidence for name, result in report.holding.items()}
        return Judged(verdict=verdict, evidence=evidence, holding=holding, waiting=waiting)

    def _observation(self, objective: Objective) -> Observation:
        """Without worktrees, attempts change the checkout meanwhile."""
        context, witness = self._context, self._context.witness
        if witness is None or (context.isolation.branch is None and context.run.attempts):
            return Observation()
        return Observation(witness=witness, protected=witness.protected(objective.protect))

    async def _as_agreed(self, report: Report, objective: Objective) -> Report:
        """Protected files are what they were when a person agreed, also after a commit."""
        witness = self._context.witness
        changed = await in_thread(partial(witness.objection, objective)) if witness and report.passed else []
        return doubted(report, CHECKOUT, f"{'; '.join(changed)}; {_REMEDY}") if changed else report


def _told(judged: Judged) -> run_events.Verified:
    return run_events.Verified(
        at=now(),
        passed=judged.verdict.passed,
        undecided=judged.verdict.undecided,
        failing=judged.evidence,
        holding=judged.holding,
        waiting=judged.waiting,
    )
