"""Attempts as a run sees them: what they are told, what they cost, and how long one has to wait for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from aotloop.core import effects, events
from aotloop.core.conduct import reports
from aotloop.core.conduct.run import Attempt
from aotloop.core.context import context_of
from aotloop.core.model import Atom
from aotloop.core.turns import most_in_vain
from aotloop.runner import news
from aotloop.runner.clock import now
from aotloop.runner.crew import SHELL
from aotloop.runner.inheritance import Inheritance
from aotloop.runner.ledger import Exchanged, Item
from aotloop.runner.made import Job, Made
from aotloop.runner.means import Means
from aotloop.runner.till import Till
from aotloop.runner.warm_starts import may_go_on


class Attempting:
    def __init__(self, means: Means, inheritance: Inheritance) -> None:
        self._means = means
        self._inheritance = inheritance
        self._run = means.run
        self._tell = means.tell
        self._till = Till(means.run, means.most_for_one, self._costs_nothing)

    def job(self, start: effects.StartAttempt) -> Job:
        """To be made before anything else happens to the loop."""
        context = context_of(self._run.board, start.atom)
        found = self._inheritance.unchecked(start)
        allowance = None if found or self._costs_nothing(start) else self._till.reserve(start.attempt)
        return Job(
            start=start,
            context=context,
            run_id=self._means.run_id,
            allowance=allowance,
            found=found,
            may_go_on=start.role == "worker" and may_go_on(self._run.board, context.atom),
            most_in_vain=most_in_vain(self._run.loop),
        )

    def _costs_nothing(self, one: Attempt | effects.StartAttempt) -> bool:
        atom = self._run.board.atoms.get(one.atom)
        return atom is None or self._means.crew.name_for(atom, one.role) == SHELL

    async def attempt(self, job: Job, wait: Callable[[str, float], None]) -> list[Item]:
        """`wait` is told of an atom that cannot be tried now."""
        start, atom = job.start, job.context.atom
        self._tell(self._began(job))
        try:
            made = await self._means.attempts.make(job)
        except asyncio.CancelledError:
            self._tell(news.AttemptEnded(at=now(), atom=atom.id, attempt=start.attempt, outcome="cancelled"))
            raise
        finally:
            self._till.release(start.attempt)
        self._tell_ended(made, atom)
        if made.record is not None:
            self._means.records.put(start.attempt, made.record)
        if isinstance(made.report, reports.MustWait) and not made.report.for_good:
            wait(atom.id, made.retry_after)
        items: list[Item] = [] if made.bill.is_empty else [partial(self._spend, made)]
        if not job.found and not isinstance(made.report, reports.MustWait) and not self._costs_nothing(start):
            paid = events.AttemptPaid(role=start.role, usd=made.bill.usd or 0.0, seconds=round(made.seconds, 3))
            items.append(reports.Told(at=now(), event=paid))
        is_used_later = made.record is None or made.record.work is not None
        return [*items, made.report if is_used_later else partial(self._end, made)]

    def _end(self, made: Made, exchanged: Exchanged) -> reports.Report | None:
        """Once the file knows what came of it, that was all. A run that is over by now leaves it to the next one."""
        if self._run.finished:
            return None
        exchanged.afterwards.append(partial(self._means.records.use, made.report.attempt))
        return made.report

    def _spend(self, made: Made, exchanged: Exchanged) -> reports.Report | None:
        """What it cost is noted together with what came of it; the record then says that it was."""
        if self._run.finished:
            return None
        exchanged.afterwards.append(partial(self._means.records.account, made.report.attempt))
        return reports.Told(at=now(), event=made.bill.event)

    async def wait(self, atom: str, seconds: float) -> list[Item]:
        await asyncio.sleep(seconds)
        return [reports.WaitOver(at=now(), atom=atom)]

    # --- news ----------------------------------------------------------------------------------------------------

    def _began(self, job: Job) -> news.News:
        start, atom, journal = job.start, job.context.atom, self._means.journal
        return news.AttemptBegan(
            at=now(),
            atom=atom.id,
            attempt=start.attempt,
            role=start.role,
            agent=self._means.crew.who_is_next(atom, start.role) or "nobody",
            description=atom.description,
            folder=str(journal.attempt_folder(atom.id, start.attempt).relative_to(journal.root)),
        )

    def _tell_ended(self, made: Made, atom: Atom) -> None:
        for note in made.notes:
            self._tell(news.Warned(at=now(), atom=atom.id, text=note))
        self._tell(
            news.AttemptEnded(
                at=now(),
                atom=atom.id,
                attempt=made.report.attempt,
                outcome=made.outcome,
                summary=made.summary,
                seconds=round(made.seconds, 3),
                cost_usd=made.bill.usd,
                used=made.bill.used,
            )
        )
