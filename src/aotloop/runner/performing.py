"""Carries out what a run asks for: what takes time becomes a task, what does not is answered at once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from aotloop.core import effects
from aotloop.core.conduct import reports
from aotloop.core.model import Loop
from aotloop.runner import news
from aotloop.runner.attempting import Attempting
from aotloop.runner.clock import now
from aotloop.runner.journal import Record
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.means import Means
from aotloop.runner.merging import Merging, merged
from aotloop.runner.tasks import Tasks
from aotloop.runner.tidings import tidings
from aotloop.runner.verifying import Verifying

HURRY = 0.4
"""Seconds of grace for what is discarded."""


class Performer:
    def __init__(self, means: Means, tasks: Tasks, put: Callable[[Item], None]) -> None:
        self._means = means
        self._run = means.run
        self._tasks = tasks
        self._attempting = Attempting(means)
        self._verifying = Verifying(means)
        branch = means.places.branch
        self._merging = Merging(means, branch, put) if branch is not None else None

    def take_up(self, record: Record, exchanged: Exchanged) -> reports.Report:
        """A result of an earlier run, to be conducted at once: this run will know it under its next number."""
        self._means.records.put(self._run.next_number, record)
        text = f"the result of attempt {record.attempt} was there already"
        exchanged.afterwards.append(partial(self._means.tell, news.Warned(at=now(), atom=record.atom, text=text)))
        return reports.ResultFound(at=now(), atom=record.atom, summary=record.summary, artifacts=record.artifacts)

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
            case effects.StartAttempt(role="probe") if self._is_command_without_agent(effect.atom):
                findings = "it is a command; to run it is the only way to know"
                return reports.ProbeReturned(at=now(), attempt=effect.attempt, feasible=True, findings=findings)
        return None

    def _is_command_without_agent(self, atom_id: str) -> bool:
        atom = self._run.board.atoms[atom_id]
        return atom.run is not None and self._means.crew.name_for(atom, "probe") is None

    # --- in time -------------------------------------------------------------------------------------------------

    def perform(self, effect: effects.Effect, loop: Loop) -> None:
        match effect:
            case effects.StartAttempt():
                self._tasks.start(
                    ("attempt", effect.attempt), self._attempting.attempt(self._attempting.job(effect), self._wait)
                )
            case effects.CancelAttempt(attempt=number, discard=discard):
                self._cancel(number, discard=discard)
            case effects.Integrate():
                self._tasks.start(("merge", effect.attempt), self._merge(effect))
            case effects.Revert(atoms=atoms) if self._merging is not None:
                self._tasks.start(("revert", ""), self._merging.take_back(atoms))
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

    def _wait(self, atom: str, seconds: float | None) -> None:
        self._tasks.start(("wait", atom), self._attempting.wait(atom, seconds))

    def _merge(self, effect: effects.Integrate) -> Coroutine[Any, Any, list[Item]]:
        work = self._means.records.to_merge(effect.attempt)
        if work is None or self._merging is None:
            raise AssertionError("what needs no merge is answered at once")
        return self._merging.merge(effect, self._run.board.atoms[effect.atom], work)

    def _cancel(self, number: int, *, discard: bool) -> None:
        """What is not discarded, and had finished, can be taken up by the next run."""
        self._tasks.cancel(("attempt", number), HURRY if discard else None)
        self._tasks.cancel(("merge", number))
        if discard:
            self._means.records.use(number)
