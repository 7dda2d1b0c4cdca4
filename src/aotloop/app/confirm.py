"""A person confirms or rejects what no program decides. It counts for exactly this objective and commit.

The base case is evaluated once more with it. If it holds then, a loop that no process runs is completed. If the person
rejected something and all work was done, there is new work: to repair that.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.app.loops import CHECK_TIMEOUT, Permit
from aotloop.app.verify import JudgeFor, JudgeOf, Verification, remembered, verify
from aotloop.checks.evaluation import Progress, leaves_by_path
from aotloop.checks.judge import ConfirmedByPerson, Judge
from aotloop.checks.results import Report
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.checks.checklist import JUDGED, Leaf
from aotloop.core.effects import Added, Backtracked, Effect
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.status import holding_session
from aotloop.core.machine import advance
from aotloop.core.model import Check, Loop, LoopStatus, Verdict
from aotloop.errors import NotVerified, StateFileBusy, Unavailable
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust import confirmations
from aotloop.trust.confirmations import Subject
from aotloop.trust.person import refuse_agents, refuse_session


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """By the path of an item, with the words that the person added."""

    about: Subject
    confirmed: Mapping[str, str] = {}
    rejected: Mapping[str, str] = {}

    @property
    def is_something(self) -> bool:
        return bool(self.confirmed or self.rejected)


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    report: Report
    status: LoopStatus
    is_completed: bool = False
    """True if this decision completed the loop."""
    begun: tuple[str, ...] = ()
    """Atoms that repair what fails."""


def remember(answers: Answers) -> None:
    confirmations.confirm(answers.about, answers.confirmed)
    confirmations.withdraw(answers.about, answers.rejected)


def refuse_rejecting_a_run(store: Store, answers: Answers) -> None:
    runner = holder_of(store.path)
    if answers.rejected and runner is not None:
        raise StateFileBusy(
            f"{runner.name} still runs this loop and works on what you reject",
            hint="Add work with `aot redirect --add`; or stop the loop with `aot stop`, then reject.",
        )


def verify_with(
    store: Store,
    answers: Answers | None,
    others: JudgeOf,
    *,
    permit: Permit,
    timeout: float = CHECK_TIMEOUT,
    on_progress: Progress | None = None,
) -> Verification:
    """Recorded, unless a process runs the loop: that process keeps the verdicts."""
    judge = _judge_by(answers, others) if answers is not None else lambda subject: remembered(subject, others(subject))
    is_recorded = holder_of(store.path) is None
    done = verify(store, timeout=timeout, on_progress=on_progress, record=is_recorded, permit=permit, judge=judge)
    if done.unrecorded is not None:
        raise Unavailable(f"the verdict could not be recorded: {done.unrecorded}")
    return done


def _judge_by(answers: Answers, others: JudgeOf) -> JudgeFor:
    def judge(subject: Subject) -> Judge:
        if subject != answers.about:
            raise NotVerified(
                "the objective or the checked-out commit changed while you decided, so your decision does not apply",
                hint="Look at the items again, and confirm again.",
            )
        confirmed = {**confirmations.confirmed(subject), **answers.confirmed}
        return ConfirmedByPerson(confirmed, rejected=answers.rejected, otherwise=others(subject))

    return judge


def decide(store: Store, answers: Answers, others: JudgeOf, *, permit: Permit) -> Conclusion | None:
    """Remembers the answers, verifies and concludes. None: the process that runs the loop will use the answers."""
    refuse_agents("only a person confirms")
    refuse_session(holding_session(store.load().control), "only a person confirms")
    refuse_rejecting_a_run(store, answers)
    remember(answers)
    if holder_of(store.path) is not None:
        return None
    return conclude(store, answers, verify_with(store, answers, others, permit=permit))


def conclude(store: Store, answers: Answers, done: Verification) -> Conclusion:
    report = done.report
    is_completed = report.passed and store.update(lambda loop: _complete(store, loop, done.verdict))
    failing = {path: result.evidence for path, result in report.failing.items()} if answers.rejected else {}
    begun = store.update(lambda loop: _mend(loop, failing)) if failing else ()
    status = store.load().control.status
    return Conclusion(report=report, status=status, is_completed=is_completed, begun=begun)


def _complete(store: Store, loop: Loop, verdict: Verdict) -> bool:
    """Not a loop that a process runs, which completes it itself, nor a loop that has not begun."""
    if loop.control.status not in ("running", "stopped") or holder_of(store.path) is not None:
        return False
    for atom in [candidate for candidate in loop.atoms if candidate.status == "in_progress"]:
        advance(loop, events.AtomAbandoned(atom=atom.id))
    advance(loop, events.LoopCompleted(commit=verdict.commit, confirmed=True))
    return True


def _mend(loop: Loop, failing: dict[str, str]) -> tuple[str, ...]:
    """Adds nothing while other work is open: the base case is evaluated again after that work."""
    if Graph(loop).unresolved():
        return ()
    effects = advance(loop, events.BaseCaseFailed(failing=failing, at=now()))
    return tuple(atom for effect in effects for atom in _begun_by(effect))


def _begun_by(effect: Effect) -> tuple[str, ...]:
    if isinstance(effect, Added):
        return effect.atoms
    return (effect.selected,) if isinstance(effect, Backtracked) else ()


def judged_items(loop: Loop) -> dict[str, Leaf]:
    """By path of names."""
    found = leaves_by_path(loop.objective.base_case)
    return {path: leaf for path, leaf in found.items() if leaf.check.type in JUDGED}


def claim_of(check: Check) -> list[str]:
    """The statements that a person confirms with this item, line by line."""
    if check.type == "assertion":
        return [check.value or ""]
    least = f"at least {check.pass_threshold:g} of 5" if check.pass_threshold is not None else "good enough"
    if check.criteria is not None:
        return [f"{least}: {check.criteria}"]
    criteria = [f"{rule.criterion} (weight {rule.weight:g})" for rule in check.rubric or ()]
    return [f"{least}, on the weighted mean of:", *criteria]
