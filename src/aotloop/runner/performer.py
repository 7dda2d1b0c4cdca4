"""The performer carries out effects: slow work becomes a task, other effects are answered at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from aotloop.agents.contract import Outcome, Scored
from aotloop.clock import now
from aotloop.core import effects
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from aotloop.execution import run_events
from aotloop.execution.budget import Bill, bill_of
from aotloop.execution.task import Task
from aotloop.runner.atom_attempts import AtomAttempts
from aotloop.runner.atom_merges import AtomMerges, merged
from aotloop.runner.background_tasks import BackgroundTasks
from aotloop.runner.crash_recovery import Inheritance
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.loop_checks import LoopChecks
from aotloop.runner.progress_events import events_of, why_given_up
from aotloop.runner.run_context import RunContext

HURRY = 0.3
"""Seconds of grace for discarded work."""

_MOMENT = 0.02
"""Seconds. A start takes less; if it takes longer, the file does not wait."""


class Performer:
    def __init__(self, context: RunContext, tasks: BackgroundTasks, put: Callable[[Item], None]) -> None:
        self._context = context
        self._run = context.run
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self.inheritance = Inheritance(context.run, context.unmerged, context.names, context.tell)
        self._attempts = AtomAttempts(context, self.inheritance, put)
        self._loop_checks = LoopChecks(context)
        context.verification.on_spent = lambda outcome: self._spend(outcome, put)
        branch = context.isolation.branch
        self._merges = AtomMerges(context, branch, put) if branch is not None else None

    def _spend(self, judged: Outcome, put: Callable[[Item], None]) -> None:
        """A judge's answer costs money, with any decision. Called in any thread; the cost counts from now on."""
        bill = bill_of(judged)
        if not bill.is_empty:
            charge = self._context.budget.charge(bill.usd or 0.0)
            role = "judge" if isinstance(judged, Scored) else "verifier"
            event = run_events.JudgeAsked(at=now(), role=role, cost_usd=bill.usd, used=bill.used)
            self._loop.call_soon_threadsafe(put, partial(self._charged, charge, bill, event))

    def _charged(self, charge: object, bill: Bill, event: run_events.RunEvent, exchanged: Exchanged) -> reports.Report:
        self._context.budget.release(charge)
        exchanged.afterwards.append(partial(self._context.tell, event))
        return reports.Happened(at=now(), event=bill.event)

    # --- at once, in the thread of the exchange ------------------------------------------------------------------

    def at_once(self, effect: effects.Effect, exchanged: Exchanged) -> reports.Report | None:
        match effect:
            case effects.Integrate(attempt=number) if self._context.unmerged.to_merge(number) is None:
                event = merged(effect, None, self._context.name_of(effect.atom, number))
                exchanged.afterwards.append(partial(self._context.unmerged.use, number))
                exchanged.afterwards.append(partial(self._context.tell, event))
                return reports.Merged(at=now(), attempt=number)
            case effects.Revert(atoms=atoms) if self._merges is None:
                text = f"what {', '.join(atoms)} did cannot be taken back: attempts are made in place"
                exchanged.afterwards.append(partial(self._context.tell, run_events.Warned(at=now(), text=text)))
                return reports.Reverted(at=now())
            case effects.StartAttempt() if (found := self.inheritance.answer(effect, exchanged)) is not None:
                return found
            case effects.StartAttempt(role="probe") if self._is_command_without_agent(effect.atom):
                findings = "it is a command; to run it is the only way to know"
                return reports.ProbeReturned(at=now(), attempt=effect.attempt, feasible=True, findings=findings)
        return None

    def _is_command_without_agent(self, atom_id: str) -> bool:
        atom = self._run.board.atoms[atom_id]
        return atom.run is not None and self._context.agent_pool.name_for("probe", atom.agent, is_command=False) is None

    def ahead(self, wanted: list[effects.Effect]) -> list[effects.Effect]:
        """Attempts may begin while the file that says so is still being written.

        After a crash, an attempt that the file does not mention is known by its run, and its result by its record. This
        returns when the attempts have begun, or soon after.
        """
        tasks = [self._attempts.task(effect) for effect in wanted if isinstance(effect, effects.StartAttempt)]
        if not tasks:
            return wanted
        have_begun = threading.Event()
        self._loop.call_soon_threadsafe(self._start_all, tasks, have_begun)
        have_begun.wait(_MOMENT)
        return [effect for effect in wanted if not isinstance(effect, effects.StartAttempt)]

    def _start_all(self, tasks: list[Task], have_begun: threading.Event) -> None:
        for task in tasks:
            self._start(task)
        self._loop.call_soon(have_begun.set)  # after the first step of each

    # --- in the background ---------------------------------------------------------------------------------------

    def perform(self, effect: effects.Effect, loop: Loop) -> None:
        match effect:
            case effects.StartAttempt():
                self._start(self._attempts.task(effect))
            case effects.CancelAttempt():
                self._cancel(effect)
            case effects.Integrate():
                self._tasks.start(("merge", effect.attempt), self._merge(effect))
            case effects.Revert(atoms=atoms) if self._merges is not None:
                self._tasks.start(("revert", ""), self._merges.take_back(atoms, why_given_up(loop)))
            case effects.VerifyBaseCase(number=number):
                self._tasks.start(("verify", number), self._loop_checks.base_case(number, loop.objective))
            case effects.CancelVerification(number=number):
                self._tasks.cancel(("verify", number))
            case effects.CheckParent(atom=atom):
                self._tasks.start(("check", atom), self._loop_checks.parent(self._run.board.atoms[atom]))
            case effects.CancelCheck(atom=atom):
                self._tasks.cancel(("check", atom))
            case _:
                self._tell(effect, loop)

    def _tell(self, effect: effects.Effect, loop: Loop) -> None:
        """For effects that are news and need no work."""
        if isinstance(effect, effects.EndAnnounced):
            names = tuple(self._context.name_of(atom, number) for number, atom in effect.attempts)
            announcement = run_events.EndAnnounced(
                at=now(), reason=effect.reason, running=names, are_ended=effect.are_ended
            )
            self._context.tell(announcement)
        for event in events_of(effect, loop):
            self._context.tell(event)

    def _start(self, task: Task) -> None:
        self._tasks.start(("attempt", task.number), self._attempts.attempt(task, self._wait))

    def _wait(self, atom: str, seconds: float) -> None:
        self._tasks.start(("wait", atom), self._attempts.wait(atom, seconds))

    def _merge(self, effect: effects.Integrate) -> Coroutine[Any, Any, list[Item]]:
        work = self._context.unmerged.to_merge(effect.attempt)
        if work is None or self._merges is None:
            raise AssertionError("what needs no merge is answered at once")
        return self._merges.merge(effect, self._run.board.atoms[effect.atom], work)

    def _cancel(self, effect: effects.CancelAttempt) -> None:
        """The next run can take up finished work that is not discarded."""
        self._tasks.cancel(("attempt", effect.attempt), HURRY if effect.discard else None)
        self._tasks.cancel(("merge", effect.attempt))
        if effect.discard:
            self._context.unmerged.use(effect.attempt)
            # It may have finished, and been checked just now.
            self._context.journal.give_up(effect.atom, effect.attempt)
