"""Carries out what a run asks for: what takes time becomes a task, what does not is answered at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from aotloop.agents.contract import Outcome
from aotloop.core import effects
from aotloop.core.conduct import reports
from aotloop.core.model import Loop
from aotloop.runner import news
from aotloop.runner.attempting import Attempting
from aotloop.runner.bills import bill_of
from aotloop.runner.clock import now
from aotloop.runner.inheritance import Inheritance
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.made import Job
from aotloop.runner.means import Means
from aotloop.runner.merging import Merging, merged
from aotloop.runner.tasks import Tasks
from aotloop.runner.tidings import tidings, why_given_up
from aotloop.runner.verifying import Verifying

HURRY = 0.3
"""Seconds of grace for what is discarded."""

_MOMENT = 0.02
"""Seconds. To begin takes less; if it does not, the file is not kept waiting."""


class Performer:
    def __init__(self, means: Means, tasks: Tasks, put: Callable[[Item], None]) -> None:
        self._means = means
        self._run = means.run
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self.inheritance = Inheritance(means.run, means.records, means.tell)
        self._attempting = Attempting(means, self.inheritance)
        self._verifying = Verifying(means)
        means.checks.on_spent = lambda outcome: self._spend(outcome, put)
        branch = means.places.branch
        self._merging = Merging(means, branch, put) if branch is not None else None

    def _spend(self, judged: Outcome, put: Callable[[Item], None]) -> None:
        """To judge costs something, whatever is decided then."""
        bill = bill_of(judged)
        if not bill.is_empty:
            put(reports.Told(at=now(), event=bill.event))

    # --- at once, in the thread of the exchange ------------------------------------------------------------------

    def at_once(self, effect: effects.Effect, exchanged: Exchanged) -> reports.Report | None:
        match effect:
            case effects.Integrate(attempt=number) if self._means.records.to_merge(number) is None:
                exchanged.afterwards.append(partial(self._means.records.use, number))
                exchanged.afterwards.append(partial(self._means.tell, merged(effect, None)))
                return reports.Merged(at=now(), attempt=number)
            case effects.Revert(atoms=atoms) if self._merging is None:
                text = f"what {', '.join(atoms)} did cannot be taken back: attempts are made in place"
                exchanged.afterwards.append(partial(self._means.tell, news.Warned(at=now(), text=text)))
                return reports.Reverted(at=now())
            case effects.StartAttempt() if (found := self.inheritance.answer(effect, exchanged)) is not None:
                return found
            case effects.StartAttempt(role="probe") if self._is_command_without_agent(effect.atom):
                findings = "it is a command; to run it is the only way to know"
                return reports.ProbeReturned(at=now(), attempt=effect.attempt, feasible=True, findings=findings)
        return None

    def _is_command_without_agent(self, atom_id: str) -> bool:
        atom = self._run.board.atoms[atom_id]
        return atom.run is not None and self._means.crew.name_for(atom, "probe") is None

    def ahead(self, wanted: list[effects.Effect]) -> list[effects.Effect]:
        """Attempts may begin while the file that says so is still being written: one that a crash leaves unmentioned is
        known by its run, and its result by its record. This returns when they have begun, or soon after.
        """
        jobs = [self._attempting.job(one) for one in wanted if isinstance(one, effects.StartAttempt)]
        if not jobs:
            return wanted
        have_begun = threading.Event()
        self._loop.call_soon_threadsafe(self._start_all, jobs, have_begun)
        have_begun.wait(_MOMENT)
        return [one for one in wanted if not isinstance(one, effects.StartAttempt)]

    def _start_all(self, jobs: list[Job], have_begun: threading.Event) -> None:
        for job in jobs:
            self._start(job)
        self._loop.call_soon(have_begun.set)  # after the first step of each

    # --- in time -------------------------------------------------------------------------------------------------

    def perform(self, effect: effects.Effect, loop: Loop) -> None:
        match effect:
            case effects.StartAttempt():
                self._start(self._attempting.job(effect))
            case effects.CancelAttempt():
                self._cancel(effect)
            case effects.Integrate():
                self._tasks.start(("merge", effect.attempt), self._merge(effect))
            case effects.Revert(atoms=atoms) if self._merging is not None:
                self._tasks.start(("revert", ""), self._merging.take_back(atoms, why_given_up(loop)))
            case effects.VerifyBaseCase(number=number):
                self._tasks.start(("verify", number), self._verifying.base_case(number, loop.objective))
            case effects.CancelVerification(number=number):
                self._tasks.cancel(("verify", number))
            case effects.CheckParent(atom=atom):
                self._tasks.start(("check", atom), self._verifying.parent(self._run.board.atoms[atom]))
            case effects.CancelCheck(atom=atom):
                self._tasks.cancel(("check", atom))
            case _:
                for one in tidings(effect, loop):
                    self._means.tell(one)

    def _start(self, job: Job) -> None:
        self._tasks.start(("attempt", job.start.attempt), self._attempting.attempt(job, self._wait))

    def _wait(self, atom: str, seconds: float) -> None:
        self._tasks.start(("wait", atom), self._attempting.wait(atom, seconds))

    def _merge(self, effect: effects.Integrate) -> Coroutine[Any, Any, list[Item]]:
        work = self._means.records.to_merge(effect.attempt)
        if work is None or self._merging is None:
            raise AssertionError("what needs no merge is answered at once")
        return self._merging.merge(effect, self._run.board.atoms[effect.atom], work)

    def _cancel(self, effect: effects.CancelAttempt) -> None:
        """What is not discarded, and had finished, can be taken up by the next run."""
        self._tasks.cancel(("attempt", effect.attempt), HURRY if effect.discard else None)
        self._tasks.cancel(("merge", effect.attempt))
        if effect.discard:
            self._means.records.use(effect.attempt)
            self._means.journal.give_up(effect.atom, effect.attempt)  # it may have finished, and been checked just now
