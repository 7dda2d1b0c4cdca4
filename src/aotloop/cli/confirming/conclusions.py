"""A person's word on what no program decides: kept for exactly what it was said about, and what follows from it.

The base case is evaluated once more with it. If it holds then, a loop that nobody runs is completed; if the person
rejected something and all work was done, there is new work: to mend that.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop import app
from aotloop.cli.judging import JudgeOf
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Effect
from aotloop.core.graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Loop, LoopStatus, Verdict
from aotloop.errors import NotVerified, StateFileBusy
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust import confirmations
from aotloop.trust.confirmations import Subject
from aotloop.verify.judge import ConfirmedByPerson, Judge
from aotloop.verify.results import Report


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """By path of names; with the words that were added."""

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
    """By this."""
    begun: tuple[str, ...] = ()
    """Atoms that are to mend what fails."""


def remember(said: Said) -> None:
    confirmations.confirm(said.about, said.confirmed)
    confirmations.withdraw(said.about, said.rejected)


def refuse_rejecting_a_run(store: Store, said: Said) -> None:
    runner = holder_of(store.path)
    if said.rejected and runner is not None:
        raise StateFileBusy(
            f"{runner.name} runs this loop, and has not finished what you reject",
            hint="`aot redirect --add` gives it more to do; `aot stop` ends it, then reject.",
        )


def judge_by(said: Said, others: JudgeOf) -> app.JudgeFor:
    """`others`: who decides what the person said nothing about."""

    def judge(subject: Subject) -> Judge:
        if subject != said.about:
            raise NotVerified(
                "the objective or the checked-out commit changed while you decided, so your word is about another one",
                hint="Look again, and confirm again.",
            )
        confirmed = {**confirmations.confirmed(subject), **said.confirmed}
        return ConfirmedByPerson(confirmed, rejected=said.rejected, otherwise=others(subject))

    return judge


def conclude(store: Store, said: Said, done: app.Verification) -> Conclusion:
    report: Report = done.report
    is_completed = report.passed and store.update(lambda loop: _complete(store, loop, done.verdict))
    failing = {path: result.evidence for path, result in report.failing.items()} if said.rejected else {}
    begun = store.update(lambda loop: _mend(loop, failing)) if failing else ()
    status = store.load().control.status
    return Conclusion(report=report, status=status, is_completed=is_completed, begun=begun)


def _complete(store: Store, loop: Loop, verdict: Verdict) -> bool:
    """Not a loop that somebody runs, who will see to it, nor one that has not begun."""
    if loop.control.status not in ("running", "stopped") or holder_of(store.path) is not None:
        return False
    for atom in [one for one in loop.atoms if one.status == "in_progress"]:
        advance(loop, events.AtomAbandoned(atom=atom.id))
    advance(loop, events.LoopCompleted(commit=verdict.commit, confirmed=True))
    return True


def _mend(loop: Loop, failing: dict[str, str]) -> tuple[str, ...]:
    """While other work is open, that comes first: the base case is tried again after it."""
    if Graph(loop).unresolved():
        return ()
    effects = advance(loop, events.BaseCaseFailed(failing=failing, at=app.now()))
    return tuple(atom for effect in effects for atom in _begun_by(effect))


def _begun_by(effect: Effect) -> tuple[str, ...]:
    if isinstance(effect, Added):
        return effect.atoms
    return (effect.selected,) if isinstance(effect, Backtracked) else ()
